package ingestion

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/vault/vaulttest"
)

// csv is a file that does not show where it ends.
const csv = "month,sum\nMay,1\n"

// heldCase is an import whose file is left where it arrived, and how it ends.
type heldCase struct {
	keep string
	end  State
}

func (c heldCase) start(t *testing.T, hold bool) (*bench, Job) {
	b := newBench(t, report)
	b.empty()
	if c.end == StateDuplicate {
		first := b.drop("imp-0", "Import/first.csv", []byte(csv))
		first.Settings.KeepOriginal = c.keep
		b.mustRun(first)
	}
	b.vault.Put("Imported/tables/manifest.json", "")
	j := b.drop("imp-1", "Import/tables/sales.csv", []byte(csv))
	j.Settings.KeepOriginal, j.Settings.Hold = c.keep, hold
	b.revive(0)
	return b, j
}

// imported runs the stages up to File.
func (c heldCase) imported(b *bench, j Job, done *journal) (Ending, Filed, error) {
	switch c.end {
	case StateFailed:
		end := Ending{State: StateFailed, Code: failure.Corrupt, Message: "broken", Hint: "mend it"}
		filed, err := b.im.File(b.Context(), j, end)
		return end, filed, err
	case StateDuplicate:
		end := Ending{State: StateDuplicate, Bundle: "Imported/first"}
		filed, err := b.im.File(b.Context(), j, end)
		return end, filed, err
	}
	filed, err := b.resumed(j, done)
	if done.made == nil {
		return Ending{}, filed, err
	}
	return Ending{State: StateDone, Bundle: done.made.Bundle}, filed, err
}

var heldCases = map[string]heldCase{
	"bundle": {config.KeepInBundle, StateDone}, "done": {config.KeepInDone, StateDone}, "delete": {config.KeepNot, StateDone}, "failed": {config.KeepInBundle, StateFailed},
	"duplicate": {config.KeepInBundle, StateDuplicate}, "duplicate, done": {config.KeepInDone, StateDuplicate}, "duplicate, deleted": {config.KeepNot, StateDuplicate},
}

// A file that is held and then put away ends in the same vault as one that is not held, wherever the process is killed on the way.
func TestPutAway_survivesCrashes(t *testing.T) {
	t.Parallel()
	for name, c := range heldCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, j := c.start(t, false)
			if _, _, err := c.imported(b, j, &journal{}); err != nil {
				t.Fatal(err)
			}
			want := b.tree()
			b, j = c.start(t, true)
			end, filed, err := c.imported(b, j, &journal{})
			if err != nil || !filed.Held {
				t.Fatalf("the file is not held: %+v, %v", filed, err)
			}
			if b.read(j.Source) != csv || filed.Name == "" || b.read(filed.Name) != csv {
				t.Errorf("the file is not at %s and %s", j.Source, filed.Name)
			}
			if _, found, err := b.im.PutAway(t.Context(), j, end); err != nil || !found {
				t.Fatalf("not put away: %v", err)
			}
			if diff := cmp.Diff(want, b.tree()); diff != "" {
				t.Fatalf("another vault than without the hold (-want +got):\n%s", diff)
			}
			changes := len(b.fuse.ops)
			for at := 1; at <= changes; at++ {
				c.killed(t, at, want)
			}
		})
	}
}

// killed plays a case with a process that dies after a change, and one that goes on.
func (c heldCase) killed(t *testing.T, at int, want map[string]string) {
	t.Helper()
	b, j := c.start(t, true)
	b.revive(at)
	var done journal
	end, _, err := c.imported(b, j, &done)
	ended := err == nil
	if ended {
		_, _, err = b.im.PutAway(t.Context(), j, end)
	}
	if !errors.Is(err, errKilled) {
		t.Fatalf("change %d: not killed: %v", at, err)
	}
	b.revive(0)
	if !ended {
		if end, _, err = c.imported(b, j, &done); err != nil {
			t.Fatalf("change %d: %v", at, err)
		}
	}
	if _, _, err := b.im.PutAway(t.Context(), j, end); err != nil {
		t.Fatalf("change %d: %v", at, err)
	}
	if diff := cmp.Diff(want, b.tree()); diff != "" {
		t.Errorf("killed after change %d (-want +got):\n%s", at, diff)
	}
}

