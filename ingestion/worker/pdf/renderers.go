package pdf

import (
	"errors"
	"fmt"
	"image"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker/pdfium"
)

// ErrNeedsPassword is returned by MuPDF for a document that opens only with a password.
var ErrNeedsPassword = errors.New("the document needs a password")

// Renderer reads and draws the pages of an open document, counted from 1. Sizes are in points, of the page as displayed.
type Renderer interface {
	Describe() extract.Document
	Size(n int) (width, height float64, err error)
	// Label returns the number that is printed on a page, if the catalog has it, or "".
	Label(n int) string
	Text(n int) (layout.Page, error)
	// Draw returns a picture that the next one may overwrite.
	Draw(n int, width, height, dpi float64) (*image.RGBA, error)
}

// MuPDF is the renderer that is used first.
type MuPDF interface {
	Renderer
	// Picture draws a page as Draw does, in grey unless colour is wanted, and reports whether anything on the page has a colour, and what of it
	// is damaged.
	Picture(n int, dpi float64, colour bool) (_ image.Image, coloured bool, _ layout.Damage, err error)
	Pages() int
	// Lines reads the text of a page without the exact places of its letters.
	Lines(n int) (layout.Page, error)
	// Forget makes the next page look as if it were the first to be drawn: tiles of patterns are kept otherwise. It is slow.
	Forget()
}

var _ Renderer = (*pdfium.Document)(nil)

// reason is why a page was not drawn by MuPDF. It is recorded as its code, a colon and the detail.
type reason struct{ code, detail string }

// Codes of reasons.
const (
	badFont      = extract.NoFont  // text that no font of this system draws
	cannotOpen   = "cannot_open"   // MuPDF cannot open the document
	hasForm      = "form"          // the page has fields
	hasMarks     = "annotations"   // the page has annotations that are drawn
	mupdfFailed  = "mupdf_failed"  // MuPDF failed
	missingFonts = "fonts"         // MuPDF neither draws nor understands text whose fonts are not in the file
	pdfiumFailed = "pdfium_failed" // PDFium failed
	unlocked     = "password"      // the document opened with a password
	wanted       = "setting"       // the settings say so
)

func (r reason) String() string {
	if r.code == "" {
		return ""
	}
	return r.code + ": " + r.detail
}

// choice is the renderer of a page, and why it is not MuPDF.
type choice struct {
	pdfium bool
	reason reason
}

func (c choice) renderer() string {
	if c.pdfium {
		return extract.RenderPDFium
	}
	return extract.RenderMuPDF
}

// renderers opens a document with both libraries, PDFium only when it is needed, and decides which one draws a page.
type renderers struct {
	libraries Libraries
	setting   string // of extract.Open
	data      []byte // without its encryption, if a password was needed and it could be removed
	traces    traces
	why       reason // the whole document is drawn by PDFium

	mupdf    MuPDF            // nil when MuPDF cannot open it
	coloured bool             // the page that was drawn last for its picture had a colour; at first, whether pictures have one
	damage   layout.Damage    // of the page that was drawn last for its picture
	starting chan start       // PDFium, from when it is known to be needed
	second   *pdfium.Document // nil until it is needed
	noSecond error            // why it cannot be opened

	letters *pdfium.Document // see forText

	annotations   pdfium.Annotations // of the page annotationsOf
	annotationsOf int                // 0 = of none
	noAnnotations error
}

// open opens the document with MuPDF, else with PDFium, and counts the pages.
func (r *renderers) open(o extract.Open) (pages int, err error) {
	if o.WithoutMuPDF {
		return r.openSecond(errors.New("opening the document ended the worker"), nil)
	}
	doc, err := r.libraries.MuPDF(r.data)
	switch {
	case errors.Is(err, ErrNeedsPassword):
		return r.unlock(o.Passwords)
	case err != nil:
		return r.openSecond(err, o.Passwords)
	}
	if pages = doc.Pages(); pages <= 0 {
		return r.openSecond(errors.New("it finds no pages"), o.Passwords)
	}
	r.mupdf = doc
	return pages, nil
}

