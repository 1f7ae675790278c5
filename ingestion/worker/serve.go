// Package worker is the inside of vaultflow-worker: it reads requests, has one document answer them, and writes frames of
// package extract. The documents themselves are in the packages pdf and picture. The rights that a process drops before it reads
// one are in package confine.
package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Document is an open file of any kind. Pages are counted from 1. It is used by one goroutine.
type Document interface {
	About() extract.Document
	Page(ctx context.Context, r extract.PageRequest) (extract.Page, error)
}

// Cutter is a document that can be reduced to some of its pages.
type Cutter interface {
	Cut(pages []int) (extract.Cut, error)
}

// Attacher is a document to which files are attached.
type Attacher interface {
	Attached(n int) ([]byte, error)
}

// Server answers the requests for one document.
type Server struct {
	Hello extract.Hello
	Open  func(data []byte, o extract.Open) (Document, error)
	FD    uintptr // where the document is handed over, see extract.Receive
}

// Run says hello, opens the document and answers requests one after the other until the input ends. It uses the document and
// its libraries from this goroutine alone.
func (s Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := extract.Encode(out, s.Hello); err != nil {
		return err
	}
	var doc Document
	for message := range receive(in) {
		var answer any
		switch m := message.(type) {
		case error:
			return m
		case extract.Open:
			answer, doc = s.open(m)
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

// receive reads requests ahead. When the input ends, so does the process, even in the middle of a page: nobody waits for the
// answer.
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

// maxDocument is the most bytes of a document: the binding to MuPDF counts in 32 bits. The daemon's own limit is lower.
const maxDocument = 1<<31 - 1

func tooLarge(size int64) error {
	return &extract.Error{Code: failure.TooLarge, Message: fmt.Sprintf("a file of %d bytes; %d is the most", size, maxDocument)}
}

func (s Server) open(o extract.Open) (any, Document) {
	fd, err := extract.Receive(s.FD)
	if err != nil {
		return reported(err, 0, failure.Corrupt), nil
	}
	data, err := documentBytes(fd)
	if err != nil {
		return reported(fmt.Errorf("the file could not be read: %w", err), 0, failure.Corrupt), nil
	}
	doc, err := s.Open(data, o)
	if err != nil {
		return reported(err, 0, failure.Corrupt), nil
	}
	return doc.About(), doc
}

func answerPage(ctx context.Context, doc Document, r extract.PageRequest) any {
	if doc == nil {
		return &extract.Error{Code: failure.Unsupported, Message: "no document is open", Page: r.N}
	}
	if pages := doc.About().Pages; r.N < 1 || r.N > pages {
		return &extract.Error{Code: failure.PageFailed, Message: fmt.Sprintf("there are only %d pages", pages), Page: r.N}
	}
	page, err := doc.Page(ctx, withDefaults(r))
	if err != nil {
		return reported(err, r.N, failure.PageFailed)
	}
	if n := page.TextBytes(); n > extract.MaxText {
		return &extract.Error{Code: failure.TooLarge, Page: r.N, Message: fmt.Sprintf("the page has %d MB of text, at most %d are read", n>>20, extract.MaxText>>20)}
	}
	return page
}

func answerCut(doc Document, r extract.CutRequest) any {
	if r.Attached > 0 {
		return answerAttached(doc, r.Attached)
	}
	c, ok := doc.(Cutter)
	if !ok {
		return &extract.Error{Code: failure.Unsupported, Message: "the document cannot be cut into pages"}
	}
	if last, pages := r.Pages[len(r.Pages)-1], doc.About().Pages; last > pages {
		return &extract.Error{Code: failure.PageFailed, Message: fmt.Sprintf("there are only %d pages", pages), Page: last}
	}
	made, err := c.Cut(r.Pages)
	if err != nil {
		return reported(err, 0, failure.Unsupported)
	}
	return made
}

func answerAttached(doc Document, n int) any {
	a, ok := doc.(Attacher)
	if !ok || n > len(doc.About().Attached) {
		return &extract.Error{Code: failure.Unsupported, Message: "there is no such attached file"}
	}
	data, err := a.Attached(n)
	switch {
	case err != nil:
		return reported(err, 0, failure.Unsupported)
	case len(data) > extract.MaxPicture:
		return &extract.Error{Code: failure.TooLarge, Message: fmt.Sprintf("the attached file has %d MB, at most %d are read", len(data)>>20, extract.MaxPicture>>20)}
	case len(data) == 0:
		return &extract.Error{Code: failure.Unsupported, Message: "the attached file is empty"}
	}
	return extract.Cut{MediaType: extract.MediaAttached, Bytes: data}
}

// reported returns an error in the form in which it is sent.
func reported(err error, page int, otherwise failure.Code) *extract.Error {
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
