package journal_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
)

func TestTrail_withTheRunsThatToolsStarted(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for _, e := range []engine.Entry{
		entry("r1", "manual:r1", "w"), entry("r2", "tool:r1/0/0/1", "v"), entry("r3", "tool:r2/0/0/1", "u"), entry("r10", "tool:r10/0/0/1", "w"), entry("x", "tool:r11/0/0/1", "w"),
	} {
		create(t, j, e)
	}
	var want []engine.RunChange
	for i, run := range []string{"r1", "r2", "x", "r3", "r2", "r1", "r10"} {
		c := engine.Change{Kind: engine.ChangeWrite, Name: "a.md", Before: strings.Repeat("a", i), After: strings.Repeat("a", i+1)}
		call := strings.Repeat("c", i+1)
		ref := engine.StepRef{Run: run}
		if err := j.Changes.Intend(t.Context(), ref, call, c, "", time.Now()); err != nil {
			t.Fatal(err)
		}
		if i != 3 {
			if err := j.Changes.Made(t.Context(), ref, call, true); err != nil {
				t.Fatal(err)
			}
		}
		c.Doubt = i == 3
		if workflow, ours := map[string]string{"r1": "w", "r2": "v", "r3": "u"}[run]; ours {
			want = append(want, engine.RunChange{Run: run, Workflow: workflow, Change: c})
		}
	}
	got, err := j.Undo.Trail(t.Context(), "r1")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTakeBack_marksAndVariables(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	j := open(t, t.TempDir())
	for _, run := range []string{"r0", "r1", "u1", "u2"} {
		create(t, j, entry(run, run, "w"))
	}
	mark := func(run, name, content string) {
		t.Helper()
		if err := j.Memory.Committed(ctx, engine.StepRef{Run: run, Workflow: "w", Step: "s"}, []engine.Mark{{Name: name, SHA256: digest(content)}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	set := func(run, name, value string) {
		t.Helper()
		if err := j.Memory.Committed(ctx, engine.StepRef{Run: run, Workflow: "w", Step: "s"}, nil, []engine.Var{{Name: name, Digest: digest(value), Origins: []string{run}}}); err != nil {
			t.Fatal(err)
		}
	}
	mark("r0", "old.md", "1")
	set("r0", "v", "one")
	mark("r1", "old.md", "2")
	mark("r1", "new.md", "1")
	mark("r1", "new.md", "1") // a commit that was repeated
	mark("r1", "later.md", "1")
	set("r1", "v", "two")
	set("r1", "fresh", "value")
	mark("r0", "later.md", "2") // by somebody else since
	state := func() string {
		var words []string
		for _, f := range []struct{ name, content string }{{"old.md", "1"}, {"old.md", "2"}, {"new.md", "1"}, {"later.md", "2"}} {
			if done, err := j.Memory.Done(ctx, directives.PendingKey{Workflow: "w", Step: "s"}, f.name, digest(f.content)); err != nil {
				t.Fatal(err)
			} else if done {
				words = append(words, f.name+f.content)
			}
		}
		for _, name := range []string{"v", "fresh"} {
			if v, set, err := j.Memory.Variable(ctx, "w", name); err != nil {
				t.Fatal(err)
			} else if set {
				words = append(words, map[string]string{digest("one"): "one", digest("two"): "two", digest("value"): "value"}[v.Digest]+"("+strings.Join(v.Origins, ",")+")")
			}
		}
		return strings.Join(words, " ")
	}
	before := state()
	if want := "old.md2 new.md1 later.md2 two(r0,r1) value(r1)"; before != want {
		t.Fatalf("before: %s, want %s", before, want)
	}
	back := func(of, by string, want int) {
		t.Helper()
		list, err := j.Undo.Memories(ctx, of)
		if err != nil {
			t.Fatal(err)
		}
		if standing, err := j.Undo.Standing(ctx, list); err != nil || len(standing) != want {
			t.Errorf("%d of %d memories of %s stand, want %d: %v", len(standing), len(list), of, want, err)
		}
		for range 2 { // the second time after a kill
			if taken, err := j.Undo.TakeBack(ctx, by, list); err != nil || len(taken) != want {
				t.Errorf("%s takes %d of %d memories of %s back, want %d: %v", by, len(taken), len(list), of, want, err)
			}
		}
	}
	back("r1", "u1", 4)
	if got, want := state(), "later.md2 one(r0)"; got != want {
		t.Errorf("taken back: %s, want %s", got, want)
	}
	back("u1", "u2", 4)
	if got := state(); got != before {
		t.Errorf("the undo taken back: %s, want %s", got, before)
	}
}

func TestWriterSince(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	for _, run := range []string{"r9", "r5", "r1"} { // ids that do not sort: of one second, or of a clock that was set back
		create(t, j, entry(run, "k"+run, "w"))
		err := j.Memory.Writing(context.WithoutCancel(t.Context()), engine.StepRef{Run: run, Workflow: "w"}, []engine.StagedFile{{Name: "a.md", New: digest(run)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for content, want := range map[string]string{"r9": "", "r5": "", "r1": "r1", "nobody's": ""} {
		if got, err := j.Undo.WriterSince(t.Context(), "r5", "a.md", digest(content)); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", content, got, err, want)
		}
	}
}

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}
