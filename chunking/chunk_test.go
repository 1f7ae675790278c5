package chunking_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/chunking"
)

// brief is a reference with its target, fragment, alt and size.
func brief(c chunking.Chunk) string {
	s := string(c.Kind) + " " + c.Target
	if c.Fragment != "" {
		s += " #" + c.Fragment
	}
	if c.Alt != "" {
		s += fmt.Sprintf(" %q", c.Alt)
	}
	if c.Width+c.Height > 0 {
		s += fmt.Sprintf(" %dx%d", c.Width, c.Height)
	}
	if c.Remote {
		s += " remote"
	}
	if c.Kind == chunking.Comment {
		s = "comment " + c.Text
	}
	return s
}

func briefs(src string) []string {
	var list []string
	for _, c := range chunking.Split([]byte(src)) {
		if c.Kind != chunking.Text {
			list = append(list, brief(c))
		}
	}
	return list
}

func TestSplit_references(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"pasted", "![[Pasted image 1.png]]", []string{"image Pasted image 1.png"}},
		{"markdown", `![alt](a.png "title")`, []string{`image a.png "alt"`}},
		{"angle brackets", "![a](<my pic.png>)", []string{`image my pic.png "a"`}},
		{"angle brackets and title", `![a|100x145](<my pic.png> "t")`, []string{`image my pic.png "a" 100x145`}},
		{"a space without brackets is no image", "![a](my pic.png)", nil},
		{"percent", "![](my%20pic.png)", []string{"image my pic.png"}},
		{"bad percent", "![](100%.png)", []string{"image 100%.png"}},
		{"percent that is no utf-8", "![](a%ff.png)", []string{"image a%ff.png"}},
		{"decomposed", "![](e\u0301.png)", []string{"image \u00e9.png"}},
		{"percent hash is not a fragment", "![](a%23b.png)", []string{"image a#b.png"}},
		{"balanced parentheses", "![](p(1).png)", []string{"image p(1).png"}},
		{"escaped parenthesis", `![](p\).png)`, []string{"image p).png"}},
		{"entity", "![a &amp; b](a&amp;b.png)", []string{`image a&b.png "a & b"`}},
		{"escape before entity", `![](a\_b.png)`, []string{"image a_b.png"}},
		{"size without alt", "![200](a.png)", []string{"image a.png 200x0"}},
		{"size in alt", "![alt|100x80](a.png)", []string{`image a.png "alt" 100x80`}},
		{"not a size", "![alt|100x](a.png)", []string{`image a.png "alt|100x"`}},
		{"fragment", "![a](a.png#interface)", []string{`image a.png #interface "a"`}},
		{"folder and anchor", "![[folder/name.png#anchor]]", []string{"image folder/name.png #anchor"}},
		{"reference", "![alt][r]\n\n[r]: <a b.png> 't'", []string{`image a b.png "alt"`}},
		{"collapsed reference", "![r][]\n\n[r]: a.png", []string{`image a.png "r"`}},
		{"shortcut reference", "![r]\n\n[r]: a.png", []string{`image a.png "r"`}},
		{"reference without definition", "![alt][r] ![r]", nil},
		{"brackets in alt", "![a [b] c](a.png)", []string{`image a.png "a [b] c"`}},
		{"image in alt", "![a ![b](b.png) c](a.png)", []string{`image a.png "a b c"`}},
		{"code in alt", "![a `b` c](a.png)", []string{`image a.png "a b c"`}},
		{"inside a link", "[![a](a.png)](https://x.org)", []string{`image a.png "a"`}},
		{"over two lines", "> ![a\n> b](a.png)", []string{`image a.png "a b"`}},
		{"remote", "![a](https://x.org/a.png?x=1#f)", []string{`image https://x.org/a.png?x=1#f "a" remote`}},
		{"protocol-relative", "![](//x.org/a.png)", []string{"image https://x.org/a.png remote"}},
		{"other schemes are no paths", "![](data:image/png;base64,AA) ![](file:///etc/p.png)", []string{"image data:image/png;base64,AA", "image file:///etc/p.png"}},
		{"no destination", "![a]()", nil},
		{"escaped", `\![a](a.png) !\[a](a.png)`, nil},
		{"note", "![[note#H]] ![a](note.md)", []string{"embed note #H", `embed note.md "a"`}},
		{"pdf page", "![[f.pdf#page=3]] ![](f.pdf)", []string{"embed f.pdf #page=3", "embed f.pdf"}},
		{"extension unknown", "![[Dr. Smith]] ![x](v1.2)", []string{"embed Dr. Smith", `image v1.2 "x"`}},
		{"own heading", "![[#H]]", []string{"embed  #H"}},
		{"html block", "<p>\n<img src='a%20b.png' alt=\"x &lt; y\" width=10 height=\"20\">\n</p>", []string{`image a b.png "x < y" 10x20`}},
		{"html inline", "a <img src=a.png> b <IMG SRC=\"b.png\"/>", []string{"image a.png", "image b.png"}},
		{"html over lines", "> <div>\n> <img\n>   src=a.png>\n> </div>", []string{"image a.png"}},
		{"html without src", "<img alt=x> <img src=\"\"> <image src=a.png>", nil},
		{"html comment block", "<!--\n<img src=a.png>\n![[a.png]]\n-->", nil},
		{"html comment in a block", "<div>\n<!-- <img src=a.png> --><img src=b.png>\n</div>", []string{"image b.png"}},
		{"script", "<script>\n\"<img src=a.png>\"\n</script>", nil},
		{"code", "`![[a.png]]` ```` ![](a.png) ````", nil},
		{"indented code", "x\n\n    ![](a.png)", nil},
		{"fence in a list", "- a\n  ```\n  ![](a.png)\n  ```\n- ![](b.png)", []string{"image b.png"}},
		{"open fence", "```\n![](a.png)", nil},
		{"table", "| a | b |\n|---|---|\n| ![x\\|40](a.png) | ![[b.png\\|cap\\|50]] |", []string{`image a.png "x" 40x0`, `image b.png "cap" 50x0`}},
		{"table code", "| a |\n|---|\n| `![[a.png]]` |", nil},
		{"footnote", "[^1]: ![[a.png]]", []string{"image a.png"}},
		{"frontmatter", "---\na: ![](x.png)\n---\n![](a.png)", []string{"image a.png"}},
		{"rule is no frontmatter", "\n---\n![](a.png)\n---\n", []string{"image a.png"}},
		{"open frontmatter", "---\n![](a.png)\n", []string{"image a.png"}},
		{"comment", "a %%b ![](a.png)%% ![](b.png)", []string{"comment %%b ![](a.png)%%", "image b.png"}},
		{"comment over lines", "a %%b\nc%% ![](b.png)", []string{"comment %%b\nc%%", "image b.png"}},
		{"comment block", "%%\na\n\n![](a.png)\n%%\n![](b.png)", []string{"comment %%\na\n\n![](a.png)\n%%", "image b.png"}},
		{"visible behind a comment block", "%%\na\n%% ![](b.png)", []string{"comment %%\na\n%%", "image b.png"}},
		{"comment block in a quote", "> %%\n> a\n> %%\n> ![](b.png)", []string{"comment %%\n> a\n> %%", "image b.png"}},
		{"comment block behind a paragraph", "x\n%%\n\n![](a.png)\n%%", []string{"comment %%\n\n![](a.png)\n%%"}},
		{"open comment block", "x\n\n%%\n![](a.png)\n", []string{"comment %%\n![](a.png)\n"}},
		{"open inline comment is text", "50%% off ![](a.png)\n\n![](b.png)", []string{"image a.png", "image b.png"}},
		{"mark that closes is not one that opens", "a %%b\n%% ![](b.png)\n\n![](c.png)", []string{"comment %%b\n%%", "image b.png", "image c.png"}},
		{"comment marks in code", "`%%` ![](a.png) `%%`\n\n```\n%%\n```\n![](b.png)", []string{"image a.png", "image b.png"}},
		{"generated block", "%% vaultflow:begin %%\n![[p.png]]\n%% vaultflow:end %%\n", []string{"comment %% vaultflow:begin %%", "image p.png", "comment %% vaultflow:end %%"}},
		{"math", "$![[a.png]]$ $$x ![[b.png]]\ny$$ ![](c.png)", []string{"image c.png"}},
		{"math block", "$$\n![[a.png]]\n\n![[b.png]]\n$$\n![](c.png)", []string{"image c.png"}},
		{"prices are no math", "costs $5 ![](a.png) and $6, $ ![](b.png) $", []string{"image a.png", "image b.png"}},
		{"open math is text", "$$\n![](a.png)\n", []string{"image a.png"}},
		{"crlf", "a\r\n\r\n![[a.png]]\r\n\r\n![b](b.png)\r\n", []string{"image a.png", `image b.png "b"`}},
		{"byte order mark", "\ufeff---\na: ![](x.png)\n---\n![](a.png)", []string{"image a.png"}},
	} {
		if diff := cmp.Diff(c.want, briefs(c.src)); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", c.name, c.src, diff)
		}
		checkTiling(t, []byte(c.src))
	}
}

