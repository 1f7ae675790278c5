package chunking

import (
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	"go.abhg.dev/goldmark/wikilink"
)

// image reads a Markdown image. One without a destination is text, and so is the page of a video or of a post, which
// Obsidian shows as a page.
func (d document) image(n *ast.Image) (Chunk, bool) {
	if _, ok := d.ends[n]; !ok || len(n.Destination) == 0 {
		return Chunk{}, false
	}
	c := Chunk{Kind: Image, Syntax: SyntaxMarkdown, Written: string(n.Destination)}
	if n.Reference != nil {
		c.Syntax = SyntaxReference
	}
	if c.aim(unescape(c.Written)); c.Remote && isPage(c.Target) {
		return Chunk{}, false
	}
	c.Alt, c.Width, c.Height = caption(d.alt(n))
	return c, true
}

// aim sets target, fragment, remote and kind from an unescaped destination.
func (c *Chunk) aim(destination string) {
	c.Target, c.Fragment, c.Remote = decode(destination)
	if c.Remote {
		return
	}
	// `![a](note.md)` transcludes in Obsidian. A name without a known extension is left to whoever reads the bytes.
	if ext := strings.ToLower(path.Ext(c.Target)); others[ext] || c.Target == "" {
		c.Kind = Embed
	}
}

// others are extensions that Obsidian embeds and that are no pictures.
var others = map[string]bool{
	".md": true, ".markdown": true, ".canvas": true, ".base": true, ".pdf": true, ".flac": true, ".m4a": true, ".mp3": true,
	".ogg": true, ".wav": true, ".webm": true, ".3gp": true, ".mkv": true, ".mov": true, ".mp4": true, ".ogv": true,
}

// alt is the text between the brackets of an image, with escapes resolved and lines joined.
func (d document) alt(n ast.Node) string {
	var b strings.Builder
	//nolint:errcheck // the walker returns no error
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(unescape(string(n.Segment.Value(d.body))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *wikilink.Node:
			b.Write(d.body[n.Pos():wikilinkEnd(n)])
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
