package chunking

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkTrimmed: what is found with lines taken out of paragraphs is what is found without.
func checkTrimmed(t *testing.T, src []byte) {
	t.Helper()
	if tooDeep(src) {
		return
	}
	want, got := parse(src, wholeNote).find(), parse(src, references).find()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(found{})); diff != "" {
		t.Errorf("%q (-all lines +trimmed):\n%s", src, diff)
	}
}

func TestTrimmer(t *testing.T) {
	t.Parallel()
	prose := "some words, with a [[link]] and `code`\n"
	for _, src := range []string{
		prose + "![a](b.png)\n" + prose,
		prose + "[a](b \"title\n" + prose + "![a](b.png)\")\n",
		prose + "`\n![a](b.png)\n" + prose + "`\n",
		prose + "![a\n" + prose + "](b.png)\n" + prose,
		prose + "[![a](b.png)\n" + prose + "](c)\n",
		"a) [b](c\n![[d.png]])\n",
		"a] [b\nc](d \"![[x.png]]\")\n",
		"(a [b](c 'd\n![[x.png]]')\n",
		"<a\n" + "title='![[x.png]]'>\n",
		"a < b\n![[x.png]]\n",
		"$$\na ![[b.png]]\n",
		"a $$x\n" + prose + "![[b.png]]$$ ![[c.png]]\n",
		"a %%x\n" + prose + "![[b.png]]%% ![[c.png]]\n",
		"[ `]`\n](x \"![a](b)\")\n",
		"\\`a\n`![a](b)`\n",
		"`` ` ``\n![a](b)\n",
		prose + "===\n![a](b)\n",
		"![a](b)\n" + prose + "---\n",
		prose + "| a |\n|---|\n| ![a](b) |\n",
		"> " + prose + "> ![a\n> b](c)\n",
		"- " + prose + "  ![a\n  b](c)\n",
		"[r]: a.png\n" + prose + "![r]\n",
		prose + "[r]: ![a](b)\n" + prose + "===\n",
		"\t \n \x0b\n![a](b)\n",
		"![\n" + prose + "](b)\n",
		"[b](c (d\n![[x.png]]))\n",
		"[b](c 'd)\n![[x.png]]')\n",
		"[b\\]\n](c '![[x.png]]')\n",
		"one `two\nthree ![[x.png]] four`\n",
		"one `two\nthree ![a](x.png) four`\n",
		"``\n![[x.png]]\n``\n",
		"\\`a `\n![[x.png]]`\n",
	} {
		checkTrimmed(t, []byte(src))
		checkTrimmed(t, []byte(strings.ReplaceAll(src, "\n", "\r\n")))
	}
}

// No line before the code may open anything by itself: the trimmer keeps all lines behind one that does.
func TestSplit_codeOverLinesHoldsNoPicture(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"one `two\nthree ![[x.png]] four` five\n",
		"one `two\nthree ![a](x.png) four` five\n",
		"one `two\nthree <img src=x.png> four` five\n",
		"one ``two\nthree ![[x.png]] four`` five\n",
		"one \\` `two\nthree ![[x.png]] four` five\n",
		"one `two\nthree\n![[x.png]]\nfour` five\n",
	} {
		for _, c := range Split([]byte(src)) {
			if c.Kind != Text {
				t.Errorf("Split(%q) has the %s %q, want text alone", src, c.Kind, c.Text)
			}
		}
	}
}

func TestTrimmer_vault(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../testdata/vault/*/*.md")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checkTrimmed(t, src)
	}
}

// pieces are what notes of the fuzz target are put together from: bytes alone seldom make links.
var pieces = []string{
	"![", "[", "]", "](", ")", "[[", "]]", "![[", "a", "b.png", "word ", "\n", "\n", "\n\n", "`", "``", "```\n", "$", "$$", "%%", "%% ",
	"<", "<img src=a.png>", "<b c='", ">", "'", "\"", "(", "\\", "|", "|---|\n", "- ", "> ", "    ", "\t", "# ", "---\n", "===\n", "[r]: a.png\n",
	"[r]", "[^1]: ", "![a](b.png)", "![[c.png|5]]", "<!-- ", " -->", "\r\n", "!", ":", "é", "\x00",
}

// Compose is compose for the tests outside the package.
var Compose = compose

// compose makes a note of pieces, one for each byte.
func compose(recipe []byte) []byte {
	var b []byte
	for _, r := range recipe {
		b = append(b, pieces[int(r)%len(pieces)]...)
	}
	return b
}

func FuzzTrimmer(f *testing.F) {
	f.Add([]byte("abcdefghijklmnop"), false)
	f.Add([]byte("prose\n[a](b \"title\n![a](b.png)\")\n"), true)
	f.Fuzz(func(t *testing.T, src []byte, whole bool) {
		if !whole {
			src = compose(src)
		}
		checkTrimmed(t, src)
	})
}
