package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
)

func TestImport_partOfADocument(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Settings.Asked.Pages = "2,4-"
	made, _ := b.mustRun(j)
	m, _ := b.im.manifest(made.Bundle)
	if m.Import.Part != "2,4-" || m.Document.Pages != 4 || len(m.Pages) != 2 || m.Pages[0].N != 2 || m.Pages[1].N != 4 {
		t.Errorf("part %q of %d pages: %+v", m.Import.Part, m.Document.Pages, m.Pages)
	}
	for _, r := range b.worker.requests {
		if r.N == 1 || r.N == 3 {
			t.Errorf("page %d was asked for", r.N)
		}
	}
	note := b.read(made.Note)
	hasAll(t, note, "pages: 2\n", "pages 2, 4 of 4", "> - imported only pages 2, 4 of 4", "## Page 4\n", "[[#Page 2|Detail]]", `- Start \| [here\]`)
	if strings.Contains(note, "## Page 3") || strings.Contains(note, "[[#Page 1|") {
		t.Errorf("the note speaks of pages that are not there:\n%s", note)
	}
	if last := b.events[len(b.events)-2]; last.Pages != 2 {
		t.Errorf("told of %d pages: %+v", last.Pages, b.events)
	}

	whole, _ := b.mustRun(b.drop("imp-2", "Import/q3.pdf", pdfBytes))
	if m, _ := b.im.manifest(whole.Bundle); len(m.Pages) != 4 || m.Import.Version != 2 || m.Import.Part != "" {
		t.Errorf("the whole document after a part: version %d, part %q, %d pages", m.Import.Version, m.Import.Part, len(m.Pages))
	}
}

func TestImport_partThatIsNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 3})
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Settings.Asked.Pages = "7-9"
	_, _, err := b.run(j)
	if e, ok := err.(*fault.Error); !ok || e.Code != failure.InvalidSettings || !strings.Contains(e.Message, "3 pages") || e.Remedy == "" { //nolint:errorlint // returned as it is
		t.Errorf("got %v", err)
	}
}
