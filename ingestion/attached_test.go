package ingestion

import (
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Data attached to a PDF is a file of its bundle; documents are imported by themselves, and no name leads out.
func TestImport_attachedFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1, Attached: []string{"factur-x.xml", "../../terms.html", "Factur-X.xml", ".hidden", ""}})
	made, _ := b.mustRun(b.drop("imp-1", "Import/bill.pdf", pdfBytes))
	m, _ := b.im.manifest(made.Bundle)
	var kept []string
	for _, a := range m.Assets {
		kept = append(kept, a.Path)
	}
	if want := []string{"attachments/factur-x.xml", "attachments/Factur-X (2).xml", "attachments/attached file 5"}; !slices.Equal(kept, want) {
		t.Errorf("in the bundle: %q, want %q", kept, want)
	}
	if got := b.read("Imported/bill/attachments/factur-x.xml"); got != "<xml>factur-x.xml</xml>" || len(m.Children) != 1 || b.read("Import/bill/terms.html") == "" {
		t.Errorf("attached: %q, children %+v", got, m.Children)
	}
	hasAll(t, b.read(made.Note), "[[./terms/terms|terms.html]]", "- [[./attachments/factur-x.xml|factur-x.xml]], 23 bytes", ".hidden was left in the document: it is hidden")
}
