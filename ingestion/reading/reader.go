// Package reading asks worker processes for the pages of a document. It replaces a worker that dies, tries again with less, and
// separates errors of one page from those that end an import.
package reading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/attempts"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// Worker starts worker sessions. It opens the vault file with this name for the worker, which never sees the name. An error
// about the document is an *extract.Error; any other error means that no worker could be started. Several goroutines call
// Start.
type Worker interface {
	// Prepare has so many workers wait for a document, and returns at once.
	Prepare(n int)
	Start(ctx context.Context, name string, o extract.Open) (Session, extract.Document, error)
	// StartFile is Start with an open file of a bundle. The caller closes it.
	StartFile(ctx context.Context, file fs.File, o extract.Open) (Session, extract.Document, error)
	// StartData is Start with bytes that are no file, such as a picture inside a document.
	StartData(ctx context.Context, data []byte, o extract.Open) (Session, extract.Document, error)
}

// Session is one worker process with one open document, used by one goroutine at a time. After a time-out or a crash it is dead,
// and only Close may be called, which is allowed in any state.
type Session interface {
	Page(ctx context.Context, r extract.PageRequest) (extract.Page, error)
	// Attached returns a file that is attached to the document, counted from 1.
	Attached(ctx context.Context, n int) ([]byte, error)
	Close() error
}

// Reader reads one document for one goroutine. It starts a session when it needs one, and replaces one that died.
type Reader struct {
	Worker Worker
	Source string // name under which the document arrived, for messages
	Name   string // vault name of the document
	Exists func(name string) bool
	Open   extract.Open
	File   func() (fs.File, error) // opens the document if it is not a file of the vault; may be nil
	Data   []byte                  // the document if it is no file; may be nil
	SHA256 string                  // of the document, by which the deaths of its workers are counted
	Deaths *attempts.Log

	session Session
}

// piece names the requested part of a page, for the count of deaths.
func (r *Reader) piece(q extract.PageRequest) string {
	what := "draw"
	switch {
	case q.OCR:
		what = "recognise"
	case q.Text:
		what = "text"
	}
	return attempts.Piece(r.SHA256, q.N, what)
}

// opened names the opening of the document, likewise.
func (r *Reader) opened() string { return attempts.Piece(r.SHA256, 0, "open") }

// begin opens the document in a new session, once.
func (r *Reader) begin(ctx context.Context) (Session, extract.Document, error) {
	switch {
	case r.Data != nil:
		return r.Worker.StartData(ctx, r.Data, r.Open)
	case r.File == nil:
		return r.Worker.Start(ctx, r.Name, r.Open)
	}
	file, err := r.File()
	if err != nil {
		return nil, extract.Document{}, err
	}
	defer file.Close()
	return r.Worker.StartFile(ctx, file, r.Open)
}

// Start opens the document in a new session. If the worker dies or times out, it tries once more: that may have been the
// machine's fault.
func (r *Reader) Start(ctx context.Context) (extract.Document, error) {
	var first error
	for range 3 {
		if r.Deaths.Aside(ctx, r.opened()) {
			return extract.Document{}, fault.Permanent(failure.Crashed, again, "the document is put aside: %d workers were ended from outside while they opened it", attempts.Most)
		}
		session, doc, err := r.begin(ctx)
		if err == nil {
			r.session = session
			r.Deaths.Done(ctx, r.opened())
			return doc, nil
		}
		if fromOutside(err) && ctx.Err() == nil {
			r.Deaths.Died(ctx, r.opened())
			continue
		}
		if first == nil {
			first = err
		}
		if r.avoidMuPDF(ctx, err) {
			continue
		}
		if e, ok := errors.AsType[*extract.Error](err); !ok || !deadly(e.Code) || ctx.Err() != nil || r.Open.WithoutMuPDF {
			if !ok && !r.Exists(r.Name) {
				return extract.Document{}, fault.Permanent(failure.Cancelled, "", "%s was removed before it was read", r.Source)
			}
			return extract.Document{}, opening(err)
		}
	}
	return extract.Document{}, opening(first)
}

// avoidMuPDF makes the next attempt open a PDF without MuPDF, and reports whether that is worth trying: MuPDF ends the worker on
// documents that it cannot parse.
func (r *Reader) avoidMuPDF(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*extract.Error](err)
	if !ok || ctx.Err() != nil || r.Open.Kind != extract.KindPDF || r.Open.WithoutMuPDF || r.Open.Renderer == extract.RenderMuPDF {
		return false
	}
	r.Open.WithoutMuPDF = e.Code == failure.Crashed || e.Code == failure.Corrupt && e.Aborted
	return r.Open.WithoutMuPDF
}

// deadly reports whether opening may succeed in a fresh session.
func deadly(code failure.Code) bool {
	switch code {
	case failure.Timeout, failure.Crashed, failure.Memory:
		return true
	}
	return false
}

// Close ends the session, if there is one.
func (r *Reader) Close() {
	if r.session != nil {
		_ = r.session.Close() // every page has been received or given up
		r.session = nil
	}
}

// again is what to do about work that is put aside.
const again = "free memory, then retry the import: vaultflow import --status lists its id, vaultflow import --retry ID tries again"

// fromOutside reports whether something other than the document ended the worker.
func fromOutside(err error) bool {
	e, ok := errors.AsType[*extract.Error](err)
	return ok && e.Outside
}

