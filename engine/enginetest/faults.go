package enginetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// full is a journal whose disk is full while the switch is on. It counts what it refuses.
type full struct {
	engine.Journal
	on      *atomic.Bool
	refused *atomic.Int64
}

func (f full) room() error {
	if !f.on.Load() {
		return nil
	}
	f.refused.Add(1)
	return fmt.Errorf("store: %w", syscall.ENOSPC)
}

// Append refuses while the disk is full.
func (f full) Append(ctx context.Context, r engine.Record, e engine.Entry) error {
	if err := f.room(); err != nil {
		return err
	}
	return f.Journal.Append(ctx, r, e)
}

// Save refuses while the disk is full.
func (f full) Save(ctx context.Context, e engine.Entry) error {
	if err := f.room(); err != nil {
		return err
	}
	return f.Journal.Save(ctx, e)
}

// Note refuses while the disk is full.
func (f full) Note(ctx context.Context, e engine.Event, number int) (stored engine.Event, err error) {
	if err := f.room(); err != nil {
		return e, err
	}
	return f.Journal.Note(ctx, e, number)
}

// until waits for something that an executor does by itself.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	for tick := time.NewTicker(time.Millisecond); !holds(); {
		select {
		case <-r.ctx.Done():
			tick.Stop()
			r.t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

// fullVault lets the vault's disk be full for a while: the run waits, before the others of its lane, with all that it has
// bought, and goes on by itself.
func fullVault(t *testing.T, factory Factory) {
	w := NewWorld()
	var refused atomic.Int64
	var room atomic.Bool
	w.Before = func(_ context.Context, activity, step string) error {
		if activity != engine.ActivityCommit || step != "a" || room.Load() {
			return nil
		}
		refused.Add(1)
		return fmt.Errorf("write w.md: %w", syscall.ENOSPC)
	}
	r := start(t, factory, w, Setup{})
	first, second := r.begin(manual("w", "a")).Run, r.begin(manual("w", "b")).Run
	r.until("a second attempt", func() bool { return refused.Load() >= 3 })
	wantCalls(t, w, engine.ActivityResolve, "b", 0)
	wantStatus(t, r.run(manual("another", "c")), engine.Done)
	room.Store(true)
	got := r.wait(first)
	wantStatus(t, got, engine.Done)
	wantStatus(t, r.wait(second), engine.Done)
	if got.Resumed != 0 || got.Reason != "" || got.Usage.InputTokens != 10 {
		t.Errorf("resumed %d times, reason %q, %d tokens; want a run as any other", got.Resumed, got.Reason, got.Usage.InputTokens)
	}
	wantCalls(t, w, engine.ActivityGenerate, "a", 1)
	if got, want := w.File("w.md"), "answer to prompt of a\nanswer to prompt of b\n"; got != want {
		t.Errorf("w.md: got %q, want %q", got, want)
	}
}

// fullJournal lets the journal's disk be full from an activity on, whichever it is.
func fullJournal(t *testing.T, factory Factory) {
	for _, activity := range []string{engine.ActivityResolve, engine.ActivityAssemble, engine.ActivityStage, engine.ActivityCommit} {
		w := NewWorld()
		f := full{on: &atomic.Bool{}, refused: &atomic.Int64{}}
		var once atomic.Bool
		w.Before = func(_ context.Context, a, _ string) error {
			if a == activity && once.CompareAndSwap(false, true) {
				f.on.Store(true)
			}
			return nil
		}
		r := start(t, factory, w, Setup{Wrap: func(j engine.Journal) engine.Journal { f.Journal = j; return f }})
		run := r.begin(manual("w", "a")).Run
		r.until("attempts on a full disk", func() bool { return f.refused.Load() >= 5 })
		f.on.Store(false)
		got := r.wait(run)
		wantStatus(t, got, engine.Done)
		wantCalls(t, w, engine.ActivityGenerate, "a", 1)
		if got.Started.IsZero() || len(got.Steps) != 1 || got.Steps[0].Status != engine.Done || w.File("w.md") != "answer to prompt of a\n" {
			t.Errorf("full from %s on: wrote %q, %+v", activity, w.File("w.md"), got)
		}
		r.stop()
	}
}

// cancelPutOff cancels a run that waits for a disk.
func cancelPutOff(t *testing.T, factory Factory) {
	w := NewWorld()
	var refused atomic.Int64
	w.Before = func(_ context.Context, activity, _ string) error {
		if activity == engine.ActivityCommit {
			refused.Add(1)
			return fmt.Errorf("write w.md: %w", syscall.EROFS)
		}
		return nil
	}
	r := start(t, factory, w, Setup{})
	run := r.begin(manual("w", "a")).Run
	r.until("a run that is put off", func() bool { return refused.Load() >= 1 })
	if err := r.x.Cancel(r.ctx, run); err != nil {
		t.Fatalf("Cancel: %v", err)
	}
	wantStatus(t, r.wait(run), engine.Cancelled)
}

// clockSetBack sets the clock back a day between two runs of a lane, and lets the executor be stopped: the runs follow each
// other in the order in which they were asked for, also after the restart, and none takes less than no time.
func clockSetBack(t *testing.T, factory Factory) {
	w := NewWorld()
	dir := t.TempDir()
	var back atomic.Int64 // how far the clock was set back
	now := func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
	g := hold(w, engine.ActivityGenerate)
	r := start(t, factory, w, Setup{Dir: dir, Now: now})
	runs := []string{r.begin(manual("w", "a")).Run, r.begin(manual("w", "b")).Run}
	<-g.begun
	back.Store(int64(24 * time.Hour))
	runs = append(runs, r.begin(manual("w", "c")).Run)
	r.stop()
	close(g.open)
	r = start(t, factory, w, Setup{Dir: dir, Now: now})
	if n, err := r.x.Resume(r.ctx); n != 3 || err != nil {
		t.Fatalf("Resume: %d, %v; want 3 runs", n, err)
	}
	for _, run := range runs {
		wantStatus(t, r.wait(run), engine.Done)
	}
	if got, want := w.File("w.md"), "answer to prompt of a\nanswer to prompt of b\nanswer to prompt of c\n"; got != want {
		t.Errorf("w.md: got %q, want the order in which they were asked for: %q", got, want)
	}
}
