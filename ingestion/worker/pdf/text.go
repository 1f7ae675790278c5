package pdf

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker/pdfium"
)

// sampleTime is how long sampling for a profile takes before it ends early: time of the processor, so that a busy machine reads the same text.
const sampleTime = 3 * time.Second

// farthestBack is how many pages back the search for the beginning of a table goes, where they were not read before.
const farthestBack = 10

// texts reads the text of pages as Markdown. It keeps what pages share: the profile, and tables that continue.
type texts struct {
	by     *renderers
	pages  int
	titles []layout.Title // of the outline
	alone  bool           // no page is read for another's sake
	tagged bool           // the document has a structure of its own

	last    layout.Page          // that was read, as its renderer has it
	profile *layout.Profile      // nil until text is requested
	tails   map[int]*layout.Tail // tables that end pages, of the pages that were read
	damage  layout.Damage        // of the page that was read last
	compare func()               // adds what a comparison of that page finds; nil: none is due
}

func newTexts(by *renderers, info extract.Document, alone bool) *texts {
	t := &texts{by: by, pages: info.Pages, alone: alone, tagged: info.Tagged, tails: map[int]*layout.Tail{}}
	for _, item := range info.Outline {
		t.titles = append(t.titles, layout.Title{Text: item.Title, Level: item.Level, Page: item.Page})
	}
	return t
}

// read returns the text layer of a page with its form values and annotations, and who read it: PDFium where MuPDF cannot.
func (t *texts) read(n int, by choice) (*extract.PageText, choice, error) {
	var out *extract.PageText
	t.damage, t.compare = layout.Sound, nil
	if !by.pdfium {
		page, err := t.layer(n)
		t.damage = page.Damage
		if err != nil && !t.by.mayFallBack() {
			return nil, by, fmt.Errorf("read text: %w", err)
		}
		if err == nil {
			var read layout.Read
			t.last = page
			out, read = t.arranged(page, n, func() *layout.Tail { return t.tail(n-1, farthestBack) })
			t.tails[n] = read.Tail
			if page.Hidden == 0 { // PDFium would read that too
				t.comparison(n, page, read, out)
			}
			doubtDirections(page, out)
		} else {
			by = choice{true, reason{mupdfFailed, "read text: " + err.Error()}}
		}
	}
	if out == nil {
		second, err := t.by.forText()
		if err != nil {
			return nil, by, fmt.Errorf("read text: %w", err)
		}
		page, err := second.Text(n)
		if err != nil {
			return nil, by, fmt.Errorf("read text: %w", err)
		}
		t.last = page
		out, _ = t.arranged(page, n, noTable)
		doubtDirections(page, out)
		if by.reason.code == mupdfFailed {
			out.Doubts = doubt.Add(out.Doubts, doubt.Table, "the usual reader failed on this page, and the other one sees no rules of tables")
		}
	}
	if t.by.traces.annotations || t.by.mupdf == nil {
		found, err := t.by.annotationsOn(n)
		if err != nil {
			return nil, by, fmt.Errorf("read form values and annotations: %w", err)
		}
		out.Besides = found.Markdown()
	}
	return out, by, nil
}

func doubtDirections(page layout.Page, out *extract.PageText) {
	if layout.MixedDirections(page) {
		out.Doubts = doubt.Add(out.Doubts, doubt.Order, "numbers and foreign words may be misplaced in lines written from right to left")
	}
}

// comparison has doubts added where PDFium reads a page differently, once the page is drawn: PDFium starts meanwhile. It is asked only about
// pages with columns, tables, or glyphs without characters: starting it takes time, and a page of plain paragraphs has one order.
func (t *texts) comparison(n int, page layout.Page, read layout.Read, out *extract.PageText) {
	if !t.by.mayFallBack() || !read.Complex && out.Evidence.Unmapped == 0 {
		return
	}
	t.by.startPDFium()
	t.compare = func() {
		second, err := t.by.forText()
		if err != nil {
			return
		}
		text, err := second.PlainText(n)
		if err != nil {
			return
		}
		for _, d := range doubt.Compare(linesOf(page), read.Plain, text) {
			if !doubt.Has(out.Doubts, d.Code) {
				out.Doubts = doubt.Add(out.Doubts, d.Code, d.Words)
			}
		}
	}
}

