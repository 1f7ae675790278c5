//go:build unix

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// packedFile is a member of an archive under test.
type packedFile struct {
	name, data string
	mode       fs.FileMode // of a link or a device
	locked     bool
}

func zipped(t *testing.T, members ...packedFile) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.mode != 0 {
			h.SetMode(m.mode)
		}
		if m.locked {
			h.Flags |= 1
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(m.data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tarred(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		data := strings.Repeat("x", int(h.Size))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(t *testing.T, data string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(data)); err != nil || w.Close() != nil {
		t.Fatal("not packed")
	}
	return b.String()
}

// TestArchives imports hostile and odd archives by the program itself: each ends as one collection or one failure note, nothing
// lies where it should not, and every link of every note leads to a file.
func TestArchives(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	zeros := strings.Repeat("\x00", 20<<20)
	bomb := zipped(t, packedFile{name: "z.txt", data: zeros})
	deep := zipped(t, packedFile{name: "bottom.txt", data: "bottom"})
	for n := range 6 {
		deep = zipped(t, packedFile{name: "deep.zip", data: deep}, packedFile{name: "n.txt", data: "level " + strconv.Itoa(n)})
	}
	var many []packedFile
	for n := range 2100 {
		many = append(many, packedFile{name: strconv.Itoa(n) + ".txt"})
	}
	file := func(name string) tar.Header {
		return tar.Header{Name: name, Size: 9, Mode: 0o644, Typeflag: tar.TypeReg}
	}
	archives := map[string]struct {
		data     string
		children int // -1: refused
		says     string
	}{
		"slip.zip":    {zipped(t, packedFile{name: "../../evil.txt"}, packedFile{name: "/abs.txt"}, packedFile{name: `C:\win.txt`}, packedFile{name: `..\back.txt`}, packedFile{name: `good\b.txt`, data: "b"}), 1, "leads out of the archive"},
		"links.zip":   {zipped(t, packedFile{name: "link.txt", data: "/etc/passwd", mode: fs.ModeSymlink | 0o777}, packedFile{name: "real.txt", data: "equal"}), 1, "it is a link"},
		"devices.tar": {tarred(t, tar.Header{Name: "sym", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, tar.Header{Name: "hard", Typeflag: tar.TypeLink, Linkname: "real.txt"}, tar.Header{Name: "dev", Typeflag: tar.TypeChar}, tar.Header{Name: "fifo", Typeflag: tar.TypeFifo}, file("real.txt")), 1, "no regular file"},
		"ratio.zip":   {zipped(t, packedFile{name: "zeros.txt", data: zeros + zeros + zeros + zeros}), -1, "unpacks to far more"},
		"nested.zip":  {zipped(t, packedFile{name: "1.zip", data: bomb}, packedFile{name: "2.zip", data: bomb}, packedFile{name: "3.zip", data: bomb}, packedFile{name: "4.zip", data: bomb}), -1, "unpacks to far more"},
		"count.zip":   {zipped(t, many...), -1, "more than 2000 files"},
		"deep.zip":    {deep, 4, "deep.zip was left in the archive: it is an archive itself"},
		"locked.zip":  {zipped(t, packedFile{name: "secret.txt", data: "s", locked: true}, packedFile{name: "open.txt", data: "o"}), 1, "it is encrypted"},
		"same.zip":    {zipped(t, packedFile{name: "d.txt", data: "1"}, packedFile{name: "d.txt", data: "2"}, packedFile{name: "D.TXT", data: "3"}, packedFile{name: "d.csv", data: "4"}, packedFile{name: "e/real.txt", data: "equal"}), 5, ""},
		"names.zip":   {zipped(t, packedFile{name: "e\u0301.txt", data: "nfd"}, packedFile{name: "\u00e9.txt", data: "nfc"}, packedFile{name: "😀.txt", data: "smile"}, packedFile{name: "a..b.txt", data: "dots"}), 4, ""},
		"torn.tar.gz": {gzipped(t, tarred(t, file("a.txt"), file("b.txt")))[:80], -1, "cannot be read"},
		"some.7z":     {"7z\xbc\xaf\x27\x1c\x00\x04 and more", 0, "This is a 7z archive"},
		"some.rar":    {"Rar!\x1a\x07\x01\x00 and more", 0, "This is a RAR archive"},
		"holds.zip":   {zipped(t, packedFile{name: "in.7z", data: "7z\xbc\xaf\x27\x1c\x00\x04 and more"}, packedFile{name: "in.rar", data: "Rar!\x1a\x07\x01\x00 and more"}, packedFile{name: "t.txt", data: "t"}), 1, "of a kind that is not read"},
	}
	want := 0
	for name, a := range archives {
		s.Write("Import/"+name, []byte(a.data))
		want += 1 + max(a.children, 0)
	}
	s.serve()
	found, v := s.ended(want), s.reader()
	ends := map[string]engine.ImportRecord{}
	for _, r := range found {
		ends[r.Source] = r
		if r.State == engine.ImportDone {
			s.resolved(v, r.Note)
		}
	}
	for name, a := range archives {
		r := ends["Import/"+name]
		if a.children < 0 {
			failed := "Import/Failed/" + name
			if r.State != engine.ImportFailed || !s.there(failed) || !strings.Contains(s.Read(failed+".failed.md"), a.says) {
				t.Errorf("%s: %s, %s", name, r.State, r.Error)
			}
			continue
		}
		if r.State != engine.ImportDone || !s.there(path.Join(r.Bundle, name)) {
			t.Errorf("%s: %s, %s", name, r.State, r.Error)
			continue
		}
		if n := len(s.manifest(r.Bundle).Children); n != a.children || !strings.Contains(s.Read(r.Note), a.says) {
			t.Errorf("%s: %d children, want %d; the note:\n%s", name, n, a.children, s.Read(r.Note))
		}
	}
	left, err := fs.Glob(os.DirFS(s.Vault), "Import/*")
	if err != nil || len(left) != 1 || left[0] != "Import/Failed" {
		t.Errorf("in the import folder: %v, %v", left, err)
	}
}

// there says whether the vault has a file.
func (s *site) there(name string) bool {
	_, err := os.Stat(filepath.Join(s.Vault, filepath.FromSlash(name)))
	return err == nil
}

// A letter that is dropped behind an archive of 120 files waits for at most a handful of them. Nothing else tells the daemon to hurry.
func TestServe_aLetterBehindAnArchive(t *testing.T) {
	t.Parallel()
	const files = 120
	s := newSite(t, "/none", "")
	members := make([]packedFile, files)
	for i := range members {
		members[i] = packedFile{name: "m" + strconv.Itoa(i) + ".txt", data: "member " + strconv.Itoa(i)}
	}
	s.serve()
	s.Write("Import/Many.zip", []byte(zipped(t, members...)))
	all := func() []engine.ImportRecord {
		return sitetest.Rows[engine.ImportRecord](s.Site, "import", "--status", "-n", "1000")
	}
	s.Wait(patience, "some members to be imported", func() (bool, string) {
		done := s.Files("Imported/Many", ".md")
		return len(done) > 10, strings.Join(done, " ")
	})
	s.Write("Import/Letter.txt", []byte("Dear all"))
	var letter engine.ImportRecord
	var list []engine.ImportRecord
	s.Wait(2*patience, "the letter", func() (bool, string) {
		list = all()
		for _, r := range list {
			if letter = r; r.Source == "Import/Letter.txt" && r.State == engine.ImportDone {
				return true, ""
			}
		}
		return false, ""
	})
	waiting, before := 0, 0
	for _, r := range list {
		switch {
		case r.Source == letter.Source:
		case r.Started.IsZero() || r.Started.After(letter.Started):
			waiting++
		case r.Started.After(letter.Created):
			before++
		}
	}
	if before > 4 || waiting < 20 || letter.Started.IsZero() {
		t.Errorf("%d members began between the arrival of the letter and its import, and %d later; want a handful, and many", before, waiting)
	}
}

// The files of a portfolio are read from the PDF: its page only says how to open it.
func TestArchives_attachedToAPDF(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "")
	inner := pdftest.New().TextPage(pdftest.Text("The offer in full.")...).Bytes()
	s.write("Import/folder.pdf", string(pdftest.New().TextPage(pdftest.Text("Please open this portfolio in another reader.")...).Attach("Angebot für Anna.pdf", inner).Attach("factur-x.xml", []byte("<Invoice>4711</Invoice>")).Bytes()))
	s.serve()
	ended := s.ended(2)
	if note := s.Read("Imported/folder/folder.md"); !strings.Contains(note, "Angebot für Anna.pdf]]") || s.Read("Imported/folder/attachments/factur-x.xml") != "<Invoice>4711</Invoice>" {
		t.Errorf("%s\n%q", note, s.Files("Imported", ""))
	}
	if r := ended["Import/folder/Angebot für Anna.pdf"]; r.Bundle != "Imported/folder/Angebot für Anna" || !strings.Contains(s.Read(r.Note), "The offer in full.") {
		t.Errorf("%+v", ended)
	}
}

// A message whose file has no extension has the name of the folder for its attachments. They are imported into its bundle, by serve and by
// the command, and nothing stays behind.
func TestArchives_withoutExtension(t *testing.T) {
	t.Parallel()
	const message = "From: anna@example.org\nSubject: Plans\nContent-Type: multipart/mixed; boundary=M\n\n" +
		"--M\nContent-Type: text/plain\n\nSee below.\n--M\nContent-Type: text/csv\nContent-Disposition: attachment; filename=\"list.csv\"\n\na,b\n--M--\n"
	for name, start := range map[string]func(*site){
		"serve":  func(s *site) { s.serve() },
		"import": func(s *site) { s.Must("import", s.Path("Import/letter")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			s.write("Import/letter", message)
			start(s)
			ended := s.ended(2)
			if r := ended["Import/letter (unpacked)/list.csv"]; r.Bundle != "Imported/letter/list" || s.Read("Imported/letter/letter") != message {
				t.Errorf("%+v", ended)
			}
			if left := s.Files("Import", ""); len(left) != 0 {
				t.Errorf("left in the import folder: %q", left)
			}
		})
	}
}
