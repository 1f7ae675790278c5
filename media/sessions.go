package media

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// How many workers stay with a document for the next question about it, and how long.
const (
	maxSessions = 2
	idleSession = 10 * time.Second
)

// sessions are workers on documents of the vault. A prompt asks for one page after the other, so that a worker keeps its
// document open for a while. It is safe for concurrent use; a session belongs to one caller at a time.
type sessions struct {
	worker Worker
	slots  chan struct{} // one for each session in use

	mu   sync.Mutex
	idle []*openDocument // oldest first; guarded by mu
}

// openDocument is a worker with the document it has open.
type openDocument struct {
	name, sha256 string
	session      Session
	document     extract.Document
	timer        *time.Timer // ends it when nobody asks; nil while it is in use
}

func newSessions(w Worker) *sessions {
	return &sessions{worker: w, slots: make(chan struct{}, maxSessions)}
}

// with calls fn with a worker on a document of the vault: one that has it open, or a new one. fn must not keep it.
func (p *sessions) with(ctx context.Context, name, sha256 string, fn func(Session, extract.Document) error) error {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s := p.take(name, sha256)
	if s == nil {
		session, document, err := p.worker.Open(ctx, name, sha256, extract.Open{Kind: extract.KindPDF, MediaType: "application/pdf"})
		if err != nil {
			return err
		}
		s = &openDocument{name: name, sha256: sha256, session: session, document: document}
	}
	err := fn(s.session, s.document)
	if e, ok := errors.AsType[*extract.Error](err); err != nil && (!ok || e.Ends()) || ctx.Err() != nil {
		_ = s.session.Close() // it is of no use any more
		return err
	}
	p.keep(s)
	return err
}

// take finds an idle worker that has the document open, and makes room when there is none.
func (p *sessions) take(name, sha256 string) *openDocument {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range p.idle {
		if s.name == name && s.sha256 == sha256 && s.timer.Stop() {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return s
		}
	}
	for len(p.idle) >= maxSessions {
		p.drop(p.idle[0])
	}
	return nil
}

func (p *sessions) keep(s *openDocument) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, s)
	s.timer = time.AfterFunc(idleSession, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drop(s)
	})
}

// drop ends an idle worker. Callers hold mu.
func (p *sessions) drop(s *openDocument) {
	for i, other := range p.idle {
		if other == s {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			s.timer.Stop()
			_ = s.session.Close() // it is idle: nothing is lost
			return
		}
	}
}

// close ends all idle workers.
func (p *sessions) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		p.drop(p.idle[0])
	}
}