// checkTiling: chunks joined are the source, spans touch, ids count up, lines are those of the bytes.
func checkTiling(t *testing.T, src []byte) {
	t.Helper()
	at := 0
	var joined strings.Builder
	for i, c := range chunking.Split(src) {
		if c.Start != at || c.End <= c.Start || c.End > len(src) || c.Text != string(src[c.Start:c.End]) {
			t.Fatalf("chunk %d spans %d-%d behind %d of %d bytes in %q", i, c.Start, c.End, at, len(src), src)
		}
		at = c.End
		joined.WriteString(c.Text)
		if want := fmt.Sprintf("c%d", i+1); c.ID != want {
			t.Errorf("chunk %d has id %s", i, c.ID)
		}
		first := 1 + strings.Count(string(src[:c.Start]), "\n")
		last := 1 + strings.Count(string(src[:c.End-1]), "\n")
		if c.FirstLine != first || c.LastLine != last {
			t.Errorf("chunk %d has lines %d-%d, want %d-%d in %q", i, c.FirstLine, c.LastLine, first, last, src)
		}
		if len(c.Text) > chunking.MaxText && c.Kind == chunking.Text {
			t.Errorf("chunk %d has %d bytes", i, len(c.Text))
		}
	}
	if joined.String() != string(src) {
		t.Errorf("chunks do not give %q back", src)
	}
}

