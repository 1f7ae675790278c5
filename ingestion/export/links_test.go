package export

import (
	"strings"
	"testing"
)

func placed(names ...string) *Tree {
	t := New(names)
	t.Place("index.md")
	return t
}

func TestNote(t *testing.T) {
	t.Parallel()
	tree := placed("top/a/Note.md", "top/b/pic 1.png", "top/b/Other Note.md", "top/b/x(1).png", "top/deep/er/Other Note.md", "top/100%.png", "top/Größe.md")
	for in, want := range map[string]string{
		"[[Other Note]]":                                  "[[../b/Other Note|Other Note]]",
		"[[deep/er/Other Note|x]]":                        "[[../deep/er/Other Note|x]]",
		"[[/top/deep/er/Other Note]]":                     "[[../deep/er/Other Note|/top/deep/er/Other Note]]",
		"[[../b/Other Note]]":                             "[[../b/Other Note]]",
		"[[other note.md#H]]":                             "[[../b/Other Note#H|other note.md > H]]",
		"[[gro\u0308\u00dfe]]":                            "[[../Größe|größe]]",
		"[[#Own]] [own](#own)":                            "[[#Own]] [own](#own)",
		"![[pic 1.png|100]]":                              "![[../b/pic 1.png|100]]",
		"![](../b/pic%201.png)":                           "![](../b/pic%201.png)",
		"![](../b/pic 1.png)":                             "![](../b/pic%201.png)",
		"![](<../b/pic 1.png> \"t\")":                     "![](../b/pic%201.png \"t\")",
		"![](b/pic%201.png)":                              "![](../b/pic%201.png)",
		"![](/b/pic%201.png)":                             "![](../b/pic%201.png)",
		`![](..\b\pic%201.png)`:                           "![](../b/pic%201.png)",
		"![a](../b/x(1).png)":                             "![a](../b/x(1).png)",
		`![a](../b/x\(1\).png)`:                           "![a](../b/x\\(1\\).png)",
		"![p](../100%.png) ![p](../100%25.png)":           "![p](../100%.png) ![p](../100%25.png)",
		"[![t](../b/pic%201.png)](https://x.y)":           "[![t](../b/pic%201.png)](https://x.y)",
		"[![t](https://x.y/z.png)](b/Other%20Note.md#^x)": "[[t](https://x.y/z.png)](../b/Other%20Note.md#^x)",
		"![a][R]":                                   "[a][R]",
		"![Out](../../b/pic%201.png)":               "[Out](../../b/pic%201.png)",
		"![d](data:image/png;base64,AAAA)":          "[d](data:image/png;base64,AAAA)",
		`\![[pic 1.png]]`:                           `\[[../b/pic 1.png|pic 1.png]]`,
		"[^1]: see [[Other Note]]":                  "[^1]: see [[../b/Other Note|Other Note]]",
		"`[[Other Note]]` ``a ` b`` [[Other Note]]": "`[[Other Note]]` ``a ` b`` [[../b/Other Note|Other Note]]",
		"[x] [ ] [[ ]] [[]] ](../b/pic%201.png)":    "[x] [ ] [[ ]] [[]] ](../b/pic%201.png)",
	} {
		if got := strings.TrimSuffix(tree.Note(in, 0).Text, "\n"); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// A link by its exact name leads to that file, and one in another case to the first.
func TestNote_namesThatDifferByCase(t *testing.T) {
	t.Parallel()
	tree := placed("a.md", "sub/readme.md", "sub/README.md")
	for in, want := range map[string]string{
		"[x](sub/README.md)": "[x](./sub/README%20%282%29.md)", "[x](sub/readme.md)": "[x](./sub/readme.md)", "[x](sub/Readme.md)": "[x](./sub/readme.md)",
		"[[README]]": "[[./sub/README (2)|README]]", "[[readme]]": "[[./sub/readme|readme]]",
	} {
		if got := strings.TrimSuffix(tree.Note(in, 0).Text, "\n"); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// Joplin's raw export has links to ids. A file and the note that describes it have the same one.
func TestNote_joplinIDs(t *testing.T) {
	t.Parallel()
	const note, picture = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	tree := placed("a.md", note+".md", picture+".md", "resources/"+picture+".png")
	in := "![p](:/" + picture + ") [n](:/" + note + "#top) ![](:/00000000000000000000000000000000)"
	want := "![p](./resources/" + picture + ".png) [n](./" + note + ".md#top) [](:/00000000000000000000000000000000)\n"
	if got := tree.Note(in, 0); got.Text != want || len(got.Missing) != 1 {
		t.Errorf("got %q, missing %v", got.Text, got.Missing)
	}
}

// Lines that make each bracket, tick or link look ahead to the end: a note of them is written in no more than linear time.
func TestNote_hostileLines(t *testing.T) {
	t.Parallel()
	tree := placed("a.md", "p.png")
	for _, piece := range []string{"![[p.png]]", "[[", "![", "![a](", "`", "` ``", "[a](p.png", "<img ", "<img src=p.png>", "![x][y]", "]", "](", "[^", "%%", "\\"} {
		tree.Note("[y]: p.png\n"+strings.Repeat(piece, 1<<16/len(piece)), 0)
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	tree := placed("index.md", "a.md", "A.md", "dir/x", "DIR", "CON.md", "long/"+strings.Repeat("n", 300)+".md", strings.Repeat("d/", 10)+"x.md", strings.Repeat(strings.Repeat("e", 119)+"/", 8)+"x.md", "tick`$$.md")
	want := []string{"index (2).md", "a.md", "A (2).md", "dir/x", "DIR (2)", "CON_.md", "long/" + strings.Repeat("n", 117) + ".md", strings.Repeat("d/", 10) + "x.md", "", "tick'$.md"}
	for i, f := range tree.Files {
		if f.To != want[i] {
			t.Errorf("%s is placed at %s, want %s", f.From, f.To, want[i])
		}
	}
}
