package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// seat holds a worker session for one goroutine: started when it is needed, replaced when it died.
type seat struct {
	w       *work
	open    extract.Open
	file    func() (fs.File, error) // the document when it is not the job's file
	session Session
}

// begin opens the document in a new session, once.
func (s *seat) begin(ctx context.Context) (Session, extract.Document, error) {
	if s.file == nil {
		return s.w.im.Worker.Start(ctx, s.w.job.at(), s.open)
	}
	file, err := s.file()
	if err != nil {
		return nil, extract.Document{}, err
	}
	defer file.Close()
	return s.w.im.Worker.StartFile(ctx, file, s.open)
}

// start opens the document in a new session. A worker that died or timed out is tried once more: that may have been
// the machine's fault.
func (s *seat) start(ctx context.Context) (extract.Document, error) {
	var first error
	for range 3 {
		session, doc, err := s.begin(ctx)
		if err == nil {
			s.session = session
			return doc, nil
		}
		if first == nil {
			first = err
		}
		if s.avoidMuPDF(ctx, err) {
			continue
		}
		if e, ok := errors.AsType[*extract.Error](err); !ok || !deadly(e.Code) || ctx.Err() != nil || s.open.WithoutMuPDF {
			if !ok && !s.w.im.exists(s.w.job.at()) {
				return extract.Document{}, fault.Permanent(failure.Cancelled, "", "%s was removed before it was read", s.w.job.Source)
			}
			return extract.Document{}, opening(err)
		}
	}
	return extract.Document{}, opening(first)
}

// avoidMuPDF lets the next attempt open a PDF without MuPDF, and says whether there is one: MuPDF ends the worker when it
// does not find its way in a document.
func (s *seat) avoidMuPDF(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*extract.Error](err)
	if !ok || ctx.Err() != nil || s.open.Kind != extract.KindPDF || s.open.WithoutMuPDF || s.open.Renderer == extract.RenderMuPDF {
		return false
	}
	s.open.WithoutMuPDF = e.Code == failure.Crashed || e.Code == failure.Corrupt && e.Aborted
	return s.open.WithoutMuPDF
}

// reopening tells why a document that has been opened before could not be opened again. A worker that dies or times
// out of it now dies of the machine's load: the pages that have a record stay, and another attempt goes on with them.
func reopening(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != failure.Timeout && e.Code != failure.Worker && e.Code != failure.TooLarge {
		return err
	}
	again := *e
	again.Transient = true
	again.Message = "the document could be opened before and cannot now: " + e.Message
	again.Remedy = "wait, or free memory; the import goes on with the pages that are missing"
	return &again
}

// deadly says whether opening may go better in a fresh session.
func deadly(code failure.Code) bool {
	switch code {
	case failure.Timeout, failure.Crashed, failure.Memory:
		return true
	}
	return false
}

// leave ends the session. What it says about its end is of no use any more.
func (s *seat) leave() {
	if s.session != nil {
		_ = s.session.Close() // every page has been received or given up
		s.session = nil
	}
}

// pageFault is an error that concerns one page: the others go on.
type pageFault struct {
	code    failure.Code
	message string
}

// Error says what happened to the page.
func (e *pageFault) Error() string { return e.message }

// ask requests something of a page. After a failure it asks once more, at half the resolution and in a fresh session, which
// looks at no other page when it was text that was asked for: headings are told by samples of the whole document, and one
// page that ends the worker would cost all of them their text.
// The error is a *pageFault, or one that ends the import.
func (s *seat) ask(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	var first *pageFault
	for {
		page, err := s.once(ctx, r)
		if err == nil {
			return page, nil
		}
		fault, ok := errors.AsType[*pageFault](err)
		switch {
		case !ok:
			return extract.Page{}, err
		case first != nil:
			return extract.Page{}, &pageFault{first.code, first.message + "; again at half the resolution: " + fault.message}
		case fault.code == failure.Unsupported:
			return extract.Page{}, fault
		}
		first = fault
		s.leave()
		s.open.Alone = s.open.Alone || r.Text && deadly(fault.code)
		r = halved(r)
		r.Other = fault.code != failure.Memory // the other renderer takes more
	}
}

// halved asks for the same at half the resolution, of the other renderer where the worker has the choice. The caps are
// halved too: on large pages, and for pictures, which have no dpi, it is they that decide.
func halved(r extract.PageRequest) extract.PageRequest {
	r.DPI, r.OCRDPI, r.Other = r.DPI/2, r.OCRDPI/2, true
	if r.Image || r.OCR {
		r.MaxSide, r.MaxPixels = r.MaxSide/2, r.MaxPixels/4
	}
	return r
}

func (s *seat) once(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	if err := ctx.Err(); err != nil {
		return extract.Page{}, err
	}
	if s.session == nil {
		if _, err := s.start(ctx); err != nil {
			return extract.Page{}, reopening(err)
		}
	}
	page, err := s.session.Page(ctx, r)
	switch {
	case ctx.Err() != nil:
		return extract.Page{}, ctx.Err()
	case err == nil && page.N == r.N:
		return page, nil
	case err == nil:
		err = fmt.Errorf("the worker answered with page %d", page.N)
	}
	if e, ok := errors.AsType[*extract.Error](err); ok {
		if e.Code == failure.WorkerMissing || e.Code == failure.Unconfined {
			s.leave()
			return extract.Page{}, opening(err)
		}
		if e.Code == failure.TooMuch {
			s.leave()
			return extract.Page{}, fault.Permanent(failure.TooLarge, "the document may be an attack on the reader; if you know where it comes from, print it to a new PDF and drop that",
				"page %d ends the import: %s", r.N, plain(e.Message, string(e.Code)))
		}
		if e.Code != failure.Unsupported {
			s.leave() // it may be dead, and a fresh one is asked for anyway
		}
		return extract.Page{}, &pageFault{e.Code, plain(e.Message, string(e.Code))}
	}
	s.leave()
	return extract.Page{}, &pageFault{failure.Crashed, plain(err.Error(), string(failure.Crashed))}
}

// plain is a worker's message, fit to be shown: one line, bounded.
func plain(message, otherwise string) string {
	if message = markdown.OneLine(message, 300); message == "" {
		return otherwise
	}
	return message
}
