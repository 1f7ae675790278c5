package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// A file that is not read has a note with what it is, whatever the worker would have made of it.
func TestImport_fileThatIsNotRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"plan.dwg":   {"AC1032\x00\x00\x00\x00\x00\x00\x00", "This is an AutoCAD drawing, which is kept and not read; export it as PDF to have it read."},
		"photo.jxl":  {"\xff\x0a\x00\x01", "This is a JPEG XL picture"},
		"photo.bpg":  {"BPG\xfb\x00\x01", "This is a BPG picture"},
		"photo.cr2":  {"II*\x00\x10\x00\x00\x00CR\x02\x00", "This is a raw photograph"},
		"logo.ico":   {"\x00\x00\x01\x00\x01\x00\x00", "This is an icon"},
		"logo.icns":  {"icns\x00\x00\x00\x08", "This is a set of icons of macOS"},
		"old.vsd":    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "This is a Visio drawing from before 2013"},
		"data.db":    {"SQLite format 3\x00\x10\x00", "This is an SQLite database"},
		"scan.djvu":  {"AT&TFORM\x00\x00\x00\x10DJVUINFO", "This is a DjVu document"},
		"other.blob": {"\x01\x02\x00\x03", "This version of vaultflow does not read files of this kind"},
	} {
		b := newBench(t, extract.Document{})
		b.worker.open = func(int) error { return &extract.Error{Code: failure.Corrupt, Message: "not a picture"} }
		made, _, err := b.run(b.drop("imp-1", "Import/"+name, []byte(c[0])))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if note := b.read(made.Note); !strings.Contains(note, c[1]) || strings.Contains(note, "![[") {
			t.Errorf("%s: no %q, or a picture that nobody can show:\n%s", name, c[1], note)
		}
	}
}

// A picture in it for those that cannot read the file is shown, and the note reports what it is.
func TestImport_previewOfAPictureThatIsNotRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	icon := append([]byte{0, 0, 1, 0, 1, 0, 4, 4, 0, 0, 1, 0, 32, 0, byte(len(dot(1))), 0, 0, 0, 22, 0, 0, 0}, dot(1)...)
	made, _ := b.mustRun(b.drop("imp-1", "Import/logo.ico", icon))
	if note := b.read(made.Note); !strings.Contains(note, "![[./pages/page_0001.png]]") || !strings.Contains(note, "only the preview in the file. This is an icon") {
		t.Errorf("the note:\n%s", note)
	}
}
