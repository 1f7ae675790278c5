package sandbox

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Session is a worker with one open document. It is used by one goroutine at a time. After an error whose Ends is true
// the worker is gone and every call fails; Close is allowed in any state.
type Session struct {
	config Config
	p      *process
	hello  extract.Hello
	pages  int
	dead   error // why the worker is gone; nil while it lives
}

// Start starts a worker and opens a document in it. The document stays the caller's, who may close it when Start
// returned. Without an error the session has to be closed. An error is an *extract.Error, or that of ctx.
func (c Config) Start(ctx context.Context, doc *os.File, o extract.Open) (*Session, extract.Document, error) {
	s, err := c.withDefaults().begin(ctx)
	if err != nil {
		return nil, extract.Document{}, err
	}
	_ = s.p.hand(doc) // of a worker that died, the next request reports why
	return s.open(ctx, o)
}

// begin starts a worker and hears its hello.
func (c Config) begin(ctx context.Context) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := launch(c)
	if err != nil {
		return nil, err
	}
	s := &Session{config: c, p: p}
	answer, err := s.ask(ctx, nil, c.OpenTimeout, starting)
	if err == nil {
		err = s.accept(answer)
	}
	if err != nil {
		_ = s.Close() // why it is of no use is known
		return nil, err
	}
	return s, nil
}

// open opens the document that was handed over. If that fails, the session is closed.
func (s *Session) open(ctx context.Context, o extract.Open) (*Session, extract.Document, error) {
	began := time.Now()
	answer, err := s.ask(ctx, o, s.config.OpenTimeout, opening)
	if err == nil {
		if document, ok := answer.(extract.Document); ok {
			s.pages = document.Pages
			s.config.Logger.Debug("document opened", "pages", document.Pages, "confinement", s.hello.Confinement, "duration", time.Since(began))
			return s, document, nil
		}
		err = s.fail(&extract.Error{Code: failure.Crashed, Message: fmt.Sprintf("the worker answered with %T", answer)})
	}
	_ = s.Close() // likewise
	return nil, extract.Document{}, err
}

func (s *Session) accept(answer any) error {
	hello, ok := answer.(extract.Hello)
	switch {
	case !ok:
		return s.fail(&extract.Error{Code: failure.WorkerMissing, Message: fmt.Sprintf("%s is not a worker: it began with %T", s.config.Worker, answer)})
	case hello.Protocol != extract.Protocol:
		return s.fail(&extract.Error{
			Code:    failure.WorkerMissing,
			Message: fmt.Sprintf("the worker uses version %d of the protocol, not %d: it is from another build", hello.Protocol, extract.Protocol),
		})
	case s.config.RequireConfinement && hello.Confinement != extract.ConfinedFull:
		return s.fail(&extract.Error{Code: failure.Unconfined, Message: fmt.Sprintf("confinement is required, but the worker only reached %q", hello.Confinement)})
	}
	s.hello = hello
	return nil
}

// Page requests parts of a page. If the page alone fails, the error is an *extract.Error and the session stays usable. After a
// time-out or a crash, its Ends is true. When ctx ends, Page returns its error and the worker is gone.
func (s *Session) Page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	if s.dead != nil {
		return extract.Page{}, s.dead
	}
	limit := s.config.PageTimeout
	if r.OCR {
		limit *= 3
	}
	answer, err := s.ask(ctx, r, limit, phase{page: r.N})
	if err != nil {
		return extract.Page{}, err
	}
	page, ok := answer.(extract.Page)
	if lie := mismatch(r, page); !ok || lie != "" {
		return extract.Page{}, s.fail(&extract.Error{Code: failure.Crashed, Page: r.N, Message: fmt.Sprintf("the worker answered something else (%T %s)", answer, lie)})
	}
	return page, nil
}

// Cut requests a document of some pages, counted from 1 and ascending. Its errors are those of [Session.Page].
func (s *Session) Cut(ctx context.Context, pages []int) (extract.Cut, error) {
	if s.dead != nil {
		return extract.Cut{}, s.dead
	}
	return s.cut(ctx, extract.CutRequest{Pages: pages}, pages[0])
}

// Attached requests a file that is attached to the document, counted from 1. Its errors are those of [Session.Page].
func (s *Session) Attached(ctx context.Context, n int) ([]byte, error) {
	if s.dead != nil {
		return nil, s.dead
	}
	cut, err := s.cut(ctx, extract.CutRequest{Attached: n}, 1)
	return cut.Bytes, err
}

func (s *Session) cut(ctx context.Context, r extract.CutRequest, page int) (extract.Cut, error) {
	answer, err := s.ask(ctx, r, s.config.OpenTimeout, phase{page: page})
	if err != nil {
		return extract.Cut{}, err
	}
	cut, ok := answer.(extract.Cut)
	if !ok {
		return extract.Cut{}, s.fail(&extract.Error{Code: failure.Crashed, Message: fmt.Sprintf("the worker answered a cut with %T", answer)})
	}
	return cut, nil
}

// mismatch compares an answer with its request.
func mismatch(r extract.PageRequest, p extract.Page) string {
	switch {
	case p.N != r.N:
		return fmt.Sprintf("for page %d", p.N)
	case (p.Text != nil) != r.Text, (p.Image != nil) != r.Image, (p.OCR != nil) != r.OCR:
		return "with other parts than were asked for"
	}
	return ""
}

// Close ends the worker. It may be called more than once.
func (s *Session) Close() error {
	if s.dead == nil {
		s.dead = &extract.Error{Code: failure.Crashed, Message: "the session is closed"}
	}
	s.p.kill()
	_ = s.p.end() // it was killed
	return nil
}

// fail kills the worker and remembers why.
func (s *Session) fail(err error) error {
	s.dead = err
	s.p.kill()
	_ = s.p.end() // likewise
	return err
}

// ask sends a message, or none, and returns the answer. Only killing the worker ends the wait for it.
func (s *Session) ask(ctx context.Context, message any, limit time.Duration, at phase) (any, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.p.limit(limit, s.config.patience, cancel)()
	stop := context.AfterFunc(ctx, s.p.kill)
	answer, err := s.exchange(message)
	if !stop() || err != nil {
		return nil, s.fail(s.diagnose(ctx, err, at))
	}
	if failure, ok := answer.(*extract.Error); ok {
		return nil, s.refused(failure, at)
	}
	return answer, nil
}

func (s *Session) exchange(message any) (any, error) {
	if message != nil {
		if err := extract.Encode(s.p.in, message); err != nil {
			return nil, err
		}
	}
	return extract.Decode(s.p.out)
}
