package journal_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

func TestAppend_branches(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	e := entry("r1", "k1", "w")
	create(t, j, e)
	record := func(branch, seq int) engine.Record {
		return engine.Record{
			Branch: branch, Seq: seq, Activity: engine.ActivityGenerate, In: json.RawMessage(`{"workflow":"w","step":"a"}`),
			Out: json.RawMessage(`{"stop":"end","usage":{"input_tokens":1}}`), Attempts: 1, Started: epoch, Finished: epoch,
		}
	}
	order := [][2]int{{0, 0}, {2, 0}, {1, 0}, {2, 1}, {0, 1}, {1, 1}}
	for _, at := range order {
		if err := j.Runs.Append(t.Context(), record(at[0], at[1]), e); err != nil {
			t.Fatalf("record %v: %v", at, err)
		}
	}
	if err := j.Runs.Append(t.Context(), record(1, 3), e); err == nil {
		t.Error("a gap in a branch was accepted")
	}
	places := func() (list [][2]int) {
		records, err := j.Runs.Records(t.Context(), "r1")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			list = append(list, [2]int{r.Branch, r.Seq})
		}
		return list
	}
	if diff := cmp.Diff(order, places()); diff != "" {
		t.Errorf("records in the order of appending (-want +got):\n%s", diff)
	}
	if err := j.Runs.Reopen(t.Context(), e, []engine.Cut{{Branch: 2, Seq: 1}, {Branch: 1, Seq: 0}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][2]int{{0, 0}, {2, 0}, {0, 1}}, places()); diff != "" {
		t.Errorf("records after Reopen (-want +got):\n%s", diff)
	}
}

// Items of an @for_each and conditions have places of their own among a step's directives.
func TestDone_itemsAndConditions(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	ref := engine.StepRef{Run: "r", Workflow: "w", Step: "s"}
	first, second := directives.When{Index: 0}, directives.When{Index: 1}
	keys := []directives.PendingKey{
		directives.ForEach{}.Input().Key("w", "s"), first.Key("w", "s"), second.Key("w", "s"),
		directives.Input{Index: 0}.Key("w", "s"),
	}
	for i, key := range keys {
		for k, other := range keys {
			done, err := j.Memory.Done(t.Context(), other, "a.md", "d")
			if err != nil || done != (k < i) {
				t.Errorf("with %d marks, key %d is done: %v, %v", i, k, done, err)
			}
		}
		if err := j.Memory.Committed(t.Context(), ref, []engine.Mark{{Directive: key.Directive, Name: "a.md", SHA256: "d"}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if engine.ForEachDirective != directives.ForEachIndex {
		t.Errorf("the body marks items at %d, the language at %d", engine.ForEachDirective, directives.ForEachIndex)
	}
}

// Batches have rows of their own: a run is stored with those that changed, and read with all.
func TestSave_batches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	e := entry("r1", "k1", "w")
	create(t, j, e)
	step := engine.StepRecord{Run: "r1", Index: 2, Step: "s", WorkRecord: engine.WorkRecord{Status: engine.Running, Warnings: []string{"of the step"}}}
	for n, name := range []string{"x", "y"} {
		step.Put(engine.BatchRecord{
			Batch: n + 1, Items: []string{name}, WorkRecord: engine.WorkRecord{
				Status: engine.Done, Usage: cost.Usage{InputTokens: 10}, Inputs: []string{name},
				Outputs: []engine.Output{{Kind: "file", Name: name, After: "d"}}, Warnings: []string{"of a batch"},
			},
		})
	}
	e.Run.Status, e.Run.Steps = engine.Running, []engine.StepRecord{step}
	e.Run.Sum()
	e.Changed = []engine.BatchRef{{Step: 2, Batch: 1}, {Step: 2, Batch: 2}, {Step: 2, Batch: 3}, {Step: 1, Batch: 1}}
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	e.Changed = nil
	e.Run.Steps[0].Batches[0].Reason = "changed, but nobody said so"
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	e.Run.Steps[0].Batches[0].Reason = ""
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	got, _, err := j.Runs.Load(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, got); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
	if run, err := j.Runs.Run(t.Context(), "r1"); err != nil || !cmp.Equal(run, e.Run) {
		t.Errorf("Run: %v, %s", err, cmp.Diff(e.Run, run))
	}
	left, err := j.Runs.Unfinished(t.Context())
	if err != nil || len(left) != 1 || !cmp.Equal(left[0], e) {
		t.Errorf("Unfinished: %v, %v", left, err)
	}
	e.Run.Status, e.Run.Finished = engine.Done, epoch
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	list, err := j.Runs.List(t.Context(), journal.RunFilter{})
	if err != nil || len(list) != 1 || len(list[0].Outputs) != 2 || list[0].Steps[0].Batches != nil || len(list[0].Warnings) != 2 {
		t.Errorf("Runs: %+v, %v; want the sums without the batches", list, err)
	}
	e.Run.Status, e.Run.Finished, e.Run.Steps[0].Batches = engine.Queued, time.Time{}, nil
	if err := j.Runs.Reopen(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	if run, err := j.Runs.Run(t.Context(), "r1"); err != nil || len(run.Steps[0].Batches) != 0 {
		t.Errorf("after Reopen: %d batches, %v; want none", len(run.Steps[0].Batches), err)
	}
}