// letters returns the text of a page as each renderer has it, without layout and with running heads.
func (t *texts) letters(n int) (all []string) {
	if t.by.mupdf != nil {
		if page, err := t.by.mupdf.Lines(n); err == nil {
			all = append(all, linesOf(page))
		}
	}
	if second, err := t.by.forText(); err == nil {
		if text, err := second.PlainText(n); err == nil {
			all = append(all, text)
		}
	}
	return all
}

func linesOf(page layout.Page) string {
	lines := make([]string, len(page.Lines))
	for i, l := range page.Lines {
		lines[i] = l.Text
	}
	return strings.Join(lines, "\n")
}

// tail returns the table that ends page n, or nil if none does or no other page may be read.
func (t *texts) tail(n, back int) *layout.Tail {
	if found, read := t.tails[n]; read || n < 1 || back == 0 || t.alone {
		return found
	}
	page, err := t.layer(n)
	if err != nil {
		return nil
	}
	_, read := t.arranged(page, n, func() *layout.Tail { return t.tail(n-1, back-1) })
	t.tails[n] = read.Tail
	return read.Tail
}

// tags returns the structure of a page that its document has, or nil. Only PDFium reads it.
func (t *texts) tags(n int) []layout.Tag {
	if !t.tagged {
		return nil
	}
	second, err := t.by.pdfium()
	if err != nil {
		return nil
	}
	return pdfium.Tags(second, n)
}

// layer reads the text of a page with MuPDF, and its structure.
func (t *texts) layer(n int) (layout.Page, error) {
	page, err := t.by.mupdf.Text(n)
	if err == nil {
		page.Tags = t.tags(n)
	}
	return page, err
}

// profileOf returns what the pages of the document have in common. It reads them once, and leaves out those that cannot be
// read. If no other page may be read, it is what page has alone.
func (t *texts) profileOf(page layout.Page) layout.Profile {
	if t.alone {
		return layout.NewProfile([]layout.Page{page}, t.titles)
	}
	if t.profile == nil {
		made := layout.NewProfile(t.sample(), t.titles)
		t.profile = &made
	}
	return *t.profile
}

// sample reads the pages that a profile is made of.
func (t *texts) sample() []layout.Page {
	var pages []layout.Page
	begun := used()
	for _, n := range sampled(t.pages) {
		if used()-begun > sampleTime {
			break
		}
		if t.by.mupdf == nil {
			if second, err := t.by.forText(); err == nil {
				if page, err := second.Text(n); err == nil {
					page.Number = n
					pages = append(pages, page)
				}
			}
			continue
		}
		if page, err := t.by.mupdf.Lines(n); err == nil {
			page.Number = n
			pages = append(pages, page)
		}
	}
	return pages
}

// arranged is PageText with the document's profile. A defect in finding the layout costs a page its layout, not its text.
func (t *texts) arranged(page layout.Page, n int, before func() *layout.Tail) (out *extract.PageText, read layout.Read) {
	defer func() {
		if defect := recover(); defect != nil {
			fmt.Fprintf(os.Stderr, "arrange the text of page %d: %v\n%s", n, defect, debug.Stack())
			text := linesOf(page)
			out, read = &extract.PageText{Plain: text, Markdown: text, Evidence: evidenceOf(page)}, layout.Read{}
			out.Doubts = doubt.Add(nil, doubt.Order, doubt.NoLayout)
		}
	}()
	return PageText(page, t.profileOf(page), n, before)
}

// PageText makes text and evidence of page n of a document. before returns the table that ends the page before.
func PageText(page layout.Page, profile layout.Profile, n int, before func() *layout.Tail) (*extract.PageText, layout.Read) {
	read := profile.TextAfter(page, n, before)
	out := &extract.PageText{Plain: read.Plain, Markdown: read.Markdown, Evidence: evidenceOf(page), Doubts: read.Doubts, Edges: read.Edges}
	for _, b := range read.Formulas {
		out.Formulas = append(out.Formulas, content.Rect{X1: b.X0, Y1: b.Y0, X2: b.X1, Y2: b.Y1})
	}
	return out, read
}

// noTable is used where no page before can be read.
func noTable() *layout.Tail { return nil }

// sampled lists the pages that a document's profile is made of: pairs, since left and right pages have heads of their own,
// spread evenly over the document.
func sampled(pages int) []int {
	const pairs = 6
	var out []int
	if pages <= 2*pairs {
		for n := 1; n <= pages; n++ {
			out = append(out, n)
		}
		return out
	}
	for i := range pairs {
		n := 1 + i*(pages-2)/(pairs-1)
		out = append(out, n, n+1)
	}
	return out
}
