package sandbox

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// idleTime is how long a worker waits for a document.
const idleTime = time.Minute

// Pool starts workers before their documents are there, so that these need not wait for it. A worker still reads one document, and waits only for one that
// is to be read with the config that it was started with. The zero value has no workers. Several goroutines may use it.
type Pool struct {
	mu      sync.Mutex // guards what follows
	waiting []prepared // the oldest first
	idle    *time.Timer
}

// prepared is a worker that has started or will.
type prepared struct {
	config  Config
	started chan *Session // nil comes from one that could not
}

// Prepare has so many workers of a config wait for a document. No more than that wait in all: those of other configs make room. It returns at once.
// Those that no document needs within a minute are ended.
func (p *Pool) Prepare(c Config, n int) {
	c = c.withDefaults()
	p.mu.Lock()
	defer p.mu.Unlock()
	same := 0
	for _, w := range p.waiting {
		if w.config.sameAs(c) {
			same++
		}
	}
	for ; same < n; same++ {
		if i := slices.IndexFunc(p.waiting, func(w prepared) bool { return !w.config.sameAs(c) }); i >= 0 && len(p.waiting) >= n {
			go discard(p.waiting[i].started)
			p.waiting = slices.Delete(p.waiting, i, i+1)
		}
		started := make(chan *Session, 1)
		p.waiting = append(p.waiting, prepared{c, started})
		go func() {
			s, err := c.begin(context.Background())
			if err != nil {
				c.Logger.Debug("a worker could not be started in advance", "err", err) // starting one on demand reports it
			}
			started <- s
		}()
	}
	if p.idle == nil {
		p.idle = time.AfterFunc(idleTime, p.Close)
	}
	p.idle.Reset(idleTime)
}

// Start is [Config.Start] with a worker that waits, if there is one.
func (p *Pool) Start(ctx context.Context, c Config, doc *os.File, o extract.Open) (*Session, extract.Document, error) {
	for {
		s, err := p.take(ctx, c.withDefaults())
		if s == nil || err != nil {
			break
		}
		if s.p.hand(doc) == nil {
			return s.open(ctx, o)
		}
		_ = s.Close() // it died while it waited
	}
	return c.Start(ctx, doc, o)
}

// take returns a worker of a config that waits, or nil if there is none.
func (p *Pool) take(ctx context.Context, c Config) (*Session, error) {
	p.mu.Lock()
	i := slices.IndexFunc(p.waiting, func(w prepared) bool { return w.config.sameAs(c) })
	if i < 0 {
		p.mu.Unlock()
		return nil, nil //nolint:nilnil // there is none
	}
	started := p.waiting[i].started
	p.waiting = slices.Delete(p.waiting, i, i+1)
	p.mu.Unlock()
	select {
	case s := <-started:
		if s != nil {
			s.config = c // with its log
		}
		return s, nil
	case <-ctx.Done():
		go discard(started)
		return nil, ctx.Err()
	}
}

// Close ends the workers that wait. The pool can still be used.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.waiting {
		go discard(w.started)
	}
	p.waiting = nil
}

// discard ends a worker once it has started.
func discard(started <-chan *Session) {
	if s := <-started; s != nil {
		_ = s.Close() // nobody used it
	}
}
