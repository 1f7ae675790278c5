package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
)

func proposal(key string) engine.Proposal {
	return engine.Proposal{Run: "r1", Workflow: "w", Step: "a", Key: key, Kind: engine.ChangeWrite, Name: key + ".md", Created: epoch}
}

// said are the decisions about all that a run proposed, in order.
func said(t *testing.T, j *journal.Journal) string {
	t.Helper()
	list, err := j.Approvals.Of(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, p := range list {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s %s %s", p.Item, p.Key, p.Decision, p.By)))
	}
	return strings.Join(parts, "; ")
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	e := engine.Entry{Run: engine.RunRecord{ID: "r1", Kind: engine.KindWorkflow, Workflow: "w", Status: engine.Running, Key: "k", Created: epoch}, Spec: []byte("{}")}
	if _, _, err := j.Runs.Create(t.Context(), e, false); err != nil {
		t.Fatal(err)
	}
	ref := engine.StepRef{Run: "r1", Workflow: "w", Step: "a"}
	propose := func(now time.Time, list ...engine.Proposal) []engine.Proposal {
		t.Helper()
		held, err := j.Approvals.Propose(t.Context(), ref, list, now)
		if err != nil || len(held) != len(list) {
			t.Fatalf("Propose: %d of %d, %v", len(held), len(list), err)
		}
		return held
	}
	due := proposal("c")
	due.Deadline = epoch.Add(time.Hour)
	for range 2 { // asking again, as after a crash, changes nothing
		for i, p := range propose(epoch, proposal("a"), proposal("b"), due) {
			if p.Item != i+1 || !p.Open() || p.Name != p.Key+".md" {
				t.Errorf("item %d: %+v", i+1, p)
			}
		}
	}
	if _, err := j.Approvals.Decide(t.Context(), engine.Decision{Run: "r1", Items: []int{1}, Approve: true, By: engine.DecidedNote, Who: "ada", Edited: "blob"}, epoch); err != nil {
		t.Fatal(err)
	}
	for items, want := range map[int]string{1: "item 1 of run r1 is already approved", 9: "run r1 has no item 9"} {
		_, err := j.Approvals.Decide(t.Context(), engine.Decision{Run: "r1", Items: []int{2, items}, By: engine.DecidedCommand, Reason: "wrong year"}, epoch)
		if f := failure.Of(err); f == nil || f.Code != failure.Input || f.Hint == "" || !strings.Contains(f.Message, want) {
			t.Errorf("Decide %d: %v, want %q", items, err, want)
		}
	}
	if got, want := said(t, j), "1 a approved note; 2 b; 3 c"; got != want {
		t.Errorf("got %q, want %q: a decision about something else stores nothing", got, want)
	}

	if list, err := j.Approvals.Of(t.Context(), "r1"); err != nil || list[0].Who != "ada" || list[0].Edited != "blob" || list[0].Decider() != "ada (note)" {
		t.Errorf("item 1 is stored as %+v, %v", list[0], err)
	}

	if runs, next, err := j.Approvals.Expire(t.Context(), epoch); len(runs) != 0 || !next.Equal(due.Deadline) || err != nil {
		t.Errorf("Expire before: %v, %v, %v", runs, next, err)
	}
	if runs, next, err := j.Approvals.Expire(t.Context(), due.Deadline); len(runs) != 1 || !next.IsZero() || err != nil {
		t.Errorf("Expire: %v, %v, %v; want r1 and no deadline more", runs, next, err)
	}
	propose(epoch, proposal("b2"))
	if got, want := said(t, j), "1 a approved note; 2 b withdrawn; 3 c rejected timeout; 4 b2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if held := propose(epoch, proposal("b"), proposal("a")); !held[1].Open() || held[0].Decision != engine.ProposalApproved {
		t.Errorf("as it was before: %+v; want a still approved, b open again", held)
	}
	list, err := j.Approvals.Open(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Key != "b" || list[0].Item != 2 {
		t.Errorf("open: %+v, %v", list, err)
	}
	if got, err := j.Approvals.Decided(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("to be woken while it is at work: %v, %v", got, err)
	}
	e.Run.Status = engine.AwaitingApproval
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if got, err := j.Approvals.Decided(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("to be woken: %v, %v", got, err)
	}

	e.Run.Status, e.Run.Finished = engine.Cancelled, epoch
	if err := j.Runs.Save(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if list, err := j.Approvals.Open(t.Context(), "r1"); err != nil || len(list) != 0 {
		t.Errorf("of a run that has ended: %+v, %v", list, err)
	}
	if _, err := j.Approvals.Decide(t.Context(), engine.Decision{Run: "r1", Approve: true, By: engine.DecidedCommand}, epoch); failure.Of(err).Code != failure.Input {
		t.Errorf("a decision about a run that has ended: %v", err)
	}
}

// The prompt that was approved last is known for good, whatever becomes of its run.
func TestApprovals_prompts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	ref := engine.StepRef{Run: "r1", Workflow: "w", Step: "a"}
	keep := func(key, sketch string, at time.Time) {
		t.Helper()
		if err := j.Approvals.KeepPrompt(t.Context(), ref, key, []byte(sketch), at); err != nil {
			t.Fatal(err)
		}
	}
	is := func(key, want string) {
		t.Helper()
		got, found, err := j.Approvals.ApprovedPrompt(t.Context(), key)
		if err != nil || string(got) != want || found != (want != "") {
			t.Errorf("%s: %q, %v; want %q", key, got, err, want)
		}
	}
	is("k", "")
	keep("k", "one", epoch)
	keep("k", "two", epoch.Add(time.Minute))
	keep("k", "one", epoch) // again, as after a crash
	keep("l", "three", epoch)
	if _, err := j.Sweep(t.Context(), journal.Retention{}, epoch.AddDate(10, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	is("k", "two")
	is("l", "three")
}
