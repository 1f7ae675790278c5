package ingestion

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// The marks around what is written anew with each version; what a person writes outside of them stays.
const (
	blockBegin = "%% vaultflow:begin %%"
	blockEnd   = "%% vaultflow:end %%"
)

// note is index.md in the making. All its links are relative to the bundle (`[[./q3.pdf#page=12]]`,
// `![[./pages/page_0012.png]]`): every import has a page_0001.png, so bare names would be ambiguous, and full names
// would break when a person moves the bundle's folder. Obsidian looks for links that begin with ./ from the note's own
// folder, and nowhere else.
type note struct {
	m        *manifest.Manifest
	rec      documentRecord
	set      Settings
	original string // name of the original within the bundle, or vault name; empty when it is not kept
	bundle   fs.FS
	records  fs.FS
	layout   *layout // a person's own; nil for the built-in one
	b        strings.Builder
}

// block writes the generated block.
func (n *note) block(h handler) (string, error) {
	n.line(blockBegin)
	if n.layout != nil {
		own, err := n.apart(func(part *note) error { return part.lay(n.layout.parts, nil) })
		n.line(own)
		n.line(blockEnd)
		return n.b.String(), err
	}
	n.line("# " + markdown.Inline(n.title()))
	n.line("")
	n.line(n.facts())
	n.warnings()
	if err := h.write(n); err != nil {
		return "", err
	}
	n.line("")
	n.line(blockEnd)
	return n.b.String(), nil
}

func (n *note) line(s string) { n.b.WriteString(s + "\n") }

// title is what the document calls itself, or the name of its file.
func (n *note) title() string {
	if t := n.m.Document.Title; t != "" {
		return t
	}
	return strings.TrimSuffix(n.m.Source.Name, path.Ext(n.m.Source.Name))
}

// link is a link to the original, to a page of it when page is positive. It is plain text when no original is kept.
func (n *note) link(page int, shown string) string {
	if n.original == "" {
		return markdown.Inline(shown)
	}
	target := n.original
	if !strings.Contains(target, "/") {
		target = "./" + target
	}
	if page > 0 {
		target += "#page=" + strconv.Itoa(page)
	}
	return "[[" + target + "|" + markdown.Alias(shown) + "]]"
}

// facts is the line below the title: the original, its pages, its author, the day.
func (n *note) facts() string {
	parts := []string{n.link(0, n.m.Source.Name)}
	switch pages := len(n.m.Pages); {
	case pages > 0 && pages < n.m.Document.Pages:
		parts = append(parts, fmt.Sprintf("%s of %d", pageList(n.numbers()), n.m.Document.Pages))
	case pages > 1:
		parts = append(parts, fmt.Sprintf("%d pages", pages))
	case pages == 1 && n.m.Source.Kind == filetype.KindPDF:
		parts = append(parts, "1 page")
	}
	if a := n.m.Document.Author; a != "" {
		parts = append(parts, markdown.Inline(a))
	}
	return strings.Join(append(parts, "imported "+n.m.Import.Started.Format("2 January 2006")), " · ")
}

// numbers are those of the pages that were imported.
func (n *note) numbers() []int {
	list := make([]int, len(n.m.Pages))
	for i, p := range n.m.Pages {
		list[i] = p.N
	}
	return list
}

func (n *note) warnings() {
	if len(n.m.Import.Warnings) == 0 {
		return
	}
	n.line("")
	n.line("> [!warning] Please note")
	for _, w := range n.m.Import.Warnings {
		n.line("> - " + markdown.Inline(w))
	}
}

// outline writes the document's table of contents as nested links.
func (n *note) outline() {
	if len(n.rec.Document.Outline) == 0 {
		return
	}
	n.line("")
	n.line("## Contents")
	n.line("")
	depth, there := 0, n.numbers()
	for _, o := range n.rec.Document.Outline {
		depth = min(o.Level-1, depth+1) // a list cannot go two levels deeper at once
		if o == n.rec.Document.Outline[0] {
			depth = 0
		}
		shown := markdown.Inline(o.Title)
		if _, found := slices.BinarySearch(there, o.Page); found {
			shown = fmt.Sprintf("[[#Page %d|%s]]", o.Page, markdown.Alias(o.Title))
		}
		n.line(strings.Repeat("  ", depth) + "- " + shown)
	}
}

// page writes a section: heading, picture, link to the page in the original with the block id, text.
func (n *note) page(p manifest.Page, heading string) error {
	n.line("")
	n.line("## " + heading)
	n.line("")
	if p.Image != nil {
		n.line("![[./" + p.Image.Path + "]]")
	}
	n.line(n.source(p) + " ^p" + strconv.Itoa(p.N))
	n.remarks(p)
	text, err := n.text(p)
	if err != nil || text == "" {
		return err
	}
	n.line("")
	n.line(text)
	return nil
}

// source is the line below the picture: where the page is in the original, and where its text is.
func (n *note) source(p manifest.Page) string {
	s := n.link(p.N, fmt.Sprintf("%s, page %d", n.m.Source.Name, p.N))
	if p.Label != "" && p.Label != strconv.Itoa(p.N) {
		s += " · printed as " + markdown.Inline(p.Label)
	}
	if !n.inline() && p.Text != nil && p.Text.Path != "" {
		s += " · [[./" + p.Text.Path + "|text]]"
	}
	return s
}

// inline says whether the text stands in the note.
func (n *note) inline() bool { return len(n.m.Pages) <= n.set.InlinePages }

// remarks tells what a reader should know before trusting the text.
func (n *note) remarks(p manifest.Page) {
	say := func(kind, text string) { n.line(""); n.line("> [!" + kind + "] " + text) }
	switch {
	case p.Status == manifest.PageFailed:
		say("failure", "This page could not be read: "+markdown.Inline(p.Error))
	case p.Status == manifest.PagePartial:
		say("warning", "The text of this page could not be recognised: "+markdown.Inline(p.Error))
	case low(p, n.set.OCR.MinConfidence):
		say("warning", fmt.Sprintf("Recognised with %.0f %% confidence: compare with the picture.", p.OCR.Confidence))
	}
}

// low says whether a page's text was recognised with less confidence than wanted.
func low(p manifest.Page, wanted float64) bool {
	return p.Text != nil && p.Text.Source == manifest.TextOCR && p.OCR != nil && !p.OCR.Service && p.OCR.Confidence < wanted
}

// text gives a page's text with its headings below that of the page; empty when it stays in its file.
func (n *note) text(p manifest.Page) (string, error) {
	if !n.inline() || p.Text == nil || p.Text.Path == "" {
		return "", nil
	}
	data, err := fs.ReadFile(n.bundle, p.Text.Path)
	if err != nil {
		return "", storage("read "+p.Text.Path, err)
	}
	return markdown.Demote(strings.TrimRight(fromNote(string(data)), "\n"), 2), nil
}
