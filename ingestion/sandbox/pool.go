package sandbox

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// idleTime is how long a worker waits for a document.
const idleTime = time.Minute

// Pool starts workers before their documents are there, so that these need not wait for it. A worker still reads one document. Make one with
// [NewPool]. Several goroutines may use it.
type Pool struct {
	config func() Config // asked only when a worker starts

	mu      sync.Mutex      // guards what follows
	waiting []chan *Session // workers that have started or will; nil comes from one that could not
	idle    *time.Timer
}

// NewPool returns a pool without workers. The function returns how each is started.
func NewPool(config func() Config) *Pool { return &Pool{config: config} }

// Prepare has so many workers wait for a document. It returns at once. Those that no document needs within a minute are ended.
func (p *Pool) Prepare(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.waiting) < n {
		started := make(chan *Session, 1)
		p.waiting = append(p.waiting, started)
		go func() {
			c := p.config().withDefaults()
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
func (p *Pool) Start(ctx context.Context, doc *os.File, o extract.Open) (*Session, extract.Document, error) {
	for {
		s, err := p.take(ctx)
		if s == nil || err != nil {
			break
		}
		if s.p.hand(doc) == nil {
			return s.open(ctx, o)
		}
		_ = s.Close() // it died while it waited
	}
	return p.config().Start(ctx, doc, o)
}

// take returns a worker that waits, or nil if there is none.
func (p *Pool) take(ctx context.Context) (*Session, error) {
	p.mu.Lock()
	if len(p.waiting) == 0 {
		p.mu.Unlock()
		return nil, nil //nolint:nilnil // there is none
	}
	started := p.waiting[0]
	p.waiting = p.waiting[1:]
	p.mu.Unlock()
	select {
	case s := <-started:
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
	for _, started := range p.waiting {
		go discard(started)
	}
	p.waiting = nil
}

// discard ends a worker once it has started.
func discard(started <-chan *Session) {
	if s := <-started; s != nil {
		_ = s.Close() // nobody used it
	}
}
