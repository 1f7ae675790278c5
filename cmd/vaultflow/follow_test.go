package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
)

func TestRunExit(t *testing.T) {
	t.Parallel()
	for status, want := range map[engine.Status]int{
		engine.Done: exitDone, engine.Skipped: exitDone, engine.DoneWithOmissions: exitOmissions, engine.AwaitingApproval: exitApproval,
		engine.Cancelled: exitCancelled, engine.Failed: exitFailed, engine.Refused: exitModelRefused, engine.Empty: exitEmpty,
		engine.Truncated: exitTruncated, engine.Invalid: exitInvalidAnswer, engine.Unseen: exitUnseen,
	} {
		if got := runExit(engine.RunRecord{Status: status}); got != want {
			t.Errorf("%s: exit code %d, want %d", status, got, want)
		}
	}
	for code, want := range map[failure.Code]int{
		failure.Budget: exitRefused, failure.Provider: exitProvider, failure.ToolRounds: exitProvider, failure.Timeout: exitFailed,
		failure.InvalidWorkflow: exitInvalid,
	} {
		if got := runExit(engine.RunRecord{Status: engine.Failed, Failure: &failure.Error{Code: code}}); got != want {
			t.Errorf("%s: exit code %d, want %d", code, got, want)
		}
	}
}

func TestEventLine_batches(t *testing.T) {
	t.Parallel()
	work := &engine.BatchRecord{Batch: 2, Items: []string{"a.md"}}
	for want, e := range map[string]engine.Event{
		"    batch 2 (a.md) failed: down":  {Kind: engine.EventBatch, Batch: 2, Work: work, Status: engine.Failed, Message: "down"},
		"":                                 {Kind: engine.EventBatch, Batch: 2, Work: work, Status: engine.Done},
		"    asking the model for batch 2": {Kind: engine.EventActivity, Batch: 2, Name: engine.ActivityGenerate, Status: engine.Running},
		"    asking the model":             {Kind: engine.EventActivity, Name: engine.ActivityGenerate, Status: engine.Running},
	} {
		if got := eventLine(e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFollowRun_endsWithItsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, err := journal.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		e := engine.Entry{Lane: "l", Spec: []byte("{}"), Run: engine.RunRecord{ID: "r", Kind: engine.KindImport, Key: "k", Status: engine.Running, Created: time.Now(), At: time.Now()}}
		if _, _, err := j.Runs.Create(t.Context(), e, false); err != nil {
			t.Fatal(err)
		}
		begun := time.Now() // this clock moves only when everything waits
		r, err := followRun(stopping{t.Context(), t.Context()}, &globals{streams: &streams{err: io.Discard}}, j, followed{run: "r", wait: func(ctx context.Context, _ string) (engine.RunRecord, error) {
			time.Sleep(time.Minute)
			e.Run.Status, e.Run.Finished = engine.Done, time.Now()
			return e.Run, j.Runs.Save(ctx, e)
		}})
		if waited := time.Since(begun); r.Status != engine.Done || err != nil || waited != time.Minute {
			t.Errorf("%s after %v: %v; want done after a minute", r.Status, waited, err)
		}
	})
}

// The first Ctrl-C asks the run to end, once, and waits for it; the second leaves it.
func TestFollowRun_stops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, err := journal.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		e := engine.Entry{Lane: "l", Spec: []byte("{}"), Run: engine.RunRecord{ID: "r", Kind: engine.KindImport, Key: "k", Status: engine.Running, Created: time.Now(), At: time.Now()}}
		if _, _, err := j.Runs.Create(t.Context(), e, false); err != nil {
			t.Fatal(err)
		}
		leave, end := context.WithCancel(t.Context())
		defer end()
		asked, ask := context.WithCancel(t.Context())
		ask()
		s, cancelled := stopping{asked, leave}, 0
		time.AfterFunc(time.Minute, end)
		_, err = followRun(s, &globals{streams: &streams{err: io.Discard}}, j, followed{run: "r", cancel: func(context.Context, string) error {
			cancelled++
			return nil
		}})
		if cancelled != 1 || !errors.Is(err, errLeft) {
			t.Errorf("cancelled %d times, %v; want once, and a run that was left", cancelled, err)
		}
	})
}

// A run of another process is noticed soon after it has ended.
func TestFollowPause_isShortAtFirst(t *testing.T) {
	t.Parallel()
	for followed, want := range map[time.Duration]time.Duration{
		0: followFirst, 250 * time.Millisecond: 25 * time.Millisecond, time.Hour: followEvery,
	} {
		if got := followPause(followed); got != want {
			t.Errorf("after %v: %v, want %v", followed, got, want)
		}
	}
}

// What becomes of a run that was left depends on whether it was asked to end, and on who works on it.
func TestFateOf(t *testing.T) {
	t.Parallel()
	j, err := journal.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	e := engine.Entry{Lane: "l", Spec: []byte("{}"), Run: engine.RunRecord{ID: "r", Kind: engine.KindWorkflow, Key: "k", Created: time.Now(), At: time.Now()}}
	for _, c := range []struct {
		status            engine.Status
		served, cancelled bool
		want              string
	}{
		{engine.Running, true, false, "continues in the running serve"},
		{engine.Running, true, true, "is being cancelled"},
		{engine.Running, false, false, "is interrupted"},
		{engine.Running, false, true, "the next serve cancels it"},
		{engine.AwaitingApproval, true, false, "waits for approval"},
	} {
		e.Run.ID += "r"
		e.Run.Key, e.Run.Status = e.Run.ID, c.status
		if _, _, err := j.Runs.Create(t.Context(), e, false); err != nil {
			t.Fatal(err)
		}
		stored := e
		stored.Cancelled = c.cancelled
		if err := j.Runs.Save(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		if got, err := fateOf(t.Context(), j, e.Run.ID, c.served); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// A question at a terminal ends with the command, whether or not anybody answers.
func TestUntilDone(t *testing.T) {
	t.Parallel()
	silent, writer := io.Pipe()
	defer writer.Close()
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		fmt.Fprint(writer, "yes\n")
		stop()
	}()
	in := bufio.NewReader(untilDone{ctx, silent})
	if sure, err := agrees(in, io.Discard, "Sure? "); !sure && !errors.Is(err, context.Canceled) { // both came
		t.Errorf("%t %v", sure, err)
	}
	if sure, err := agrees(in, io.Discard, "And now? "); sure || !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %t, %v", sure, err)
	}
}
