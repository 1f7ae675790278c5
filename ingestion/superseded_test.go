package ingestion

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// A version that is all in the next one is replaced in place, unless a run may have read it or the user changed something in it.
func TestImport_supersedes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		next  string
		used  bool
		touch func(b *bench)
		kept  bool
	}{
		"appended":      {next: "one\ntwo\n"},
		"other":         {next: "two\n", kept: true},
		"read by a run": {next: "one\ntwo\n", used: true, kept: true},
		"corrected": {next: "one\ntwo\n", kept: true, touch: func(b *bench) {
			b.vault.Put("Imported/log/log.md", strings.Replace(b.read("Imported/log/log.md"), "one", "won", 1))
		}},
		"with a file of the user's": {next: "one\ntwo\n", kept: true, touch: func(b *bench) { b.vault.Put("Imported/log/mine.txt", "x") }},
		"with words of the user's": {next: "one\ntwo\n", touch: func(b *bench) {
			b.vault.Put("Imported/log/log.md", b.read("Imported/log/log.md")+"\nMine.\n")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{})
			b.im.Used = func(context.Context, time.Time) (bool, error) { return c.used, nil }
			b.mustRun(b.drop("imp-1", "Import/log.txt", []byte("one\n")))
			if c.touch != nil {
				c.touch(b)
			}
			b.mustRun(b.drop("imp-2", "Import/log.txt", []byte(c.next)))
			if kept := b.im.exists("Imported/log (version 1)"); kept != c.kept {
				t.Errorf("the version before is there: %v; %v", kept, b.found("Imported"))
			}
			m, _ := b.im.manifest("Imported/log")
			if h := m.Import.History; m.Import.Version != 2 || len(h) != 1 || (h[0].Bundle == "") == c.kept || b.read("Imported/log/log.txt") != c.next {
				t.Errorf("version %d: %+v", m.Import.Version, h)
			}
			if name == "with words of the user's" {
				hasAll(t, b.read("Imported/log/log.md"), "Mine.")
			}
		})
	}
}

// A process that dies at any point while it replaces a version leaves nothing half removed in the end, although a run has begun.
func TestImport_supersedesAfterCrashes(t *testing.T) {
	t.Parallel()
	for at, changes := 1, 2; at <= changes; at++ {
		b := newBench(t, extract.Document{})
		b.mustRun(b.drop("imp-1", "Import/log.txt", []byte("one\n")))
		j := b.drop("imp-2", "Import/log.txt", []byte("one\ntwo\n"))
		used := false
		var done journal
		for _, dieAt := range []int{at, 0} {
			b.revive(dieAt)
			b.im.Used = func(context.Context, time.Time) (bool, error) { return used, nil }
			if err := b.resume(j, &done); err != nil && !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			if m, _ := b.im.manifest("Imported/log"); len(m.Import.History) > 0 && m.Import.History[0].Bundle == "" {
				used = true
			}
			changes = max(changes, len(b.fuse.ops))
		}
		if left := b.found("Imported"); len(left) != 4 || left["log/log.txt"] != "one\ntwo\n" {
			t.Fatalf("after a crash at change %d of %d: %q", at, changes, slices.Sorted(maps.Keys(left)))
		}
	}
}
