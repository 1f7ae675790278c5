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
		{"fragment with percent", "![a](n.md#My%20part%2Ftwo)", []string{`embed n.md #My part/two "a"`}},
		{"fragment with a bad percent", "![a](n.md#50%)", []string{`embed n.md #50% "a"`}},
		{"page and height", "![[f.pdf#page=3#height=400]] ![[f.pdf#page=8&rect=1,2,3,4|x]]", []string{"embed f.pdf #page=3#height=400", `embed f.pdf #page=8&rect=1,2,3,4 "x"`}},
		{"audio, video, canvas, base", "![[a.ogg]] ![[v.mp4]] ![[x.canvas]] ![[x.base#View]]", []string{"embed a.ogg", "embed v.mp4", "embed x.canvas", "embed x.base #View"}},
		{"drawing", "![[a.excalidraw]] ![[a.excalidraw.md|300]] ![[a.excalidraw.png]]", []string{"embed a.excalidraw", "embed a.excalidraw.md 300x0", "image a.excalidraw.png"}},
		{"pages of videos and posts", "![](https://www.youtube.com/watch?v=x) ![](https://youtu.be/x) ![](https://x.com/a/status/1) ![](https://Twitter.com/a)", nil},
		{"pictures of those hosts", "![](https://x.com/a.png)", []string{"image https://x.com/a.png remote"}},
		{"url as wikilink", "![[https://x.org/a.png]]", []string{"image https://x.org/a.png"}},
		{"callout", "> [!tip|meta]+ See ![[a.png]]\n> ![b|20](b.png)\n>> [!bug]-\n>> ![[c.png]]", []string{"image a.png", `image b.png "b" 20x0`, "image c.png"}},
		{"lazy callout", "> [!note]\n![[a.png]]", []string{"image a.png"}},
		{"inline footnote", "x^[see ![[a.png]]]", []string{"image a.png"}},
		{"highlight and tags", "==![[a.png]]== #tag/![[b.png]]", []string{"image a.png", "image b.png"}},
		{"raw bar in a table splits the cell", "| a | b |\n|---|---|\n| ![[a.png|50]] | x |", nil},
		{"escaped bar in a size and a caption", "![[a.png\\|cap\\|5x6]] ![c\\|7](b.png)", []string{`image a.png "cap" 5x6`, `image b.png "c" 7x0`}},
		{"comment in a table cell", "| a |\n|---|\n| %%![[a.png]]%% ![[b.png]] |", []string{"comment %%![[a.png]]%%", "image b.png"}},
		{"comment in a callout", "> [!note]\n> %%![[a.png]]%%\n> ![[b.png]]", []string{"comment %%![[a.png]]%%", "image b.png"}},
		{"dataview and mermaid", "```dataview\n![[a.png]]\n```\n```mermaid\n![](b.png)\n```", nil},
		{"templates", "{{title}} ![[{{date}}.png]] <% tp.file %> ![[a.png]]", []string{"image {{date}}.png", "image a.png"}},
		{"frontmatter with templates and bad yaml", "---\nd: {{date}}\nimg: \"[[c.png]]\"\nx: @me\n---\n![[a.png]]", []string{"image a.png"}},
		{"nbsp in a target", "![[a\u00a0b.png]]", []string{"image a\u00a0b.png"}},
		{"img variants", "<img\tsrc = \"a.png\"> <img alt='>' src='b.png'> <img src=c.png><img src='d.png'/>", []string{"image a.png", `image b.png ">"`, "image c.png", "image d.png"}},
		{"img with other sources", "<img data-src=\"x.png\" srcset=\"y.png 2x\" src=\"a.png\" src=\"z.png\">", []string{"image a.png"}},
		{"img with percent and entity", "<img src=\"a%20b&amp;c.png#hook\">", []string{"image a b&c.png #hook"}},
		{"img of a file outside", "<img src=\"file:///etc/p.png\"> <img src='../../p.png'>", []string{"image file:///etc/p.png", "image ../../p.png"}},
		{"picture element", "<picture>\n<source srcset='x.webp'>\n<img src='a.png'>\n</picture>", []string{"image a.png"}},
		{"reference with title, case and spaces", "![A  b][Ref  One]\n\n[ref one]: <a b.png> (t)", []string{`image a b.png "A  b"`}},
		{"reference over lines", "> ![a\n> b][r]\n\n[r]:\n  a.png\n  'title'", []string{`image a.png "a b"`}},
		{"first definition holds", "![x][r]\n\n[r]: a.png\n[r]: b.png", []string{`image a.png "x"`}},
		{"definition in code", "![x][r]\n\n```\n[r]: a.png\n```", nil},
		{"parentheses in parentheses", "![](a(b(c)).png)", []string{"image a(b(c)).png"}},
		{"unbalanced parentheses", "![](a(b.png)", nil},
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
