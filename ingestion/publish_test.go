package ingestion

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
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