// openSecond opens with PDFium what MuPDF cannot open. If that fails too, the error names the fault of the file.
func (r *renderers) openSecond(why error, passwords []string) (pages int, err error) {
	failed := &extract.Error{Code: failure.Corrupt, Message: "the PDF " + r.unreadable()}
	if r.setting == extract.RenderMuPDF {
		return 0, failed
	}
	in, err := pdfium.Start(r.libraries.Code, true)
	if err != nil {
		failed.Message += "; " + err.Error()
		return 0, failed
	}
	second, err := pdfium.Open(in, r.data, passwords)
	if e, ok := errors.AsType[*extract.Error](err); ok && e.Code == failure.NeedsPassword {
		return 0, e
	}
	if err != nil || second.Pages() == 0 {
		return 0, failed
	}
	r.second, r.why = second, reason{cannotOpen, "MuPDF cannot open the document: " + why.Error()}
	return second.Pages(), nil
}

// unreadable describes a file that no renderer opens.
func (r *renderers) unreadable() string {
	if newLosses(r.data).cutOff {
		return "is cut off before its first page can be found"
	}
	return "is damaged: no page of it can be found"
}

// unlock opens a document with one of the passwords. MuPDF takes no password: it gets a copy without encryption. PDFium does
// what MuPDF then cannot.
func (r *renderers) unlock(passwords []string) (pages int, err error) {
	in, err := pdfium.Start(r.libraries.Code, true)
	if err != nil {
		return 0, &extract.Error{Code: failure.Unsupported, Message: "the document is encrypted: " + err.Error()}
	}
	if r.second, err = pdfium.Open(in, r.data, passwords); err != nil {
		return 0, err
	}
	r.why = reason{unlocked, "the document opens only with one"}
	plain, err := r.second.Unlocked()
	if err != nil {
		return r.second.Pages(), nil //nolint:nilerr // PDFium works alone
	}
	if doc, err := r.libraries.MuPDF(plain); err == nil && doc.Pages() == r.second.Pages() {
		r.mupdf, r.data = doc, plain
	}
	return r.second.Pages(), nil
}

// reader returns MuPDF, or PDFium if only that opens the document.
func (r *renderers) reader() Renderer {
	if r.mupdf != nil {
		return r.mupdf
	}
	return r.second
}

// locked reports whether the document needed a password.
func (r *renderers) locked() bool { return r.why.code == unlocked }

// standing returns the renderer of pages that do not need the other one.
func (r *renderers) standing() choice {
	switch {
	case r.locked() && r.setting != extract.RenderMuPDF, r.mupdf == nil:
		return choice{true, r.why}
	case r.setting == extract.RenderPDFium:
		return choice{true, reason{wanted, "PDFium draws all pages"}}
	}
	return choice{}
}

// choose decides who draws a page. MuPDF is twice as fast; PDFium draws what MuPDF's binding does not. other asks for the one
// that would not be chosen, after that one ended the worker.
func (r *renderers) choose(n int, other bool) choice {
	if c := r.standing(); r.mupdf == nil || r.setting == extract.RenderPDFium || r.setting == extract.RenderMuPDF {
		return c
	}
	c := r.preferred(n)
	switch {
	case !other:
		return c
	case c.pdfium:
		return choice{false, reason{pdfiumFailed, c.reason.String()}}
	}
	return choice{true, reason{mupdfFailed, "it ended the worker or took too long on this page"}}
}

func (r *renderers) preferred(n int) choice {
	if r.locked() {
		return choice{true, r.why}
	}
	if !r.traces.annotations && !r.traces.wide {
		return choice{}
	}
	second, err := r.pdfium()
	if err != nil {
		return choice{false, reason{pdfiumFailed, err.Error()}}
	}
	if found, err := r.annotationsOn(n); err == nil && found.FieldCount() > 0 {
		return choice{true, reason{hasForm, fmt.Sprintf("%d fields", found.FieldCount())}}
	} else if err == nil && found.Marks > 0 {
		return choice{true, reason{hasMarks, fmt.Sprint(found.Marks)}}
	}
	if r.traces.wide && second.NeedsFonts(n) {
		return choice{true, reason{missingFonts, "Chinese, Japanese or Korean text without its fonts"}}
	}
	return choice{}
}

// annotationsOn returns the form values and annotations of a page. They are kept for the next request, which is for the same
// page.
func (r *renderers) annotationsOn(n int) (pdfium.Annotations, error) {
	if r.annotationsOf == n {
		return r.annotations, r.noAnnotations
	}
	second, err := r.pdfium()
	if err == nil {
		r.annotations, err = second.Annotations(n)
	}
	r.annotationsOf, r.noAnnotations = n, err
	return r.annotations, err
}

