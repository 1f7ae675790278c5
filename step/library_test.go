package step

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
)

// A quotation may be from the page as it was read, or as somebody corrected it in the note.
func TestLibrary_textOfEditedPages(t *testing.T) {
	t.Parallel()
	note := vault.GeneratedBegin + "\n# W\n\n## Page 1\n\n[[./W.pdf#page=1|W.pdf, page 1]] ^p1\n\nThe rnodel is right.\n" + vault.GeneratedEnd + "\n"
	digest := vault.PageDigests(note)[1]
	for edit, want := range map[string]string{"": "The rnodel is right.", "model": "The rnodel is right.\n\n\nThe model is right.\n"} {
		text := note
		if edit != "" {
			text = strings.Replace(note, "rnodel", edit, 1)
		}
		files := fstest.MapFS{
			"Imported/W/W.md":               {Data: []byte(text)},
			"Imported/W/text/page_0001.txt": {Data: []byte("The rnodel is right.")},
			"Imported/W/manifest.json": {Data: []byte(`{"version":1,"note":"W.md","source":{"name":"W.pdf","kind":"pdf"},"pages":[{"n":1,"text":{"path":"text/page_0001.txt"},"status":"done"}],` +
				`"generated":{"W.md":{"1":"` + digest + `"}}}`)},
		}
		d := Library{FS: files, ImportedDir: "Imported"}.open(t.Context(), []engine.PagesShown{}).imported("Imported/W")
		if got, found := d.Text(1); got != want || !found {
			t.Errorf("edit %q: text %q, want %q", edit, got, want)
		}
	}
}
