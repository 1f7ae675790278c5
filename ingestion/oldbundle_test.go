package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// An earlier version of the program called every note index.md and did not say so in the manifest.
func (b *bench) asOlder(made Published) {
	b.Helper()
	b.vault.Put(made.Bundle+"/index.md", b.read(made.Note))
	b.vault.Delete(made.Note)
	name := made.Bundle + "/manifest.json"
	text := b.read(name)
	_, rest, found := strings.Cut(text, "\"note\": ")
	if !found {
		b.Fatalf("the manifest names no note:\n%s", text)
	}
	_, rest, _ = strings.Cut(rest, "\n")
	b.vault.Put(name, "{\n  \"version\": 1,\n"+rest)
}

func TestPublish_olderBundleKeepsIndex(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1})
	made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	b.asOlder(made)
	b.vault.Put("Imported/q3/index.md", b.read("Imported/q3/index.md")+"my own words\n")
	for _, id := range []string{"imp-2", "imp-3"} {
		made, _ = b.mustRun(b.drop(id, "Import/q3.pdf", append([]byte(id), pdfBytes...)))
		if note := b.read("Imported/q3/index.md"); !strings.Contains(note, "import_id: "+id+"\n") || !strings.Contains(note, "sha256: ") {
			t.Errorf("the note lost the facts that it had:\n%s", note)
		}
		if made.Note != "Imported/q3/index.md" || !strings.Contains(b.read(made.Note), "my own words") || b.im.exists("Imported/q3/q3.md") {
			t.Fatalf("%s made %+v", id, made)
		}
	}
}

func TestPublish_fileOfOlderArchiveIsWhereItsNoteLinksTo(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	made, _ := b.mustRun(b.drop("imp-0", "Import/box.zip", zipFiles(t, packedFile{name: "a.txt", data: "text"})))
	b.asOlder(made)
	if child, _ := b.mustRun(b.drop("imp-1", "Import/box/a.txt", []byte(b.read("Import/box/a.txt")))); child.Note != "Imported/box/a/index.md" {
		t.Errorf("the archive's file is at %s", child.Note)
	}
}

func TestPublish_noteBesideAFolderOfItsName(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	made, _ := b.mustRun(b.drop("imp-0", "Import/box.zip", zipFiles(t, packedFile{name: "box.md.txt", data: "text"})))
	if b.mustRun(b.drop("imp-1", "Import/box/box.md.txt", []byte("text"))); made.Note != "Imported/box/box (2).md" || !b.im.exists("Imported/box/box.md/box.md.md") {
		t.Errorf("published %+v", made)
	}
}
