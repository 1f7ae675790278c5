package chunking

import (
	"path"
	"strconv"
	"strings"

	"go.abhg.dev/goldmark/wikilink"
)

// readWikilink reads the inside of `[[…]]` as Obsidian does: the library splits at the last `#`, keeps the backslash of a
// table's `\|` and keeps spaces. ok is false for what Obsidian does not take for a link.
func readWikilink(n *wikilink.Node) (c Chunk, ok bool) {
	link, display, _ := strings.Cut(string(n.Target), "|")
	link = strings.TrimSpace(strings.TrimSuffix(link, `\`))
	if link == "" || strings.HasPrefix(link, "##") || strings.HasPrefix(link, "^^") {
		return Chunk{}, false // the latter two are searches of Obsidian's editor
	}
	target, fragment, _ := strings.Cut(link, "#")
	c = Chunk{
		Kind: Embed, Syntax: SyntaxWikilink, Written: link,
		Target: strings.TrimSpace(target), Fragment: strings.TrimSpace(fragment),
	}
	if IsImageName(c.Target) {
		c.Kind = Image
	}
	c.Alt, c.Width, c.Height = caption(display)
	return c, true
}

// wikilinkEnd is the offset behind the link.
func wikilinkEnd(n *wikilink.Node) int {
	end := n.Pos() + len("[[]]") + len(n.Target)
	if n.Embed {
		end++
	}
	return end
}

// caption splits `text|100x80`: the last part is a size when it is `N` or `NxM`, the rest is text. Bars may be escaped,
// as they must be in tables.
func caption(display string) (alt string, width, height int) {
	display = strings.ReplaceAll(display, `\|`, "|")
	rest, last := "", display
	if i := strings.LastIndexByte(display, '|'); i >= 0 {
		rest, last = display[:i], display[i+1:]
	}
	if w, h, ok := size(strings.TrimSpace(last)); ok {
		return strings.TrimSpace(rest), w, h
	}
	return strings.TrimSpace(display), 0, 0
}

// size reads `100` and `100x80`.
func size(s string) (width, height int, ok bool) {
	w, h, both := strings.Cut(s, "x")
	width, ok = pixels(w)
	if ok && both {
		height, ok = pixels(h)
	}
	return width, height, ok
}

func pixels(s string) (int, bool) {
	if s == "" || len(s) > 5 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// extensions of pictures that a note may embed.
var extensions = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".webp": true, ".gif": true, ".bmp": true, ".tif": true, ".tiff": true,
	".heic": true, ".heif": true, ".avif": true, ".svg": true,
}

// IsImageName reports whether a name has the extension of a picture. Upper and lower case are the same.
func IsImageName(name string) bool { return extensions[strings.ToLower(path.Ext(name))] }