// start is PDFium, or why it could not be started.
type start struct {
	in  pdfium.Instance
	err error
}

// startPDFium starts PDFium for a document that is not encrypted, and does not wait for it.
func (r *renderers) startPDFium() {
	if r.starting != nil || r.second != nil {
		return
	}
	r.starting = make(chan start, 1)
	go func() {
		in, err := pdfium.Start(r.libraries.Code, r.traces.wide)
		r.starting <- start{in, err}
	}()
}

// pdfium opens the document with PDFium, once.
func (r *renderers) pdfium() (*pdfium.Document, error) {
	if r.second == nil && r.noSecond == nil {
		r.startPDFium()
		got := <-r.starting
		if r.noSecond = got.err; got.err == nil {
			r.second, r.noSecond = pdfium.Open(got.in, r.data, nil)
		}
	}
	return r.second, r.noSecond
}

// forText returns the document from which PDFium reads text. Once it has drawn with the fonts of the system, it reads text whose fonts are not in
// the file differently, so a document that may have such text is opened twice, if there is memory for it.
func (r *renderers) forText() (*pdfium.Document, error) {
	second, err := r.pdfium()
	if err != nil || !r.traces.wide {
		return second, err
	}
	if r.letters == nil {
		r.letters = second
		if in, err := pdfium.Start(r.libraries.Code, true); err == nil {
			if again, err := second.OpenIn(in); err == nil {
				r.letters = again
			}
		}
	}
	return r.letters, nil
}

// mayFallBack reports whether the other renderer may do what one cannot.
func (r *renderers) mayFallBack() bool { return r.setting == "" || r.setting == extract.RenderAuto }

// size returns the size of a page as displayed, in points.
func (r *renderers) size(n int, by choice) (width, height float64, err error) {
	if !by.pdfium || !r.mayFallBack() && r.mupdf != nil {
		width, height, err := r.mupdf.Size(n)
		if err == nil {
			return clampPt(width), clampPt(height), nil
		}
		if !r.mayFallBack() {
			return 0, 0, err
		}
	}
	second, err := r.pdfium()
	if err != nil {
		return 0, 0, err
	}
	width, height, err = second.Size(n)
	return clampPt(width), clampPt(height), err
}

// draw draws a page with the chosen renderer, or with the other one if that fails. It returns which one did.
func (r *renderers) draw(n int, width, height, dpi float64, by choice) (*image.RGBA, choice, error) {
	img, err := r.drawBy(n, width, height, dpi, by)
	if err == nil || !r.mayFallBack() || by.pdfium && r.mupdf == nil {
		return img, by, err
	}
	instead := choice{!by.pdfium, reason{by.renderer() + "_failed", err.Error()}}
	img, again := r.drawBy(n, width, height, dpi, instead)
	if again != nil {
		return nil, by, errors.Join(err, again)
	}
	return img, instead, nil
}

// picture draws a page as draw does, in grey if nothing on it has a colour. That is known afterwards, so the page is expected to be like the
// last one, and drawn again if it is not.
func (r *renderers) picture(n int, width, height, dpi float64, by choice) (image.Image, choice, error) {
	r.damage = layout.Sound
	for again := 0; !by.pdfium && again < 2; again++ {
		r.forget()
		img, coloured, damage, err := r.mupdf.Picture(n, dpi, r.coloured)
		if err != nil {
			break // draw may know another way
		}
		r.damage = damage
		if coloured == r.coloured {
			return img, by, nil
		}
		r.coloured = coloured
	}
	return r.draw(n, width, height, dpi, by)
}

// forget makes MuPDF draw as if nothing had been drawn, where that makes a difference.
func (r *renderers) forget() {
	if r.traces.patterns {
		r.mupdf.Forget()
	}
}

func (r *renderers) drawBy(n int, width, height, dpi float64, by choice) (*image.RGBA, error) {
	if !by.pdfium {
		r.forget()
		return r.mupdf.Draw(n, width, height, dpi)
	}
	second, err := r.pdfium()
	if err != nil {
		return nil, err
	}
	return second.Draw(n, width, height, dpi)
}

// clampPt keeps the size of a page within what a PDF can mean.
func clampPt(v float64) float64 {
	if !(v > 0) { // NaN too
		return 0
	}
	return min(v, 1<<20)
}
