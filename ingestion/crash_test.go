package ingestion

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
)

// journal keeps the outcomes of stages over the death of a process, as the engine's does.
type journal struct {
	kind *Classified
	x    *Extracted
	made *Published
}

// resume runs the stages that have no outcome yet.
func (b *bench) resume(j Job, done *journal) error {
	_, err := b.resumed(j, done)
	return err
}

// resumed is resume, and returns where the original is.
func (b *bench) resumed(j Job, done *journal) (Filed, error) {
	ctx := b.Context()
	if done.kind == nil {
		kind, err := b.im.Classify(ctx, j)
		if err != nil {
			return Filed{}, err
		}
		done.kind = &kind
	}
	j.Route = done.kind.Route
	if done.x == nil {
		x, err := b.im.Extract(ctx, j)
		if err != nil {
			return Filed{}, err
		}
		done.x = &x
	}
	if done.made == nil {
		made, err := b.im.Publish(ctx, j, *done.x)
		if err != nil {
			return Filed{}, err
		}
		done.made = &made
	}
	return b.im.File(ctx, j, Ending{State: StateDone, Bundle: done.made.Bundle})
}

// secondVersion is a vault with a bundle in which a person has written, and new bytes at the same place.
func secondVersion(t *testing.T) (*bench, Job) {
	b := newBench(t, report)
	b.mustRun(b.drop("imp-0", "Import/q3.pdf", []byte("%PDF-1.4\nolder")))
	note := b.read("Imported/q3/q3.md")
	note = strings.Replace(note, "---\n"+indexnote.Begin, "mine: yes\n---\nMy words.\n\n"+indexnote.Begin, 1) + "\nMore of mine.\n"
	b.vault.Put("Imported/q3/q3.md", note)
	b.worker.requests, b.worker.tries, b.events = nil, nil, nil
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Settings.Sessions = 1 // one order of changes
	b.revive(0)
	return b, j
}

// A process that is killed after any change and started again ends with the same vault, and renders no page that had a
// record.
func TestImport_survivesCrashes(t *testing.T) {
	t.Parallel()
	b, j := secondVersion(t)
	if err := b.resume(j, &journal{}); err != nil {
		t.Fatal(err)
	}
	want, changes := b.tree(), len(b.fuse.ops)
	note := want["Imported/q3/q3.md"]
	if !strings.Contains(note, "mine: yes") || !strings.Contains(note, "My words.") || !strings.HasSuffix(note, "More of mine.\n") {
		t.Fatalf("what a person wrote is lost:\n%s", note)
	}
	if _, ok := want["Imported/q3 (version 1)/q3.pdf"]; !ok || want["Imported/q3/q3.pdf"] != string(pdfBytes) {
		t.Fatalf("an original is lost: %v", names(want))
	}
	if changes < 20 {
		t.Fatalf("only %d changes: the test kills nothing", changes)
	}
	for at := 1; at <= changes; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			b, j := secondVersion(t)
			b.revive(at)
			var done journal
			if err := b.resume(j, &done); !errors.Is(err, errKilled) {
				t.Fatalf("the process was not killed: %v", err)
			}
			recorded := b.recorded()
			b.worker.requests = nil
			b.revive(0)
			if err := b.resume(j, &done); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, b.tree()); diff != "" {
				t.Errorf("another vault than without the crash (-want +got):\n%s", diff)
			}
			for _, r := range b.worker.requests {
				if recorded[r.N] {
					t.Errorf("page %d had a record and was asked for again", r.N)
				}
			}
			if left := b.hidden(); left != nil {
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// recorded lists the pages that have a record in a hidden folder.
func (b *bench) recorded() map[int]bool {
	found, err := fs.Glob(b.vault.FS(), "Imported/.vaultflow-*-work/page_*.json")
	if err != nil {
		b.Fatal(err)
	}
	pages := map[int]bool{}
	for _, file := range found {
		var n int
		if _, err := fmt.Sscanf(path.Base(file), "page_%d.json", &n); err != nil {
			b.Fatal(err)
		}
		pages[n] = true
	}
	return pages
}

// The same for the ways in which an import ends without a bundle of its own.
func TestFile_survivesCrashes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		end  Ending
		keep string
	}{
		"failed":             {end: Ending{State: StateFailed, Code: failure.Corrupt, Message: "broken", Hint: "mend it"}},
		"password":           {end: Ending{State: StateNeedsPassword, Message: "encrypted"}},
		"duplicate":          {end: Ending{State: StateDuplicate, Bundle: "Imported/q3"}},
		"duplicate, done":    {end: Ending{State: StateDuplicate, Bundle: "Imported/q3"}, keep: config.KeepInDone},
		"duplicate, deleted": {end: Ending{State: StateDuplicate, Bundle: "Imported/q3"}, keep: config.KeepNot},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := func() (*bench, Job) {
				b := newBench(t, report)
				b.empty()
				j := b.drop("imp-0", "Import/q3.pdf", pdfBytes)
				j.Settings.KeepOriginal = c.keep
				b.mustRun(j)
				j = b.drop("imp-1", "Import/again/q3.pdf", pdfBytes)
				j.Settings.KeepOriginal = c.keep
				b.revive(0)
				return b, j
			}
			b, j := start()
			filed, err := b.im.File(t.Context(), j, c.end)
			if err != nil {
				t.Fatal(err)
			}
			want, changes := b.tree(), len(b.fuse.ops)
			if b.im.exists(j.Source) {
				t.Error("the original is still in the import folder")
			}
			if c.keep != config.KeepNot && want[filed.Name] != string(pdfBytes) {
				t.Errorf("the original is not at %q", filed.Name)
			}
			for at := 1; at <= changes; at++ {
				b, j := start()
				b.revive(at)
				if _, err := b.im.File(t.Context(), j, c.end); !errors.Is(err, errKilled) {
					t.Fatalf("change %d: not killed: %v", at, err)
				}
				b.revive(0)
				if _, err := b.im.File(t.Context(), j, c.end); err != nil {
					t.Fatalf("change %d: %v", at, err)
				}
				if diff := cmp.Diff(want, b.tree()); diff != "" {
					t.Errorf("killed after change %d (-want +got):\n%s", at, diff)
				}
			}
		})
	}
}