func TestSplit_largeTextIsCutAtParagraphs(t *testing.T) {
	t.Parallel()
	paragraph := strings.Repeat("word ", 200) + "\n\n"
	src := strings.Repeat(paragraph, 300)
	chunks := chunking.Split([]byte(src))
	if len(chunks) < 4 {
		t.Fatalf("%d chunks of %d bytes", len(chunks), len(src))
	}
	for _, c := range chunks[:len(chunks)-1] {
		if !strings.HasSuffix(c.Text, "\n\n") {
			t.Errorf("chunk %s ends in %q", c.ID, c.Text[len(c.Text)-10:])
		}
	}
	checkTiling(t, []byte(src))
	for _, c := range chunking.Plain([]byte(strings.Repeat("é", 100_000))) {
		if !utf8.ValidString(c.Text) {
			t.Errorf("chunk %s cuts a character", c.ID)
		}
	}
}

func TestFrontmatter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src, yaml string
		size      int
	}{
		{"---\na: 1\n---\nx", "a: 1\n", 13},
		{"---\r\na: 1\r\n---  \r\nx", "a: 1\r\n", 18},
		{"---\n---\n", "", 8},
		{"---\na: 1\n---", "a: 1\n", 12},
		{"--- \na: 1\n---\n", "a: 1\n", 14},
		{"----\na\n---\n", "", 0},
		{"---\na: 1\n", "", 0},
		{"x\n---\n---\n", "", 0},
		{"", "", 0},
	} {
		size, yaml := chunking.Frontmatter([]byte(c.src))
		if size != c.size || string(yaml) != c.yaml {
			t.Errorf("%q: got %d %q, want %d %q", c.src, size, yaml, c.size, c.yaml)
		}
	}
}

const outline = "---\nt: 1\n---\n# One\na\n## Two words\nb ^first\n### Deep\nc\n## Two\nd\n\n- item\n  - child ^kid\n- other ^item\n  - below\n\n| t |\n|---|\n| u |\n\n^tab\n\n```\n## Not\n```\n\n# What? Yes!\ne\n"