// What a program or a person does to a file while it is held is left to its next import; what they do to its bundle loses nothing.
func TestPutAway_afterChanges(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(v *vaulttest.Memory)
		found  bool
		at     []string // where the bytes are then
	}{
		"appended": {func(v *vaulttest.Memory) { v.Put("Import/tables/sales.csv", csv+"June,2\n") }, false, []string{"Imported/tables/sales/sales.csv"}},
		"removed":  {func(v *vaulttest.Memory) { v.Delete("Import/tables/sales.csv") }, false, []string{"Imported/tables/sales/sales.csv"}},
		"copy removed": {
			func(v *vaulttest.Memory) { v.Delete("Imported/tables/sales/sales.csv") }, true, []string{"Imported/tables/sales/sales.csv"},
		},
		"copy edited": {
			func(v *vaulttest.Memory) { v.Put("Imported/tables/sales/sales.csv", "a person's") }, true, []string{"Imported/tables/sales/sales (2).csv"},
		},
		"bundle removed": {func(v *vaulttest.Memory) { v.Delete("Imported/tables/sales") }, true, []string{"Imported/Originals/tables/sales.csv"}},
		"bundle moved": {
			func(v *vaulttest.Memory) { v.Rename("Imported/tables/sales", "Sales") }, true,
			[]string{"Imported/Originals/tables/sales.csv", "Sales/sales.csv"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := heldCases["bundle"]
			b, j := h.start(t, true)
			end, _, err := h.imported(b, j, &journal{})
			if err != nil {
				t.Fatal(err)
			}
			c.change(b.vault)
			before := b.tree()[j.Source]
			if _, found, err := b.im.PutAway(t.Context(), j, end); err != nil || found != c.found {
				t.Fatalf("found %v, want %v: %v", found, c.found, err)
			}
			after, left := b.tree()[j.Source]
			if c.found && left || !c.found && after != before {
				t.Errorf("the import folder holds %q", after)
			}
			for _, name := range c.at {
				if got := b.tree()[name]; got != csv {
					t.Errorf("%s holds %q; there are %v", name, got, names(b.tree()))
				}
			}
		})
	}
}

// A file that somebody has open for writing is not put away.
func TestPutAway_open(t *testing.T) {
	t.Parallel()
	for name, c := range heldCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, j := c.start(t, true)
			end, _, err := c.imported(b, j, &journal{})
			if err != nil {
				t.Fatal(err)
			}
			b.im.Writing = func(name string) string { return "bash still has " + name + " open for writing" }
			_, _, err = b.im.PutAway(t.Context(), j, end)
			if bad, ok := errors.AsType[*fault.Error](err); !ok || !bad.Transient || !strings.Contains(fmt.Sprint(err), "bash still has") {
				t.Errorf("put away while it is open: %v", err)
			}
			if b.read(j.Source) != csv {
				t.Error("the file is gone")
			}
		})
	}
}

// What shows its end, lies elsewhere, came in an archive, or was asked for by a command leaves the import folder at once.
func TestFile_holdsNot(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*bench, *Job){
		"not asked for":  func(_ *bench, j *Job) { j.Settings.Hold = false },
		"nobody puts it": func(b *bench, _ *Job) { b.im.Endless = nil },
		"shows its end":  func(b *bench, j *Job) { *j = b.drop("imp-1", "Import/tables/q3.pdf", pdfBytes); j.Settings.Hold = true },
		"from an archive": func(b *bench, _ *Job) {
			m := `{"version":1,"source":{"kind":"archive"},"children":[{"name":"sales.csv","bundle":"sales"}]}`
			b.vault.Put("Imported/tables/manifest.json", m)
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, j := heldCases["bundle"].start(t, true)
			change(b, &j)
			if _, filed := b.mustRun(j); filed.Held || b.im.exists(j.Source) {
				t.Errorf("it is held: %+v", filed)
			}
		})
	}
}
