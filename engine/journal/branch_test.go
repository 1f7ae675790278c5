package journal_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
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
		if err := j.Append(t.Context(), record(at[0], at[1]), e); err != nil {
			t.Fatalf("record %v: %v", at, err)
		}
	}
	if err := j.Append(t.Context(), record(1, 3), e); err == nil {
		t.Error("a gap in a branch was accepted")
	}
	places := func() (list [][2]int) {
		records, err := j.Records(t.Context(), "r1")
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
	if usage, calls, err := j.UsageSince(t.Context(), "w", epoch); calls != 6 || usage.InputTokens != 6 || err != nil {
		t.Errorf("usage: %d calls, %+v, %v; want 6, although they ended at the same time", calls, usage, err)
	}
	if err := j.Reopen(t.Context(), e, []engine.Cut{{Branch: 2, Seq: 1}, {Branch: 1, Seq: 0}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][2]int{{0, 0}, {2, 0}, {0, 1}}, places()); diff != "" {
		t.Errorf("records after Reopen (-want +got):\n%s", diff)
	}
}

func TestAppend_cachedAnswerIsNoCall(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	e := entry("r1", "k1", "w")
	create(t, j, e)
	r := engine.Record{
		Activity: engine.ActivityGenerate, In: json.RawMessage(`{"workflow":"w","step":"a"}`),
		Out: json.RawMessage(`{"stop":"end","usage":{},"cached":true}`), Attempts: 1, Started: epoch, Finished: epoch,
	}
	if err := j.Append(t.Context(), r, e); err != nil {
		t.Fatal(err)
	}
	if _, calls, err := j.UsageSince(t.Context(), "w", epoch); calls != 0 || err != nil {
		t.Errorf("%d calls, %v; want none", calls, err)
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
			done, err := j.Done(t.Context(), other, "a.md", "d")
			if err != nil || done != (k < i) {
				t.Errorf("with %d marks, key %d is done: %v, %v", i, k, done, err)
			}
		}
		if err := j.Committed(t.Context(), ref, []engine.Mark{{Directive: key.Directive, Name: "a.md", SHA256: "d"}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if engine.ForEachDirective != directives.ForEachIndex {
		t.Errorf("the body marks items at %d, the language at %d", engine.ForEachDirective, directives.ForEachIndex)
	}
}
