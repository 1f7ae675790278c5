// Package indexnote writes the note of a bundle: properties, the generated block, and what the user wrote around it
// in the version before.
package indexnote

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/note"
	"github.com/vaultflow/vaultflow/vault"
)

// The marks around the generated block, which each version replaces. What the user writes outside them stays.
const (
	Begin = vault.GeneratedBegin
	End   = vault.GeneratedEnd
)

// FailedSuffix ends the name of a note about a failure.
const FailedSuffix = ".failed.md"

// Note is the note in the making. All its links are relative to the bundle (`[[./q3.pdf#page=12]]`,
// `![[./pages/page_0012.png]]`): every import has a page_0001.png, so bare names would be ambiguous, and full names
// would break when the user moves the bundle's folder. Obsidian looks for links that begin with ./ from the note's own
// folder, and nowhere else.
type Note struct {
	Manifest *manifest.Manifest
	Message  string                // shown instead of contents, for files that are only kept
	Outline  []extract.OutlineItem // of the document
	Settings Settings
	Original string // name of the original within the bundle, or vault name; empty when it is not kept
	Bundle   fs.FS
	Layout   *Layout           // the user's own; nil for the built-in one
	Types    note.Types        // of properties, as the vault declares them
	chapter  *manifest.Chapter // whose note this is; nil for the document's
	b        strings.Builder
}

// Settings are the parts of an import's settings that its note follows.
type Settings struct {
	InlinePages   int      // most pages whose text is in the note
	MinConfidence float64  // below it, a page's text is marked
	Languages     []string // that text was recognised in
}

// ErrText is matched by the error of a note for which the text of a page cannot be read.
var ErrText = errors.New("read the text of a page")

// Previous is the note of the version before, and the manifest that belongs to it.
type Previous struct {
	Text     string
	Manifest manifest.Manifest
}

// Compose returns the note: properties, what the user wrote in the version before, and the generated block.
func (n *Note) Compose(before *Previous) ([]byte, error) {
	block, err := n.block()
	if err != nil {
		return nil, err
	}
	var old parts
	var base map[string]*yaml.Node
	if before != nil {
		old, base = splitNote(before.Text), baseProperties(before.Manifest, n.Types)
	}
	front, err := n.properties(old.properties, base)
	if errors.Is(err, errNoMerge) {
		old.above = unreadable(old.front) + old.above
		front, err = n.properties(nil, nil)
	}
	if err != nil {
		return nil, err
	}
	text := front + old.above + block + old.below
	if old.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text), nil
}

// block writes the generated block.
func (n *Note) block() (string, error) {
	n.line(Begin)
	if n.Layout != nil {
		own, err := n.apart(func(part *Note) error { return part.lay(n.Layout.parts, nil) })
		n.line(own)
		n.line(End)
		return n.b.String(), err
	}
	n.line("# " + markdown.Inline(n.title()))
	n.line("")
	n.line(n.facts())
	n.warnings()
	if err := writeBody(n); err != nil {
		return "", err
	}
	n.line("")
	n.line(End)
	return n.b.String(), nil
}

func (n *Note) line(s string) { n.b.WriteString(s + "\n") }

// title returns the chapter's title, or the document's.
func (n *Note) title() string {
	if n.chapter != nil {
		return n.chapter.Title
	}
	return documentTitle(n.Manifest)
}

// documentTitle returns the document's own title, or the name of its file.
func documentTitle(m *manifest.Manifest) string {
	if t := m.Document.Title; t != "" {
		return t
	}
	return strings.TrimSuffix(m.Source.Shown(), path.Ext(m.Source.Shown()))
}

// link is a link to the original, to a page of it when page is positive. It is plain text when no original is kept.
func (n *Note) link(page int, shown string) string {
	if n.Original == "" {
		return markdown.Inline(shown)
	}
	target := n.Original
	if !strings.Contains(target, "/") {
		target = n.here() + target
	}
	if page > 0 {
		target += "#page=" + strconv.Itoa(page)
	}
	return "[[" + target + "|" + markdown.Alias(shown) + "]]"
}

// facts is the line below the title: the original, its pages, its author, the day.
func (n *Note) facts() string {
	if n.chapter != nil {
		return chapterFacts(n)
	}
	parts := []string{n.link(0, n.Manifest.Source.Shown())}
	switch pages := len(n.Manifest.Pages); {
	case pages > 0 && pages < n.Manifest.Document.Pages:
		parts = append(parts, fmt.Sprintf("%s of %d", content.PageList(n.numbers()), n.Manifest.Document.Pages))
	case pages > 1:
		parts = append(parts, fmt.Sprintf("%d pages", pages))
	case pages == 1 && n.Manifest.Source.Kind == filetype.KindPDF:
		parts = append(parts, "1 page")
	}
	if a := n.Manifest.Document.Author; a != "" {
		parts = append(parts, markdown.Inline(a))
	}
	return strings.Join(append(parts, "imported "+n.Manifest.Import.Started.Format("2 January 2006")), " · ")
}

// numbers returns the numbers of the imported pages.
func (n *Note) numbers() []int {
	list := make([]int, len(n.Manifest.Pages))
	for i, p := range n.Manifest.Pages {
		list[i] = p.N
	}
	return list
}

