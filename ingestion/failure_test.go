package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// failed is a bench with a file in the failed folder, which opens from now on.
func failed(t *testing.T) (*bench, Job, Filed) {
	t.Helper()
	b := newBench(t, extract.Document{Pages: 1})
	j := b.drop("imp-1", "Import/sub/q3.pdf", pdfBytes)
	filed, err := b.im.File(t.Context(), j, Ending{State: StateFailed, Code: failure.Corrupt, Message: "broken", Hint: "save it anew"})
	if err != nil || filed.Name != "Import/Failed/sub/q3.pdf" {
		t.Fatalf("filed %+v, %v", filed, err)
	}
	hasAll(t, b.read(filed.Note), "- why: broken\n- what to do: save it anew\n- then: put the file back into the import folder, or `vaultflow import --retry imp-1`")
	return b, j, filed
}

func TestFailureNote_goesWhenTheFileIsImported(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*bench, Job, Filed) Job{
		"retried in place": func(_ *bench, j Job, f Filed) Job { j.Where = f.Name; return j },
		"put back": func(b *bench, _ Job, f Filed) Job {
			b.vault.Rename(f.Name, "Import/sub/q3.pdf")
			return b.drop("imp-2", "Import/sub/q3.pdf", pdfBytes)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, j, filed := failed(t)
			b.mustRun(again(b, j, filed))
			if b.im.exists(filed.Note) || b.im.exists(filed.Name) || !b.im.exists("Imported/sub/q3/q3.pdf") {
				t.Errorf("after the import: %v", b.found("Import"))
			}
		})
	}
}

func TestFailureNote_staysWhenItSpeaksOfAnother(t *testing.T) {
	t.Parallel()
	b, _, filed := failed(t)
	b.mustRun(b.drop("imp-2", "Import/sub/q3.pdf", []byte("%PDF-1.4\nother bytes")))
	if !b.im.exists(filed.Note) || !b.im.exists(filed.Name) {
		t.Errorf("the other file's failure is forgotten: %v", b.found("Import"))
	}
}

func TestFailureNote_staysWhenAPersonMadeItTheirs(t *testing.T) {
	t.Parallel()
	b, j, filed := failed(t)
	b.vault.Put(filed.Note, b.read(filed.Note)+"\nI asked Ada for another copy.\n")
	j.Where = filed.Name
	b.mustRun(j)
	if note := b.read(filed.Note); !strings.Contains(note, "Ada") {
		t.Errorf("the note:\n%s", note)
	}
}

func TestImport_foldersOfAnArchiveAreTidied(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	b.mustRun(b.drop("imp-1", "Import/mine/box.zip", zipFiles(t, packedFile{name: "in/deep/a.txt", data: "one"}, packedFile{name: "in/b.txt", data: "two"})))
	b.mustRun(b.drop("imp-2", "Import/mine/box/in/deep/a.txt", []byte("one")))
	if b.im.exists("Import/mine/box/in/deep") || !b.im.exists("Import/mine/box/in/b.txt") {
		t.Errorf("after the first member: %v", b.found("Import"))
	}
	j := b.drop("imp-3", "Import/mine/box/in/b.txt", []byte("two"))
	if _, err := b.im.File(t.Context(), j, Ending{State: StateFailed, Message: "broken"}); err != nil {
		t.Fatal(err)
	}
	if b.im.exists("Import/mine/box") || !b.im.exists("Import/mine") {
		t.Errorf("a person's folder is gone, or that of the archive is left: %v", b.found("Import"))
	}
}
