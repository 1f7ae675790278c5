package ingestion

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/vault/vaulttest"
)

// The hidden folders are tidied away between the rename and the journal's record of it.
func TestPublish_findsItsBundleWithoutRecords(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1})
	b.vault.Put("Imported/q3/own.md", "a person's folder")
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Route = filetype.Classify("", j.Source, pdfBytes, nil, 0)
	x, err := b.im.Extract(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	want, err := b.im.Publish(t.Context(), j, x)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.im.Forget(j); err != nil {
		t.Fatal(err)
	}
	got, err := b.im.Publish(t.Context(), j, x)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	filed, err := b.im.File(t.Context(), j, Ending{State: StateDone, Bundle: got.Bundle})
	if err != nil || filed.Name != "Imported/q3 (2)/q3.pdf" || b.read(filed.Name) != string(pdfBytes) || b.hidden() != nil {
		t.Errorf("filed %+v, %v, left %v", filed, err, b.hidden())
	}
}

// Names that others take while a bundle is published leave no note behind, not even after a crash: the bundle has one.
func TestPublish_hasOneNoteWhenItsNameIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	for dieAt := 0; ; dieAt++ {
		b := newBench(t, extract.Document{Pages: 1})
		j := b.drop("imp-1", "Import/q3.csv", []byte("a,b\n1,2\n"))
		b.fuse.dieAt = dieAt
		b.im.Files = importing(vaulttest.Intercept(b.vault, func(what string, do func() error) error {
			if name, is := strings.CutPrefix(what, "publish "); is && name != "Imported/q3 (3)" {
				b.vault.Put(name+"/manifest.json", "{}")
			}
			return b.fuse.change(what, do)
		}))
		var done journal
		err := b.resume(j, &done)
		died := errors.Is(err, errKilled)
		if died {
			b.revive(0)
			err = b.resume(j, &done)
		}
		if err != nil {
			t.Fatalf("died at %d: %v", dieAt, err)
		}
		if notes, _ := fs.Glob(b.vault.FS(), done.made.Bundle+"/*.md"); len(notes) != 1 || notes[0] != done.made.Note {
			t.Fatalf("died at %d: notes %q, want only %s", dieAt, notes, done.made.Note)
		}
		if dieAt > 0 && !died {
			return
		}
	}
}

// A person's properties that are no YAML cannot be merged into those of the new version, and are kept all the same.
func TestPublish_keepsPropertiesThatAreNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1})
	b.mustRun(b.drop("imp-0", "Import/q3.pdf", []byte("%PDF-1.4\nolder")))
	note := strings.Replace(b.read("Imported/q3/q3.md"), "---\n", "---\nmine: a: b\n", 1)
	b.vault.Put("Imported/q3/q3.md", note)
	made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	got := b.read(made.Note)
	front, rest, _ := strings.Cut(got, "---\n```yaml\n")
	if !strings.Contains(front, "source_type: pdf\n") || !strings.HasPrefix(rest, "mine: a: b\n") || !strings.Contains(rest, "```\n\n"+indexnote.Begin) {
		t.Errorf("note:\n%s", got)
	}
}
