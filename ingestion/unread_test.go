package ingestion

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
)

// A file that is not read has a note with what it is, whatever the worker would have made of it.
func TestImport_fileThatIsNotRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"plan.dwg":     {"AC1032\x00\x00\x00\x00\x00\x00\x00", "This is an AutoCAD drawing, which is kept and not read; export it as PDF to have it read."},
		"photo.jxl":    {"\xff\x0a\x00\x01", "This is a JPEG XL picture"},
		"photo.bpg":    {"BPG\xfb\x00\x01", "This is a BPG picture"},
		"photo.cr2":    {"II*\x00\x10\x00\x00\x00CR\x02\x00", "This is a raw photograph"},
		"logo.ico":     {"\x00\x00\x01\x00\x01\x00\x00", "This is an icon"},
		"logo.icns":    {"icns\x00\x00\x00\x08", "This is a set of icons of macOS"},
		"old.vsd":      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "This is a Visio drawing from before 2013"},
		"data.db":      {"SQLite format 3\x00\x10\x00", "This is an SQLite database"},
		"scan.djvu":    {"AT&TFORM\x00\x00\x00\x10DJVUINFO", "This is a DjVu document"},
		"some.7z":      {"7z\xbc\xaf\x27\x1c\x00\x04", "This is a 7z archive, which is kept and not read; unpack it and drop the files."},
		"some.rar":     {"Rar!\x1a\x07\x01\x00", "This is a RAR archive"},
		"notes.txt.xz": {"\xfd7zXZ\x00\x00", "This is a file packed with xz"},
		"data.zst":     {"\x28\xb5\x2f\xfd\x00", "This is a file packed with zstd"},
		"a.7z.001":     {"7z\xbc\xaf\x27\x1c\x00\x04", "This is a part of an archive, which is kept and not read; put the parts together"},
		"a.7z.002":     {"\x00\xff\xfe\x01", "This is a part of an archive"},
		"a.part2.rar":  {"Rar!\x1a\x07\x01\x00", "This is a part of an archive"},
		"a.z01":        {"PK\x07\x08PK\x03\x04", "This is a part of an archive"},
		"a.zip":        {"\x00\x01PK\x05\x06\x03\x00\x03\x00" + strings.Repeat("\x00", 14), "This is a part of an archive"},
		"winmail.dat":  {"\x78\x9f\x3e\x22\x00", "This is an attachment in Outlook's own form (winmail.dat)"},
		"part.sldprt":  {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "This is a SolidWorks drawing or model"},
		"empty.blob":   {"", "The file is empty."},
		"empty.log":    {"", "The file is empty."},
		"other.blob":   {"\x01\x02\x00\x03", "This version of vaultflow does not read files of this kind"},
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

// What is wrong with a file is said in words, with what to do. What is not damaged is not called so.
func TestImport_fileThatIsDamaged(t *testing.T) {
	t.Parallel()
	const again = "copy or download it again"
	whole := string(zipFiles(t, packedFile{name: "a.txt", data: strings.Repeat("tea ", 500)}))
	for name, c := range map[string]struct{ data, why, what string }{
		"empty.zip":    {"", "the file is empty: it has 0 bytes", again},
		"empty.pdf":    {"", "the file is empty: it has 0 bytes", again},
		"empty.png":    {"", "the file is empty: it has 0 bytes", again},
		"empty.docx":   {"", "the file is empty: it has 0 bytes", again},
		"torn.zip":     {whole[:len(whole)-30], "the list of its files, at its end, is missing", again},
		"head.zip":     {"PK\x03\x04" + whole[60:], "the list of its files, at its end, is missing", again},
		"torn.docx":    {"PK\x03\x04" + whole[4:60], "the list of its files, at its end, is missing", again},
		"headless.odt": {string(zipFiles(t, packedFile{name: "[Content_Types].xml", data: "<a/>"})), "the part with its content is missing", again},
		"headless.xps": {string(zipFiles(t, packedFile{name: "[Content_Types].xml", data: "<a/>"})), "the part with its content is missing", again},
		"torn.txt.gz":  {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x2b", "it ends early, and a part of it is missing", again},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{})
			_, _, err := b.run(b.drop("imp-1", "Import/"+name, []byte(c.data)))
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Transient || !strings.Contains(e.Message, c.why) || !strings.Contains(e.Remedy, c.what) || strings.Contains(e.Message, "zip:") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A member that is packed in a way that is not read stays in the archive; the others are imported.
func TestImport_archiveWithUnknownMethods(t *testing.T) {
	t.Parallel()
	data := zipFiles(t, packedFile{name: "a.txt", data: "tea"}, packedFile{name: "b.txt", data: "milk"})
	for _, mark := range []struct {
		signature string
		at        int
	}{{"PK\x03\x04", 8}, {"PK\x01\x02", 10}} {
		data[bytes.Index(data, []byte(mark.signature))+mark.at] = 9
	}
	b := newBench(t, extract.Document{})
	made, _ := b.mustRun(b.drop("imp-1", "Import/new.zip", data))
	if note := b.read(made.Note); !strings.Contains(note, "a.txt was left in the archive: it is packed with Deflate64, which is not read; unpack it with another program and drop the files") || !strings.Contains(note, "b.txt]]") {
		t.Errorf("the note:\n%s", note)
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
