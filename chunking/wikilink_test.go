package chunking

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	"go.abhg.dev/goldmark/wikilink"
)

// link is what a wikilink says, embeds and plain links alike.
type link struct {
	Target, Fragment, Alt string
	Width, Height         int
	Embed                 bool
}

// links lists the wikilinks of a note by the parser that Split uses.
func links(src string) []link {
	d := parse([]byte(src), wholeNote)
	var list []link

	ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		w, ok := n.(*wikilink.Node)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		if c, ok := readWikilink(w); ok {
			list = append(list, link{c.Target, c.Fragment, c.Alt, c.Width, c.Height, w.Embed})
		}
		return ast.WalkSkipChildren, nil
	})
	return list
}

func one(l link) []link { return []link{l} }

// The library's own reading of these 16 differs from Obsidian's.
func TestWikilink_whereTheLibraryDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src string
		want      []link
	}{
		{"1 heading chain", "[[note#H1#H2]]", one(link{Target: "note", Fragment: "H1#H2"})},
		{"2 page and height", "![[doc.pdf#page=3#height=400]]", one(link{Target: "doc.pdf", Fragment: "page=3#height=400", Embed: true})},
		{"3 bar in a table", "| a |\n|---|\n| ![[E.jpg\\|100]] |", one(link{Target: "E.jpg", Width: 100, Embed: true})},
		{"4 escaped bar outside", "![[E.jpg\\|100]]", one(link{Target: "E.jpg", Width: 100, Embed: true})},
		{"5 empty display", "[[note|]]", one(link{Target: "note"})},
		{"5 empty display of an embed", "![[image.png|]]", one(link{Target: "image.png", Embed: true})},
		{"6 spaces", "[[ note ]]", one(link{Target: "note"})},
		{"6 spaces around the size", "![[image.png | 100]]", one(link{Target: "image.png", Width: 100, Embed: true})},
		{"7 nested", "[[Nested [[Inner]] x]]", one(link{Target: "Inner"})},
		{"8 inline comment", "a %%![[hid.png]]%% b", nil},
		{"8 block comment", "%%\n![[hid.png]]\n\n![[hid2.png]]\n%%", nil},
		{"9 inline math", "$[[1,2],[3,4]]$", nil},
		{"9 block math", "$$\n[[1,2],[3,4]]\n$$", nil},
		{"10 frontmatter", "---\nimg: \"[[c.png]]\"\n---\n", nil},
		{"11 search for headings", "[[##team]]", nil},
		{"11 search for blocks", "[[^^block]]", nil},
	} {
		if diff := cmp.Diff(c.want, links(c.src)); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", c.name, c.src, diff)
		}
	}
}

