package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// document is an opened file of any kind. Pages are counted from 1.
type document interface {
	about() extract.Document
	page(ctx context.Context, r extract.PageRequest) (extract.Page, error)
}

// cutter is a document that can be cut down to some of its pages.
type cutter interface {
	cut(pages []int) (extract.Cut, error)
}

// serveFrames says hello, opens the document and answers requests one after the other until the input ends. MuPDF and
// Tesseract are only ever called from here, by one goroutine.
func serveFrames(ctx context.Context, o options, in io.Reader, out io.Writer, fd uintptr) error {
	if err := extract.Encode(out, hello(o)); err != nil {
		return err
	}
	requests := receive(in)
	ocr := newReader(o.tessdata)
	defer ocr.close()
	var doc document
	for message := range requests {
		var answer any
		switch m := message.(type) {
		case error:
			return m
		case extract.Open:
			answer, doc = open(m, fd, o.code, ocr)
		case extract.PageRequest:
			answer = answerPage(ctx, doc, m)
		case extract.CutRequest:
			answer = answerCut(doc, m)
		default:
			return fmt.Errorf("unexpected %T", m)
		}
		if err := extract.Encode(out, answer); err != nil {
			return err
		}
	}
	return nil
}

// receive reads requests ahead. When the input ends the process does, in the midst of a page too: whoever asked is gone.
func receive(in io.Reader) <-chan any {
	requests := make(chan any)
	go func() {
		for {
			message, err := extract.Decode(in)
			if errors.Is(err, io.EOF) {
				os.Exit(0)
			}
			if err != nil {
				requests <- err
				return
			}
			requests <- message
		}
	}()
	return requests
}

// maxDocument is the most bytes of a document; the binding to MuPDF counts in 32 bits. The daemon's own limit is lower.
const maxDocument = 1<<31 - 1

func tooLarge(size int64) error {
	return &extract.Error{Code: extract.CodeTooLarge, Message: fmt.Sprintf("a file of %d bytes; %d is the most", size, maxDocument)}
}

func open(o extract.Open, fd uintptr, cache codeCache, ocr *reader) (any, document) {
	data, err := documentBytes(fd)
	if err != nil {
		return failure(fmt.Errorf("the file could not be read: %w", err), 0, extract.CodeCorrupt), nil
	}
	var doc document
	switch o.Kind {
	case extract.KindPDF:
		doc, err = openPDF(data, o, cache, ocr)
	default:
		doc, err = openPicture(data, ocr)
	}
	if err != nil {
		return failure(err, 0, extract.CodeCorrupt), nil
	}
	return doc.about(), doc
}

func answerPage(ctx context.Context, doc document, r extract.PageRequest) any {
	if doc == nil {
		return &extract.Error{Code: extract.CodeUnsupported, Message: "no document is open", Page: r.N}
	}
	if pages := doc.about().Pages; r.N < 1 || r.N > pages {
		return &extract.Error{Code: extract.CodePageFailed, Message: fmt.Sprintf("there are only %d pages", pages), Page: r.N}
	}
	page, err := doc.page(ctx, withDefaults(r))
	if err != nil {
		return failure(err, r.N, extract.CodePageFailed)
	}
	if n := page.TextBytes(); n > extract.MaxText {
		return &extract.Error{Code: extract.CodeTooLarge, Page: r.N, Message: fmt.Sprintf("the page has %d MB of text, at most %d are read", n>>20, extract.MaxText>>20)}
	}
	return page
}

func answerCut(doc document, r extract.CutRequest) any {
	c, ok := doc.(cutter)
	if !ok {
		return &extract.Error{Code: extract.CodeUnsupported, Message: "the document cannot be cut into pages"}
	}
	if last, pages := r.Pages[len(r.Pages)-1], doc.about().Pages; last > pages {
		return &extract.Error{Code: extract.CodePageFailed, Message: fmt.Sprintf("there are only %d pages", pages), Page: last}
	}
	made, err := c.cut(r.Pages)
	if err != nil {
		return failure(err, 0, extract.CodeUnsupported)
	}
	return made
}

// failure gives an error the form in which it travels.
func failure(err error, page int, otherwise string) *extract.Error {
	if e, ok := errors.AsType[*extract.Error](err); ok {
		e.Page = page
		return e
	}
	return &extract.Error{Code: otherwise, Message: err.Error(), Page: page}
}

func withDefaults(r extract.PageRequest) extract.PageRequest {
	if r.DPI <= 0 {
		r.DPI = 150
	}
	if r.OCRDPI <= 0 {
		r.OCRDPI = 200
	}
	if r.MaxSide <= 0 {
		r.MaxSide = 2000
	}
	if r.MaxPixels <= 0 || r.MaxPixels > 100_000_000 {
		r.MaxPixels = 40_000_000
	}
	if len(r.Languages) == 0 {
		r.Languages = []string{"eng"}
	}
	return r
}
