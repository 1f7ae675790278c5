package prompt

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// bundle is what a prompt needs to know of an imported document: the pages of the manifest beside its note. The package
// ingestion, which writes it, documents the whole file.
type bundle struct {
	Version int    `json:"version"`
	Note    string `json:"note"`
	Source  struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"source"`
	Pages    []bundlePage `json:"pages"`
	Chapters []struct {
		Note  string `json:"note"`
		First int    `json:"first"`
		Last  int    `json:"last"`
	} `json:"chapters"`
	Generated map[string]map[int]string `json:"generated"` // digests of pages in notes, as vault.PageDigests returns them

	dir   string
	notes map[string]*bundleNote // that were read
}

// bundlePage is one page. Paths are those of the manifest, relative to its folder.
type bundlePage struct {
	N     int    `json:"n"`
	Label string `json:"label"`
	Image *struct {
		Path string `json:"path"`
	} `json:"image"`
	Text *struct {
		Path   string `json:"path"`
		Source string `json:"source"`
	} `json:"text"`
	OCR *struct {
		Confidence float64 `json:"confidence"` // percent
	} `json:"ocr"`
	Doubts []struct {
		Words string `json:"words"`
	} `json:"doubts"`
	Edges  []string `json:"edges"`
	Status string   `json:"status"`
	Error  string   `json:"error"`
}

// divided reports whether a file is the note of a document whose pages are in notes of chapters.
func (m *bundle) divided(name string) bool {
	return len(m.Chapters) > 0 && m.Note != "" && path.Join(m.dir, m.Note) == name
}

// note returns the note of the document, "" if the manifest does not name it.
func (m *bundle) note() string { return m.inside(m.Note) }

// doubts returns why the text of a page is doubtful, or "".
func (p *bundlePage) doubts() string {
	if p == nil {
		return ""
	}
	var words []string
	for _, d := range p.Doubts[:min(len(p.Doubts), maxDoubts)] {
		if d.Words != "" {
			words = append(words, quoted(d.Words))
		}
	}
	return strings.Join(words, "; ")
}

// maxEdges is how many texts at the edge of a page are shown.
const maxEdges = 12

// maxDoubts is how many doubts about a page are shown.
const maxDoubts = 4

// remarks are the lines between a page's number and its text: why it is doubtful, and what is printed at the page's edge. They are "" for most pages.
func (p *bundlePage) remarks() string {
	var lines []string
	if doubts := p.doubts(); doubts != "" {
		lines = append(lines, "[the text of this page is doubtful: "+doubts+"; the page's picture decides]")
	}
	if p != nil && len(p.Edges) > 0 {
		var shown []string
		for _, text := range p.Edges[:min(len(p.Edges), maxEdges)] {
			shown = append(shown, quoted(text))
		}
		lines = append(lines, "[at the edge of the page: "+strings.Join(shown, " · ")+"]")
	}
	return strings.Join(lines, "\n")
}

// doubt returns a remark on doubtful text, or "". Older imports have only the confidence of recognised text.
func (p bundlePage) doubt() string {
	if doubts := p.doubts(); doubts != "" {
		return ", doubtful: " + doubts
	}
	if p.Text == nil || p.Text.Source != "ocr" || p.OCR == nil || p.OCR.Confidence <= 0 || p.OCR.Confidence >= sure {
		return ""
	}
	return fmt.Sprintf(", recognised with %.0f %% confidence", p.OCR.Confidence)
}

// sure is the confidence above which recognised text needs no remark, in percent.
const sure = 80

// page is the page with that number, nil when the import has none.
func (m *bundle) page(n int) *bundlePage {
	if n >= 1 && n <= len(m.Pages) && m.Pages[n-1].N == n {
		return &m.Pages[n-1]
	}
	for i := range m.Pages {
		if m.Pages[i].N == n {
			return &m.Pages[i]
		}
	}
	return nil
}

// last is the highest number of a page.
func (m *bundle) last() int {
	n := 0
	for _, p := range m.Pages {
		n = max(n, min(p.N, 1e6))
	}
	return n
}

// picture is the vault name of the page's picture, "" when it has none. Paths that leave the folder count as none.
func (m *bundle) picture(p *bundlePage) string {
	if p == nil || p.Image == nil {
		return ""
	}
	return m.inside(p.Image.Path)
}

// text is the vault name of the page's text, "" when it has none.
func (m *bundle) text(p *bundlePage) string {
	if p == nil || p.Text == nil {
		return ""
	}
	return m.inside(p.Text.Path)
}

// remarksOf returns the remarks on the text that an import has of a page.
func (m *bundle) remarksOf(n int) string {
	if m.textOf(n) == "" {
		return ""
	}
	return m.page(n).remarks()
}

func (m *bundle) inside(rel string) string {
	if rel == "" || rel == "." || !fs.ValidPath(rel) {
		return ""
	}
	return path.Join(m.dir, rel)
}

// textOf is the vault name of a page's text; "" when there is none, or no import.
func (m *bundle) textOf(n int) string {
	if m == nil {
		return ""
	}
	return m.text(m.page(n))
}

// importedPages lists pages of a document by the note of its import: of each page its text, and its picture for a model that
// sees. overview is the document's note if it represents all pages: what people wrote around the pages is shown in its place.
func (w documentWriter) importedPages(ctx context.Context, s shown, m *bundle, overview *parsed) error {
	pages, ok := w.chosen(s, m.last())
	if !ok {
		return w.out.refuse(s, omission.Of(omission.Page), pageProblem(s, m.last()))
	}
	remarks := &remarkWriter{documentWriter: w, s: s, m: m}
	return w.out.framed(s, func() error {
		if err := remarks.above(ctx, overview); err != nil {
			return err
		}
		w.out.say("[shown: pages " + content.PageRange(pages) + " of " + strconv.Itoa(m.last()) + "]")
		for _, n := range pages {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := remarks.page(ctx, n); err != nil {
				return err
			}
		}
		return remarks.below(ctx, overview)
	})
}

func (w *remarkWriter) importedPage(ctx context.Context, n int) error {
	s, m := w.s, w.m
	p := m.page(n)
	one := &media{page: pageWords(n, m.last(), ""), parent: s.line, leaf: leaf{file: s.name, n: n, of: m.last()}}
	l := Line{Kind: KindPage, Source: Source{Note: s.name, Page: n}, Target: clipped(s.line.Target)}
	if p == nil || m.text(p) == "" && m.picture(p) == "" {
		cause, why := omission.Page, "the import has nothing of it"
		if p != nil && p.Error != "" {
			cause, why = omission.Unreadable, quoted(p.Error)
		}
		l.lose(omission.Of(cause), why)
		w.out.warn(Warning{Note: s.name, Message: fmt.Sprintf("page %d not shown: %s", n, why)})
		w.out.add(item{role: roleWords, words: "[" + one.page + ", not shown: " + why + "]"}, l)
		return nil
	}
	one.page = pageWords(n, m.last(), p.Label)
	one.pictured = m.picture(p) != "" && mode(s.input) != policy.Ignore
	told, err := w.importedText(ctx, p, one, l)
	picture := m.picture(p)
	if err != nil || picture == "" || told && !w.sees(s) {
		return err
	}
	shown := *one
	l.Name = picture
	w.out.image(&shown, picture, policy.Candidate{Mode: mode(s.input), Page: fmt.Sprintf("%s#page=%d", s.name, n)}, l)
	return nil
}

// importedText lists the text of a page, and reports whether it has any. What somebody edited in the note replaces what was read.
func (w *remarkWriter) importedText(ctx context.Context, p *bundlePage, one *media, l Line) (told bool, err error) {
	note, part, edited := w.files.edited(w.m, p.N)
	if edited {
		return w.editedText(ctx, p, note, part, one, l)
	}
	name := w.m.text(p)
	if name == "" {
		return false, nil
	}
	text, err := w.files.text(name)
	l.Name = name
	switch {
	case err != nil:
		w.out.warn(Warning{Note: w.s.name, Target: name, Message: fmt.Sprintf("text of page %d not shown: %s", p.N, reason(err))})
		if w.m.picture(p) == "" || !w.sees(w.s) {
			l.lose(omission.From(err), reason(err))
			w.out.add(item{role: roleWords, words: "[" + one.page + ", not shown: " + l.Reason + "]"}, l)
			return true, nil
		}
	case strings.TrimSpace(text) == "":
	case note != nil && part.To == 0 && w.says(text): // its id was removed, and its text is with the page before
		return true, nil
	default:
		said := *one
		said.remarks = p.remarks()
		w.pageParts(text, &said, l)
		return true, nil
	}
	return false, nil
}
