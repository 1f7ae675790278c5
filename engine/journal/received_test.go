package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// received opens the place of an answer, gives what it holds, and puts another answer there unless that is empty.
func received(t *testing.T, j *Journal, ref engine.StepRef, question, answer string) string {
	t.Helper()
	held, keep, shut, err := j.Answers.Received(ref, question)
	if err != nil {
		t.Fatal(err)
	}
	if answer != "" {
		if err := keep([]byte(answer)); err != nil {
			t.Fatal(err)
		}
	}
	if err := shut(); err != nil {
		t.Fatal(err)
	}
	return string(held)
}

func TestReceived(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	ref := engine.StepRef{Run: "r1", Index: 2, Batch: 3, Workflow: "w", Step: "s"}
	if got := received(t, j, ref, "q1", "a long answer\nin two lines"); got != "" {
		t.Errorf("a place that was never used holds %q", got)
	}
	if got := received(t, j, ref, "q1", ""); got != "a long answer\nin two lines" {
		t.Errorf("the place holds %q", got)
	}
	if got := received(t, j, ref, "q2", "short"); got != "" {
		t.Errorf("another question got %q", got)
	}
	if got := received(t, j, ref, "q2", ""); got != "short" {
		t.Errorf("a shorter answer over a longer one: %q", got)
	}
	path := filepath.Join(dir, "received", "r1", "2-3")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if got := received(t, j, ref, "q2", ""); got != "" {
			t.Fatalf("%d of %d bytes are taken for the answer %q", n, len(whole), got)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.Answers.sweepReceived(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := received(t, j, ref, "q2", ""); got != "" {
		t.Errorf("the place of a run that is gone holds %q", got)
	}
}

// TestReceived_ends proves when a run's answers are kept no longer: when it has succeeded, and when they are to be given anew.
func TestReceived_ends(t *testing.T) {
	t.Parallel()
	j, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	ref := engine.StepRef{Run: "r1", Workflow: "w", Step: "s"}
	e := engine.Entry{Run: engine.RunRecord{ID: "r1", Kind: engine.KindWorkflow, Key: "k", Status: engine.Running, Created: time.Now()}, Spec: []byte("{}")}
	if _, _, err := j.Runs.Create(t.Context(), e, false); err != nil {
		t.Fatal(err)
	}
	end := func(status engine.Status) {
		t.Helper()
		e.Run.Status, e.Run.Finished = status, time.Now()
		if err := j.Runs.Save(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	reopen := func(cuts ...engine.Cut) {
		t.Helper()
		e.Run.Status, e.Run.Finished = engine.Queued, time.Time{}
		if err := j.Runs.Reopen(t.Context(), e, cuts); err != nil {
			t.Fatal(err)
		}
	}
	received(t, j, ref, "q", "answer")
	end(engine.Failed)
	reopen(engine.Cut{})
	if got := received(t, j, ref, "q", ""); got != "answer" {
		t.Errorf("an answer that could not be stored: the retry finds %q", got)
	}
	if err := j.Runs.Append(t.Context(), engine.Record{Activity: engine.ActivityGenerate, In: []byte(`{}`), Out: []byte(`{"cached":true}`)}, e); err != nil {
		t.Fatal(err)
	}
	end(engine.Failed)
	reopen(engine.Cut{})
	if got := received(t, j, ref, "q", "again"); got != "" {
		t.Errorf("an answer that is asked for anew: the retry finds %q", got)
	}
	end(engine.Done)
	if _, err := os.Stat(j.Answers.receivedDir("r1")); !os.IsNotExist(err) {
		t.Errorf("the answers of a run that is done are kept: %v", err)
	}
}