func (n *Note) warnings() {
	if len(n.Manifest.Import.Warnings) == 0 || n.chapter != nil {
		return
	}
	n.line("")
	n.line("> [!warning] Please note")
	for _, w := range n.Manifest.Import.Warnings {
		n.line("> - " + markdown.Inline(w))
	}
}

// Outline writes the document's table of contents as nested links.
func (n *Note) contents() {
	if len(n.Outline) == 0 {
		return
	}
	n.line("")
	n.line("## Contents")
	n.line("")
	depth, there := 0, n.numbers()
	for _, o := range n.Outline {
		depth = min(o.Level-1, depth+1) // a list cannot go two levels deeper at once
		if o == n.Outline[0] {
			depth = 0
		}
		shown := markdown.Inline(o.Title)
		if _, found := slices.BinarySearch(there, o.Page); found {
			shown = fmt.Sprintf("[[#Page %d|%s]]", o.Page, markdown.Alias(o.Title))
			if c, found := n.Manifest.ChapterOf(o.Page); found {
				shown = chapterLink(n, c, fmt.Sprintf("#Page %d", o.Page), o.Title)
			}
		}
		n.line(strings.Repeat("  ", depth) + "- " + shown)
	}
}

// page writes a section: heading, picture, link to the page in the original with the block id, text.
func (n *Note) page(p manifest.Page, heading string) error {
	n.line("")
	n.line("## " + heading)
	n.line("")
	if p.Image != nil {
		n.line("![[" + n.here() + p.Image.Path + "]]")
	}
	n.line(n.source(p) + " ^p" + strconv.Itoa(p.N))
	n.remarks(p)
	text, err := n.text(p)
	if err != nil || text == "" {
		return err
	}
	if len(p.Edges) > 0 {
		n.line("")
		n.line("*At the edge of the page:* " + edgeLine(p.Edges))
	}
	n.line("")
	n.line(text)
	return nil
}

// edgeLine is what is printed at the edge of a page.
func edgeLine(edges []string) string {
	shown := make([]string, len(edges))
	for i, text := range edges {
		shown[i] = markdown.Inline(text)
	}
	return strings.Join(shown, " · ")
}

// source is the line below the picture: where the page is in the original, and where its text is.
func (n *Note) source(p manifest.Page) string {
	s := n.link(p.N, fmt.Sprintf("%s, page %d", n.Manifest.Source.Shown(), p.N))
	if p.Label != "" && p.Label != strconv.Itoa(p.N) {
		s += " · printed as " + markdown.Inline(p.Label)
	}
	if !n.inline() && p.Text != nil && p.Text.Path != "" {
		s += " · [[" + n.here() + p.Text.Path + "|text]]"
	}
	return s
}

// inline reports whether the note contains the text.
func (n *Note) inline() bool {
	return n.chapter != nil || len(n.Manifest.Pages) <= n.Settings.InlinePages
}

// remarks writes what a reader should know before trusting the text.
func (n *Note) remarks(p manifest.Page) {
	say := func(kind, text string) { n.line(""); n.line("> [!" + kind + "] " + text) }
	switch {
	case p.Status == manifest.PageFailed:
		say("failure", "This page could not be read: "+markdown.Inline(p.Error))
		return
	case p.Lacks != "":
		say("warning", "The text of this page or its picture is not as good as it could be: "+markdown.Inline(p.Lacks))
	case p.Status == manifest.PagePartial && p.Image == nil && p.Text == nil:
		say("warning", "This page could not be read: "+markdown.Inline(p.Error))
	case p.Status == manifest.PagePartial && !doubt.Has(p.Doubts, doubt.Lost):
		say("warning", "The text of this page could not be recognised: "+markdown.Inline(p.Error))
	}
	switch {
	case len(p.Doubts) > 0:
		with := "the original"
		if p.Image != nil {
			with = "the picture"
		}
		say("warning", "The text of this page is doubtful: "+markdown.Inline(doubt.Words(p.Doubts))+". Compare it with "+with+".")
	case p.Vision != nil && p.Vision.Outcome == manifest.VisionUsed:
		say("info", "The text of this page was read by the model "+markdown.Inline(p.Vision.Model)+"; "+cmp.Or(markdown.Inline(p.Vision.Reason), "its words and numbers are those of the page")+".")
	}
}

// text returns a page's text with its headings below that of the page, or "" if it stays in its file.
func (n *Note) text(p manifest.Page) (string, error) {
	if !n.inline() || p.Text == nil || p.Text.Path == "" {
		return "", nil
	}
	data, err := fs.ReadFile(n.Bundle, p.Text.Path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrText, err)
	}
	return markdown.Demote(strings.TrimRight(fromFile(n, string(data)), "\n"), 2), nil
}

// toIndex comes before a page's block in the files of pages that older versions made.
const toIndex = "](../index.md#^p"

// fromFile makes links of a page's file lead from the note.
func fromFile(n *Note, text string) string {
	return linkPages(n, strings.NewReplacer("](../assets/", "]("+n.here()+"assets/", "[[../assets/", "[["+n.here()+"assets/", toIndex, "](#^p").Replace(text))
}
