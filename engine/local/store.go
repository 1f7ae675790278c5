package local

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// store writes what happens to the journal and publishes it, until the executor is dead.
type store struct {
	journal engine.Journal
	bus     bus
	now     func() time.Time
	log     *slog.Logger
	dead    atomic.Bool // the grace period has ended: nothing more is stored
}

// do does something with the journal, unless the executor is dead.
func (s *store) do(fn func() error) error {
	if s.dead.Load() {
		return engine.ErrStopped
	}
	return fn()
}

// update edits a run's views and stores them, also when ctx has ended; with a record, in one transaction with it.
func (s *store) update(ctx context.Context, j *job, rec *engine.Record, edit func(*engine.Entry)) (engine.Entry, error) {
	j.saving.Lock()
	defer j.saving.Unlock()
	e := j.toStore(edit)
	ctx = context.WithoutCancel(ctx)
	return e, s.do(func() error {
		if rec != nil {
			return s.journal.Append(ctx, *rec, e)
		}
		return s.journal.Save(ctx, e)
	})
}

// note stores an event, also when ctx has ended; see engine.Journal.
func (s *store) note(ctx context.Context, e engine.Event, number int) (stored engine.Event, err error) {
	stored = e
	err = s.do(func() (err error) {
		stored, err = s.journal.Note(context.WithoutCancel(ctx), e, number)
		return err
	})
	return stored, err
}

// tell stores an event of a run and publishes it. A journal that cannot store it does not stop the run: the next append does.
func (s *store) tell(ctx context.Context, j *job, e engine.Event) {
	e = s.complete(j, e)
	stored, err := s.note(ctx, e, 0)
	if err != nil {
		s.log.Warn("event not stored", "run", j.id, "err", err)
		stored = e
	}
	s.bus.publish(stored)
}

// complete fills in what an event's sender does not know.
func (s *store) complete(j *job, e engine.Event) engine.Event {
	e.Time, e.Run = s.now(), j.id
	if p := j.spec.Pinned; p != nil {
		e.Subject = p.Workflow
	} else if p := j.spec.Import; p != nil {
		e.Subject = p.Source
	}
	return e
}