// PageError is an error of one page. The import continues with the others.
type PageError struct {
	Code    failure.Code
	Message string
	Aside   bool // nothing was tried: the page is put aside
	outside bool // the page is not known to be its cause
}

// Failed returns the error of a page that cannot be read or kept.
func Failed(code failure.Code, format string, args ...any) *PageError {
	return &PageError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns what happened to the page.
func (e *PageError) Error() string { return e.Message }

// PageErrorOf returns the page's error in a chain, or nil if there is none.
func PageErrorOf(err error) *PageError {
	e, _ := errors.AsType[*PageError](err)
	return e
}

// Page requests parts of a page. A worker that was ended from outside is replaced, and nothing is given up for that: but a page
// during which this happened twice is put aside, also by later imports of the document. If the page itself fails, Page asks once more
// in a fresh session, at half the resolution, and reports what the answer lacks. That session
// reads no other page if text was requested: headings are found by sampling the whole document, so a page that ends the worker
// would cost all other pages their text. The error is a *PageError, or one that ends the import.
func (r *Reader) Page(ctx context.Context, q extract.PageRequest) (extract.Page, error) {
	piece := r.piece(q)
	var first *PageError
	for {
		if r.Deaths.Aside(ctx, piece) {
			aside := Failed(failure.Crashed, "put aside, because %d workers were ended from outside while they read it; %s", attempts.Most, again)
			aside.Aside = true
			return extract.Page{}, aside
		}
		page, err := r.once(ctx, q)
		if err == nil {
			if first != nil && (q.Image || q.OCR) {
				page.Lacks = "made at half the resolution (" + first.Message + ")"
			}
			r.Deaths.Done(ctx, piece)
			return page, nil
		}
		bad := PageErrorOf(err)
		switch {
		case bad == nil:
			return extract.Page{}, err
		case bad.outside:
			r.Deaths.Died(ctx, piece)
			r.Close()
			continue
		case first != nil:
			return extract.Page{}, Failed(first.Code, "%s; again at half the resolution: %s", first.Message, bad.Message)
		case bad.Code == failure.Unsupported:
			return extract.Page{}, bad
		}
		first = bad
		r.Close()
		r.Open.Alone = r.Open.Alone || q.Text && deadly(bad.Code)
		q = halved(q)
		q.Other = bad.Code != failure.Memory // the other renderer needs more memory
	}
}

// Attached returns a file that is attached to the document, counted from 1. An error that does not end the import is a *PageError.
func (r *Reader) Attached(ctx context.Context, n int) ([]byte, error) {
	if r.session == nil {
		if _, err := r.Start(ctx); err != nil {
			return nil, reopening(err)
		}
	}
	data, err := r.session.Attached(ctx, n)
	if err == nil || ctx.Err() != nil {
		return data, errors.Join(err, ctx.Err())
	}
	if e, ok := errors.AsType[*extract.Error](err); ok && !e.Ends() {
		return nil, Failed(e.Code, "%s", Plain(e.Message, string(e.Code)))
	}
	r.Close()
	return nil, Failed(failure.Crashed, "%s", Plain(err.Error(), string(failure.Crashed)))
}

// halved returns the same request at half the resolution, for the other renderer if the worker may choose. The limits are halved
// too: they decide the size of large pages, and of pictures, which have no dpi.
func halved(q extract.PageRequest) extract.PageRequest {
	q.DPI, q.OCRDPI, q.Other = q.DPI/2, q.OCRDPI/2, true
	if q.Image || q.OCR {
		q.MaxSide, q.MaxPixels = q.MaxSide/2, q.MaxPixels/4
	}
	return q
}

func (r *Reader) once(ctx context.Context, q extract.PageRequest) (extract.Page, error) {
	if err := ctx.Err(); err != nil {
		return extract.Page{}, err
	}
	if r.session == nil {
		if _, err := r.Start(ctx); err != nil {
			return extract.Page{}, reopening(err)
		}
	}
	page, err := r.session.Page(ctx, q)
	switch {
	case ctx.Err() != nil:
		return extract.Page{}, ctx.Err()
	case err == nil && page.N == q.N:
		return page, nil
	case err == nil:
		err = fmt.Errorf("the worker answered with page %d", page.N)
	}
	e, ok := errors.AsType[*extract.Error](err)
	if !ok {
		r.Close()
		return extract.Page{}, Failed(failure.Crashed, "%s", Plain(err.Error(), string(failure.Crashed)))
	}
	switch e.Code {
	case failure.WorkerMissing, failure.Unconfined:
		r.Close()
		return extract.Page{}, opening(err)
	case failure.TooMuch:
		r.Close()
		return extract.Page{}, fault.Permanent(failure.TooLarge, "the document may attack its reader; if you trust its source, print it to a new PDF and drop that",
			"page %d ends the import: %s", q.N, Plain(e.Message, string(e.Code)))
	case failure.Unsupported:
	default:
		r.Close() // it may be dead, and the next attempt needs a fresh one anyway
	}
	return extract.Page{}, &PageError{Code: e.Code, Message: Plain(e.Message, string(e.Code)), outside: e.Outside}
}

// Plain returns a worker's message as one short line for users, or the other text if there is none.
func Plain(message, otherwise string) string {
	return cmp.Or(markdown.OneLine(message, 300), otherwise)
}
