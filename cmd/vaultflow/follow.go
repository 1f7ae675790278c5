package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// A command looks at the journal for the run that it waits for: often at first, for runs that end at once.
const (
	followFirst = 10 * time.Millisecond
	followEvery = 150 * time.Millisecond
)

// followPause is the time until the next look at a run that was followed for some time: the command ends at most a tenth later
// than the run.
func followPause(followed time.Duration) time.Duration {
	return min(max(followed/10, followFirst), followEvery)
}

// waiter blocks until a run has ended, is parked or was interrupted, or ctx ends: see engine.Executor.
type waiter func(ctx context.Context, run string) (engine.RunRecord, error)

// ended returns a channel that is closed when the run has left this process. A nil waiter is for runs of other processes.
// The function that is returned ends the waiting.
func (w waiter) ended(ctx context.Context, run string) (<-chan struct{}, func()) {
	if w == nil {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w(ctx, run) // the journal has the record and the error
	}()
	return ended, func() {
		cancel()
		<-ended
	}
}

// pagesEvery is how often the progress of an import is printed.
const pagesEvery = time.Second

// eventsAtOnce is how many events are read at a time.
const eventsAtOnce = 500

// goneAfter is how long no process may work on the vault until a run counts as interrupted. A serve that starts over takes less.
const goneAfter = 5 * time.Second

// followed is a run that a command waits for. It may be at work in this process, which waits for it, or in another, which may end first.
type followed struct {
	run    string
	since  time.Time // print what happens from then on
	wait   waiter
	cancel func(ctx context.Context, run string) error // once the user asks for it
}

// lastWish is how long a user who leaves waits for the answer to the request to end a run.
const lastWish = time.Second

// stop asks a run to end, also if the user leaves meanwhile: who asks twice has asked.
func (f followed) stop(ctx context.Context) error {
	last, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWish, end) })()
	return f.cancel(last, f.run)
}

// followRun prints the events of a run as they are stored, and returns its record when it has finished or is parked. It returns [errLeft]
// once the user leaves.
func followRun(s stopping, g *globals, j *journal.Journal, f followed) (_ engine.RunRecord, err error) {
	ctx, run, stopping := s.leave, f.run, false
	defer func() {
		if err == nil || ctx.Err() == nil {
			return
		}
		err = errLeft // whatever was done when the user left
		if !stopping && s.stopped() {
			if failed := f.stop(ctx); failed != nil {
				fmt.Fprintf(g.err, "whether run %s will end is not known: %v\n", run, failed)
			}
		}
	}()
	ended, stop := f.wait.ended(ctx, run)
	defer stop()
	var after int64
	page, shown, begun := 0, time.Time{}, time.Now()
	held := begun
	for {
		if j.Held() {
			held = time.Now()
		}
		record, err := j.Runs.Run(ctx, run)
		if err != nil {
			return record, err
		}
		events, err := j.Events.List(ctx, run, after, eventsAtOnce)
		if err != nil {
			return record, err
		}
		for _, e := range events {
			after = e.Seq
			if e.Time.Before(f.since) {
				continue
			}
			if g.json {
				if err := g.print(e, nil); err != nil {
					return record, err
				}
			} else if line := eventLine(e); line != "" {
				fmt.Fprintln(g.err, line)
			}
		}
		if record.Kind == engine.KindImport && time.Since(shown) >= pagesEvery && !record.Status.Finished() {
			page, shown = printPages(ctx, g, j, run, page), time.Now()
		}
		if record.Status.Finished() && len(events) < eventsAtOnce { // it had ended before they were read
			return record, nil
		}
		if s.stopped() && !stopping {
			stopping = true
			fmt.Fprintf(g.err, "stopping run %s; once more leaves at once\n", run)
			if err := f.stop(ctx); err != nil {
				return record, err
			}
			continue
		}
		if waits, err := parked(ctx, j, record); err != nil || waits && len(events) < eventsAtOnce {
			return record, err
		}
		if time.Since(held) > goneAfter {
			fate, err := fateOf(ctx, j, run, false)
			return record, cmp.Or(err, exit(exitFailed, fmt.Errorf("the vaultflow that was running it has ended: %s", fate)))
		}
		asked := s.asked.Done()
		if stopping {
			asked = nil
		}
		select {
		case <-ctx.Done():
			return record, ctx.Err()
		case <-asked:
		case <-ended:
			ended = nil // interrupted, unless the record says otherwise: another process may resume it
		case <-time.After(followPause(time.Since(begun))):
		}
	}
}

// printPages prints an import's progress when it has changed.
func printPages(ctx context.Context, g *globals, j *journal.Journal, run string, before int) int {
	record, err := j.Imports.Get(ctx, run)
	if err != nil || record.Page == before || record.Pages < 2 {
		return before
	}
	if g.json {
		if err := g.print(record, nil); err != nil {
			return before
		}
	} else {
		fmt.Fprintln(g.err, "  "+pageProgress(record))
	}
	return record.Page
}

// eventLine is an event in words; empty for those that people need not see.
func eventLine(e engine.Event) string {
	switch e.Kind {
	case engine.EventStep:
		if e.Status == engine.Running && e.Step != "" {
			return "  step " + e.Step
		}
	case engine.EventBatch:
		if e.Work != nil && e.Status.Failed() {
			return fmt.Sprintf("    batch %d (%s) %s: %s", e.Batch, e.Work.ItemsText(), e.Status, e.Message)
		}
	case engine.EventActivity:
		if e.Name == engine.ActivityGenerate && e.Status == engine.Running {
			if e.Batch > 0 {
				return fmt.Sprintf("    asking the model for batch %d", e.Batch)
			}
			return "    asking the model"
		}
	case engine.EventRetry, engine.EventWarning, engine.EventOverflow, engine.EventRewrite, engine.EventOutcome, engine.EventUnseen, engine.EventBlocked:
		return "    " + strings.ReplaceAll(e.Kind, "_", " ") + ": " + e.Message
	}
	return ""
}

// finishRun follows a run to its end, prints how it ended, and turns it into the command's exit code.
func finishRun(s stopping, g *globals, j *journal.Journal, f followed) error {
	r, err := followRun(s, g, j, f)
	if err != nil {
		return err
	}
	if err := g.print(r, func(w io.Writer) { writeRun(w, r) }); err != nil {
		return err
	}
	if s.stopped() {
		if err := showStopped(s.leave, g, j, r); err != nil {
			return err
		}
	}
	if err := showAsked(s.leave, g, j, r); err != nil {
		return err
	}
	if r.Status == engine.AwaitingApproval && !g.json {
		fmt.Fprintf(g.err, "`vaultflow approvals %s` shows what it asks for; `vaultflow approve %s` lets it continue\n", r.ID, r.ID)
	}
	if code := runExit(r); code != exitDone {
		return exit(code, nil)
	}
	return nil
}

// isLocked reports whether another process uses the state directory.
func isLocked(err error) bool { return errors.Is(err, journal.ErrLocked) }
