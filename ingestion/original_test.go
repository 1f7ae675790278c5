package ingestion

import (
	"context"
	"testing"
)

// racing is a vault in which somebody else writes between the reading of a file and the first writing of it.
type racing struct {
	*disk
	before func() // called once
}

func (r *racing) Write(ctx context.Context, name string, data []byte, base string) error {
	if before := r.before; before != nil {
		r.before = nil
		before()
	}
	return r.disk.Write(ctx, name, data, base)
}

// A line of the history is added to what another program has written meanwhile.
func TestFile_addsToAHistoryThatChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	j := b.drop("imp-2", "Import/q3.pdf", pdfBytes)
	other := History{Event: "duplicate", Import: "imp-other", Source: "Import/other.pdf", At: noon}
	b.im.Files = &racing{b.disk, func() {
		m, ok := b.im.manifest("Imported/q3")
		m.Import.History = append(m.Import.History, other)
		data, err := m.encode()
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := write(b.disk.path("Imported/q3/manifest.json"), data); err != nil {
			t.Fatal(err)
		}
	}}
	if _, err := b.im.File(t.Context(), j, Ending{State: StateDuplicate, Bundle: "Imported/q3"}); err != nil {
		t.Fatal(err)
	}
	m, _ := b.im.manifest("Imported/q3")
	if h := m.Import.History; len(h) != 2 || h[0].Import != "imp-other" || h[1].Import != "imp-2" {
		t.Errorf("history %+v, want both lines", h)
	}
}
