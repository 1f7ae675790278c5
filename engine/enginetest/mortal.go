package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/vaultflow/vaultflow/engine"
)

// errKilled is what a dead journal answers.
var errKilled = errors.New("killed")

// Mortal is a journal whose process dies at an append: nothing after it reaches the disk.
type Mortal struct {
	engine.Journal
	at   int  // dies at this append, counted from one; zero never
	kept bool // whether the append at which it dies is on disk
	died chan struct{}

	mu      sync.Mutex // guards what follows
	appends int
	dead    bool
	lost    int // model calls that were paid for, and whose outcome did not reach the disk
}

// NewMortal returns a journal that dies at an append, counted from one, which reaches the disk or not. With zero it lives.
func NewMortal(at int, kept bool) *Mortal {
	return &Mortal{at: at, kept: kept, died: make(chan struct{})}
}

// Over puts m before another journal.
func (m *Mortal) Over(j engine.Journal) engine.Journal {
	m.Journal = j
	return m
}

func (m *Mortal) alive() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	return nil
}

// Append stores an outcome, or dies before or after doing so.
func (m *Mortal) Append(ctx context.Context, r engine.Record, e engine.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		m.lose(r)
		return errKilled
	}
	m.appends++
	if m.appends != m.at {
		return m.Journal.Append(ctx, r, e)
	}
	m.dead = true
	close(m.died)
	if !m.kept {
		m.lose(r)
		return errKilled
	}
	if err := m.Journal.Append(ctx, r, e); err != nil {
		return err
	}
	return errKilled
}

// lose counts the outcome of a model call that does not reach the disk.
func (m *Mortal) lose(r engine.Record) {
	var out engine.GenerateOut
	if r.Activity == engine.ActivityGenerate && json.Unmarshal(r.Out, &out) == nil && !out.Cached {
		m.lost++
	}
}

// Lost counts the model calls that a restarted executor has to repeat.
func (m *Mortal) Lost() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// Create stores a run while alive.
func (m *Mortal) Create(ctx context.Context, e engine.Entry, again bool) (engine.Entry, bool, error) {
	if err := m.alive(); err != nil {
		return engine.Entry{}, false, err
	}
	return m.Journal.Create(ctx, e, again)
}

// Save stores views while alive.
func (m *Mortal) Save(ctx context.Context, e engine.Entry) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Journal.Save(ctx, e)
}

// Note stores an event while alive.
func (m *Mortal) Note(ctx context.Context, e engine.Event, number int) (engine.Event, error) {
	if err := m.alive(); err != nil {
		return e, err
	}
	return m.Journal.Note(ctx, e, number)
}