// These 64 are read by the library as Obsidian does, and must stay so.
func TestWikilink_whereTheLibraryAgrees(t *testing.T) {
	t.Parallel()
	note, embed := link{Target: "a"}, link{Target: "a.png", Embed: true}
	for _, c := range []struct {
		src  string
		want []link
	}{
		{"[[a]]", one(note)},
		{"[[a.md]]", one(link{Target: "a.md"})},
		{"[[a|alias]]", one(link{Target: "a", Alt: "alias"})},
		{"[[a|alias with | bar]]", one(link{Target: "a", Alt: "alias with | bar"})},
		{"[[a#H|alias]]", one(link{Target: "a", Fragment: "H", Alt: "alias"})},
		{"[[a#Heading]]", one(link{Target: "a", Fragment: "Heading"})},
		{"[[a#^block-1]]", one(link{Target: "a", Fragment: "^block-1"})},
		{"[[#Heading]]", one(link{Fragment: "Heading"})},
		{"[[#^id]]", one(link{Fragment: "^id"})},
		{"[[folder/a]]", one(link{Target: "folder/a"})},
		{"[[folder/sub folder/a b]]", one(link{Target: "folder/sub folder/a b"})},
		{"[[./a]]", one(link{Target: "./a"})},
		{"[[../a]]", one(link{Target: "../a"})},
		{"[[/a]]", one(link{Target: "/a"})},
		{"[[https://example.org]]", one(link{Target: "https://example.org"})},
		{"[[Café]]", one(link{Target: "Café"})},
		{"[[笔记]]", one(link{Target: "笔记"})},
		{"[[a\u00a0b]]", one(link{Target: "a\u00a0b"})},
		{"![[a.png]]", one(embed)},
		{"![[a b.png]]", one(link{Target: "a b.png", Embed: true})},
		{"![[a.png|100]]", one(link{Target: "a.png", Width: 100, Embed: true})},
		{"![[a.png|100x145]]", one(link{Target: "a.png", Width: 100, Height: 145, Embed: true})},
		{"![[a.png|caption]]", one(link{Target: "a.png", Alt: "caption", Embed: true})},
		{"![[a.png|caption|100]]", one(link{Target: "a.png", Alt: "caption", Width: 100, Embed: true})},
		{"![[a.png#right|Figure 2|200]]", one(link{Target: "a.png", Fragment: "right", Alt: "Figure 2", Width: 200, Embed: true})},
		{"![[a.png#any|100]]", one(link{Target: "a.png", Fragment: "any", Width: 100, Embed: true})},
		{"![[a.svg#icon]]", one(link{Target: "a.svg", Fragment: "icon", Embed: true})},
		{"![[a.PNG]]", one(link{Target: "a.PNG", Embed: true})},
		{"![[doc.pdf|1000]]", one(link{Target: "doc.pdf", Width: 1000, Embed: true})},
		{"![[note]]", one(link{Target: "note", Embed: true})},
		{"![[v1.2]]", one(link{Target: "v1.2", Embed: true})},
		{"a\r\n![[a.png]]\r\nb", one(embed)},
		{"- ![[a.png]]", one(embed)},
		{"- x\n\t- ![[a.png]]", one(embed)},
		{"1. ![[a.png]]", one(embed)},
		{"- [ ] ![[a.png]]", one(embed)},
		{"- [x] [[a]]", one(note)},
		{"> ![[a.png]]", one(embed)},
		{"> [!note] ![[a.png]]", one(embed)},
		{"> [!note]- t\n> > [!tip]\n> > ![[a.png]]", one(embed)},
		{"# [[a]]", one(note)},
		{"[[a]]\n===", one(note)},
		{"x[^1]\n\n[^1]: ![[a.png]]", one(embed)},
		{"**[[a]]**", one(note)},
		{"*![[a.png]]*", one(embed)},
		{"==[[a]]==", one(note)},
		{"[[a*b*c]]", one(link{Target: "a*b*c"})},
		{"[[a_b_c]]", one(link{Target: "a_b_c"})},
		{"![[a.png]]![[a.png]]", []link{embed, embed}},
		{"[[a]][[a]]", []link{note, note}},
		{"\\![[a]]", one(note)},
		{"\\[\\[a\\]\\]", nil},
		{"`[[a]]`", nil},
		{"``![[a.png]]``", nil},
		{"```\n![[a.png]]\n```", nil},
		{"~~~md\n[[a]]\n~~~", nil},
		{"x\n\n    ![[a.png]]", nil},
		{"<div>\n![[a.png]]\n</div>", nil},
		{"<!-- ![[a.png]] -->", nil},
		{"x <!-- ![[a.png]] --> y", nil},
		{"[![[a.png]]](url)", one(embed)},
		{"!![[a.png]]", one(embed)},
		{"[[a]](b)", one(note)},
		{"[[Sq]uare]]", one(link{Target: "Sq]uare"})},
		{"[[a\nb]]", nil},
		{"[[]] [[|x]] [[ ]]", nil},
	} {
		if diff := cmp.Diff(c.want, links(c.src)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.src, diff)
		}
	}
}