func TestSection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fragment, want string }{
		{"Two words", "## Two words\nb ^first\n### Deep\nc\n"},
		{"two WORDS", "## Two words\nb ^first\n### Deep\nc\n"},
		{"What Yes", "# What? Yes!\ne\n"},
		{"One#Two words#Deep", "### Deep\nc\n"},
		{"One#Deep", "### Deep\nc\n"},
		{"Two", "## Two\nd\n\n- item\n  - child ^kid\n- other ^item\n  - below\n\n| t |\n|---|\n| u |\n\n^tab\n\n```\n## Not\n```\n\n"},
		{"^first", "b ^first\n"},
		{"^kid", "  - child ^kid\n"},
		{"^item", "- other ^item\n  - below\n"},
		{"^tab", "| t |\n|---|\n| u |\n"},
	} {
		start, end, ok := chunking.Section([]byte(outline), c.fragment)
		if !ok || outline[start:end] != c.want {
			t.Errorf("%s: got %v %q, want %q", c.fragment, ok, outline[start:end], c.want)
		}
	}
	for _, fragment := range []string{"Three", "Not", "Deep#One", "^none", "^", "", "#", "^fir"} {
		if start, end, ok := chunking.Section([]byte(outline), fragment); ok {
			t.Errorf("%q: got %q, want nothing", fragment, outline[start:end])
		}
	}
}

// Hostile notes tile like others. How their time grows is for BenchmarkSplit_hostile to show: a quadratic step takes
// minutes there.
func TestSplit_hostile(t *testing.T) {
	t.Parallel()
	for name, src := range hostile(1 << 13) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkTiling(t, []byte(src))
		})
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "---\na: \"[[c.png]]\"\n---\nx ![[a.png|b|10x20]] %%c%%\n", "> ![a\n> b](c)\n\n| a |\n|---|\n| ![[E.jpg\\|100]] |",
		"<div>\n<img src=a.png>\n<!-- x -->", "%%\n\n![](a.png)\n%% x\n\t- ![[a#b#c]]\n", "$$\n[[1,2]]\n$$ $x$ ![r][]\n\n[r]: <a b>",
		"- a\n\t- ![[a.png]]\r\n  > %%\n  > b\n", "[^1]: ![[a.png]]\n\n    ![](x)\n", "[[Nested [[Inner]] x]]\x00\xff![\xc3](\xa9)", outline,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		checkTiling(t, src)
		for _, c := range chunking.Split(src) {
			first, last := map[chunking.Kind]string{chunking.Image: "!<", chunking.Embed: "!", chunking.Comment: "%", chunking.Text: ""}[c.Kind], "])>"
			if first != "" && !strings.ContainsAny(c.Text[:1], first) || c.Kind != chunking.Text && c.Kind != chunking.Comment && !strings.ContainsAny(c.Text[len(c.Text)-1:], last) {
				t.Errorf("%s chunk %q in %q", c.Kind, c.Text, src)
			}
		}
		for _, fragment := range []string{"a", "^first", "a#b"} {
			if start, end, ok := chunking.Section(src, fragment); ok && (start < 0 || end < start || end > len(src)) {
				t.Errorf("section %s is %d-%d of %q", fragment, start, end, src)
			}
		}
	})
}

func ExampleSplit() {
	note := "See ![[chart.png|the chart|300]] and `![[not.png]]`.\n"
	for _, c := range chunking.Split([]byte(note)) {
		fmt.Printf("%s %s %q\n", c.ID, c.Kind, c.Text)
	}
	// Output:
	// c1 text "See "
	// c2 image "![[chart.png|the chart|300]]"
	// c3 text " and `![[not.png]]`.\n"
}

// The notes of the example vault tile too.
func TestSplit_vault(t *testing.T) {
	t.Parallel()
	notes := 0
	err := filepath.WalkDir("../testdata/vault", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		notes++
		checkTiling(t, src)
		return nil
	})
	if err != nil || notes == 0 {
		t.Skipf("no example vault: %d notes, %v", notes, err)
	}
}
