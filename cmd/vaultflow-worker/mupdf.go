//go:build worker

package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gen2brain/go-fitz"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// linked says whether MuPDF and Tesseract are part of this program.
const linked = true

// resourceStore is the most bytes of decoded pictures and fonts that MuPDF keeps. They are of use within a page; with the
// binding's own 256 MB a long scan grew to half a gigabyte, with 16 MB a worker by up to 17 % over 600 pages, with 4 MB by 3 to 7 %.
const resourceStore = 4 << 20

func mupdfVersion() string { return fitz.FzVersion }

// withMuPDF opens bytes whose kind was looked at before.
func withMuPDF(data []byte) (*fitz.Document, error) {
	fitz.MaxStore = resourceStore // read when a document is opened; there is one for each process
	return fitz.NewFromMemory(data)
}

// pdf is a document that MuPDF or PDFium opened. Several calls of MuPDF's binding end the process with code 1 when MuPDF
// raises an error; the sandbox reports that.
type pdf struct {
	doc      *fitz.Document // nil when MuPDF cannot open it
	data     []byte         // without its encryption, when a password was needed and it could be taken off
	info     extract.Document
	ocr      *reader
	cache    codeCache // folder of PDFium's machine code
	renderer string    // as asked for
	alone    bool      // no page is read for another's sake
	locked   bool      // it needed a password
	traces   traces

	why      string  // MuPDF cannot open it
	second   *pdfium // once it was needed
	noSecond error   // why it cannot be had

	besides   besides // of the page besideOf; 0 = of none
	besideOf  int
	noBesides error

	places   []placement // of the pages, once a part of one was asked for
	noPlaces error       // why there are none

	profile *layout.Profile      // of the text, once any was asked for
	tails   map[int]*layout.Tail // tables that end pages, of the pages that were read
}

// openPDF opens a document. It looks for the header itself and drops what stands before it, as mail gateways put there:
// the binding guesses from the first bytes, would take other kinds of files too, and crashes on some.
func openPDF(data []byte, o extract.Open, cache codeCache, ocr *reader) (document, error) {
	begin := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-"))
	if begin < 0 {
		return nil, &extract.Error{Code: extract.CodeNotPDF, Message: "the file does not begin like a PDF"}
	}
	p := &pdf{data: data[begin:], ocr: ocr, cache: cache, renderer: o.Renderer, alone: o.Alone, tails: map[int]*layout.Tail{}}
	pages, err := p.open(o)
	switch {
	case err != nil:
		return nil, err
	case pages <= 0:
		return nil, &extract.Error{Code: extract.CodeCorrupt, Message: "the document has no pages"}
	case pages > maxPages:
		return nil, &extract.Error{Code: extract.CodeTooLarge, Message: fmt.Sprintf("the document declares %d pages", pages)}
	}
	p.traces = findTraces(p.data)
	if p.doc != nil {
		p.info = describe(p.doc, p.data, pages)
	} else {
		p.info = p.second.describe()
	}
	p.info.Encrypted = p.info.Encrypted || p.locked
	p.info.Forms = p.info.Forms || p.second != nil && p.second.hasForm()
	p.info.WantsPDFium = p.traces != (traces{}) || p.second != nil
	if p.traces.catalog || p.second != nil {
		if second, err := p.pdfium(); err == nil {
			p.info.Language = second.language()
		}
	}
	p.explain()
	return p, nil
}

// open opens the document with MuPDF, else with PDFium, and counts the pages.
func (p *pdf) open(o extract.Open) (pages int, err error) {
	if o.WithoutMuPDF {
		return p.openSecond(errors.New("opening the document ended the worker"), nil)
	}
	doc, err := withMuPDF(p.data)
	switch {
	case errors.Is(err, fitz.ErrNeedsPassword):
		return p.unlock(o.Passwords)
	case err != nil:
		return p.openSecond(err, o.Passwords)
	}
	if pages = doc.NumPage(); pages <= 0 {
		if found, err := p.openSecond(errors.New("it finds no pages"), o.Passwords); err == nil {
			return found, nil
		}
	}
	p.doc = doc
	return pages, nil
}

// openSecond opens with PDFium what MuPDF cannot open. When that does not work either, what MuPDF said is told.
func (p *pdf) openSecond(why error, passwords []string) (pages int, err error) {
	failed := &extract.Error{Code: extract.CodeCorrupt, Message: "MuPDF cannot open the document: " + why.Error()}
	if p.renderer == extract.RenderMuPDF {
		return 0, failed
	}
	in, err := startPDFium(p.cache, true)
	if err != nil {
		failed.Message += "; " + err.Error()
		return 0, failed
	}
	second, err := openPDFium(in, p.data, passwords)
	if e, ok := errors.AsType[*extract.Error](err); ok && e.Code == extract.CodeNeedsPassword {
		return 0, e
	}
	if err != nil || second.pages == 0 {
		return 0, failed
	}
	p.second, p.why = second, "cannot_open: MuPDF cannot open the document: "+why.Error()
	return second.pages, nil
}

// unlock opens a document with one of the passwords, and gives MuPDF a copy without encryption: it takes no password.
// Whatever it then cannot do, PDFium does.
func (p *pdf) unlock(passwords []string) (pages int, err error) {
	in, err := startPDFium(p.cache, true)
	if err != nil {
		return 0, &extract.Error{Code: extract.CodeUnsupported, Message: "the document is encrypted: " + err.Error()}
	}
	if p.second, err = openPDFium(in, p.data, passwords); err != nil {
		return 0, err
	}
	p.locked = true
	open, err := p.second.unlocked()
	if err != nil {
		return p.second.pages, nil //nolint:nilerr // PDFium goes on alone
	}
	if doc, err := withMuPDF(open); err == nil && doc.NumPage() == p.second.pages {
		p.doc, p.data = doc, open
	}
	return p.second.pages, nil
}

// explain says what draws the pages and why.
func (p *pdf) explain() {
	reason := ""
	switch {
	case p.locked && p.renderer != extract.RenderMuPDF:
		reason = "password: the document opens only with one"
	case p.doc == nil:
		reason = p.why
	case p.renderer == extract.RenderPDFium:
		reason = "setting: PDFium draws all pages"
	default:
		return
	}
	p.info.Renderer, p.info.Version, p.info.Reason = extract.RenderPDFium, pdfiumVersion, reason
}

// describe collects what a document says of itself.
func describe(doc *fitz.Document, data []byte, pages int) extract.Document {
	meta := doc.Metadata()
	field := func(name string) string { return metaText(meta[name]) }
	out := extract.Document{
		Pages: pages, Title: field("title"), Author: field("author"), Subject: field("subject"), Created: metaTime(field("creationDate")),
		Renderer: "mupdf", Version: fitz.FzVersion, Encrypted: field("encryption") != "" && field("encryption") != "None",
		Tagged: bytes.Contains(data, []byte("/StructTreeRoot")), Forms: bytes.Contains(data, []byte("/AcroForm")),
	}
	entries, err := doc.ToC()
	if err != nil {
		return out // the binding calls the absence of an outline an error
	}
	for _, entry := range entries[:min(len(entries), maxOutline)] {
		page := entry.Page + 1
		if page < 1 || page > pages {
			page = 0
		}
		out.Outline = append(out.Outline, extract.OutlineItem{Level: min(max(entry.Level, 1), 100), Title: metaText(entry.Title), Page: page})
	}
	return out
}

func (p *pdf) about() extract.Document { return p.info }
