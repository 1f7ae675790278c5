package journal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// TestUnsettled: a failure is known by the files it is about until a later run is about them, whatever other files' runs do.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	n := 0
	run := func(s engine.Status, files ...string) string {
		t.Helper()
		n++
		e := entry(fmt.Sprintf("r%d", n), fmt.Sprintf("k%d", n), "w")
		e.Run.Trigger.Files = files
		create(t, j, e)
		if e.Run.Status = s; s.Finished() {
			e.Run.Finished = epoch.Add(time.Duration(n) * time.Minute)
		}
		if err := j.Runs.Save(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		return e.Run.ID
	}
	omissions := epoch
	want := func(want ...string) {
		t.Helper()
		list, err := j.Runs.Unsettled(t.Context(), "w", omissions)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range list {
			got = append(got, r.Run+":"+strings.Join(r.Files, ","))
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %d runs: %v; want %v", n, got, want)
		}
	}
	want()
	run(engine.Failed, "a", "b") // r1
	run(engine.Done, "c")
	run(engine.Failed) // r3: of a schedule
	want("r3:", "r1:a,b")
	run(engine.Skipped, "a")
	run(engine.Cancelled, "b")
	want("r3:", "r1:a,b")
	run(engine.Done, "a")
	want("r3:", "r1:b")
	run(engine.Refused, "b") // r7
	want("r7:b", "r3:")
	run(engine.Done)
	want("r7:b")
	run(engine.DoneWithOmissions, "c") // r9
	want("r9:c", "r7:b")
	if omissions = epoch.Add(time.Hour); true {
		want("r7:b")
	}
	if err := j.Runs.Dismiss(t.Context(), "r7", epoch); err != nil {
		t.Fatal(err)
	}
	want()
	if r, err := j.Runs.Run(t.Context(), "r7"); err != nil || r.Dismissed.IsZero() || r.Status != engine.Refused {
		t.Errorf("a dismissed run: %+v, %v", r, err)
	}
	if err := j.Runs.Dismiss(t.Context(), "r6", epoch); err == nil || !strings.Contains(err.Error(), "did not fail") {
		t.Errorf("dismissing a success: %v", err)
	}
	run(engine.Failed, "d") // r10
	want("r10:d")
	run(engine.Queued, "d") // it was asked for again
	want()
}
