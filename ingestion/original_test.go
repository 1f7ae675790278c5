package ingestion

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// A line of the history is added to what another program has written meanwhile.
func TestFile_addsToAHistoryThatChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	j := b.drop("imp-2", "Import/q3.pdf", pdfBytes)
	other := manifest.History{Event: "duplicate", Import: "imp-other", Source: "Import/other.pdf", At: noon}
	b.before("write ", func() {
		m, ok := b.im.manifest("Imported/q3")
		m.Import.History = append(m.Import.History, other)
		data, err := m.Encode()
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		b.vault.Put("Imported/q3/manifest.json", string(data))
	})
	if _, err := b.im.File(t.Context(), j, Ending{State: StateDuplicate, Bundle: "Imported/q3"}); err != nil {
		t.Fatal(err)
	}
	m, _ := b.im.manifest("Imported/q3")
	if h := m.Import.History; len(h) != 2 || h[0].Import != "imp-other" || h[1].Import != "imp-2" {
		t.Errorf("history %+v, want both lines", h)
	}
}

// A member of an archive whose name another program takes at the last moment gets the next name.
func TestFile_numbersAMemberWhoseNameIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	j := b.drop("imp-1", "Import/box.zip", zipFiles(t, packedFile{name: "a.txt", data: "one"}))
	b.before("write ", func() {
		b.vault.Put("Import/box/a.txt", "somebody else's")
	})
	b.mustRun(j)
	want := map[string]string{"a.txt": "somebody else's", "a (2).txt": "one"}
	if diff := cmp.Diff(want, b.found("Import/box")); diff != "" {
		t.Errorf("in the import folder (-want +got):\n%s", diff)
	}
}

// What somebody has open for writing is neither moved nor removed: its import ends, and its original is put away when it was
// closed, into the bundle that has its bytes.
func TestFile_leavesWhatIsBeingWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.im.Writing = func(string) string { return "scp still has it open for writing" }
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	made, _, err := b.run(j)
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || !e.Transient || !strings.Contains(e.Message, "scp still has it open") || !b.im.exists(j.Source) {
		t.Fatalf("got %v, want the original to stay, and why", err)
	}
	again := b.drop("imp-2", "Import/q3.pdf", pdfBytes)
	if _, _, err := b.run(again); err == nil || !b.im.exists(j.Source) {
		t.Errorf("a duplicate that is being written: %v", err)
	}
	b.im.Writing = func(string) string { return "" }
	if _, filed := b.mustRun(again); filed.Name != made.Bundle+"/q3.pdf" || b.im.exists(j.Source) || len(b.hidden()) > 0 {
		t.Errorf("filed %+v, want it in its bundle and nothing left over", filed)
	}
}
