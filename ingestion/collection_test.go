package ingestion

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/archive"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/vault"
)

// packedFile is a member of an archive under test.
type packedFile struct {
	name, data string
	link       bool
}

func zipFiles(t *testing.T, files ...packedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.link {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(f.data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarFiles(t *testing.T, files ...packedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o644, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if f.link {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, "/etc/passwd", 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if !f.link {
			if _, err := w.Write([]byte(f.data)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if w.Close() != nil || packed.Close() != nil {
		t.Fatal("the archive is not closed")
	}
	return b.Bytes()
}

var mixed = []packedFile{
	{name: "notes/a.txt", data: "one"},
	{name: "notes/b|[x].txt", data: "two"},
	{name: "../../etc/evil.txt", data: "out"},
	{name: "/abs.txt", data: "out"},
	{name: "C:/win.txt", data: "out"},
	{name: "link.txt", data: "/etc/passwd", link: true},
	{name: "inner.zip", data: "PK"},
	{name: ".hidden/x.txt", data: "x"},
	{name: "__MACOSX/._a.txt", data: "x"},
	{name: "notes/.DS_Store", data: "x"},
	{name: "notes/half.part", data: "not all"},
	{name: "notes/", data: ""},
}

// found are the files below a folder of the vault, by name.
func (b *bench) found(dir string) map[string]string {
	b.Helper()
	files := map[string]string{}
	err := fs.WalkDir(b.im.Files.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[strings.TrimPrefix(name, dir+"/")] = b.read(name)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

func TestImport_archiveIsUnpackedIntoTheInbox(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{"box.zip": zipFiles(t, mixed...), "box.tgz": tarFiles(t, mixed...)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{})
			b.im.Takes = func(name string) bool {
				if !strings.HasPrefix(name, "Import/box/") {
					t.Errorf("asked about %s", name)
				}
				return !strings.HasSuffix(name, ".part")
			}
			made, filed := b.mustRun(b.drop("imp-1", "Import/"+name, data))
			want := map[string]string{"notes/a.txt": "one", "notes/" + vault.SafeName("b|[x].txt", nameBytes): "two"}
			if diff := cmp.Diff(want, b.found("Import/box")); diff != "" {
				t.Errorf("in the inbox (-want +got):\n%s", diff)
			}
			note := b.read(made.Note)
			hasAll(t, note, "[[./notes/a/a|notes/a.txt]]", "evil.txt was left in the archive: its name leads out", "link.txt was left in the archive: it is a link", "half.part was left in the archive: the import folder ignores", "inner.zip was left in the archive: it is an archive itself")
			m, err := manifest.Parse([]byte(b.read(path.Join(made.Bundle, manifest.File))))
			if err != nil || len(m.Children) != 2 {
				t.Errorf("children %+v, %v", m.Children, err)
			}
			if filed.Name != "Imported/box/"+name || b.read(filed.Name) != string(data) {
				t.Errorf("the original is at %s", filed.Name)
			}
		})
	}
}

func TestImport_archiveRefusesBombsAndTornOnes(t *testing.T) {
	t.Parallel()
	bomb := zipFiles(t, packedFile{name: "zeros.txt", data: strings.Repeat("\x00", 100<<20)})
	whole := zipFiles(t, packedFile{name: "a.txt", data: strings.Repeat("words ", 5000)}, packedFile{name: "b.txt", data: "x"})
	torn := bytes.Clone(whole)
	copy(torn[60:], "garbage garbage garbage")
	for name, test := range map[string]struct {
		data []byte
		code failure.Code
	}{"bomb": {bomb, failure.TooLarge}, "torn": {torn, failure.Corrupt}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{})
			j := b.drop("imp-1", "Import/x.zip", test.data)
			found, err := b.im.Classify(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			j.Route = found.Route
			_, err = b.im.Extract(t.Context(), j)
			if e, ok := err.(*fault.Error); !ok || e.Code != test.code || e.Remedy == "" { //nolint:errorlint // returned as it is
				t.Fatalf("got %v", err)
			}
			if files := b.found("Import"); len(files) != 1 {
				t.Errorf("in the inbox: %v", files)
			}
		})
	}
}

// TestImport_archiveReleasedTwice is a process killed after it put some members into the inbox.
func TestImport_archiveReleasedTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	j := b.drop("imp-1", "Import/box.zip", zipFiles(t, packedFile{name: "a.txt", data: "one"}, packedFile{name: "b.txt", data: "two"}))
	if err := b.im.Files.Write(t.Context(), "Import/box/a.txt", []byte("one"), ""); err != nil {
		t.Fatal(err)
	}
	if err := b.im.Files.Write(t.Context(), "Import/box/b.txt", []byte("somebody else's"), ""); err != nil {
		t.Fatal(err)
	}
	b.mustRun(j)
	want := map[string]string{"a.txt": "one", "b.txt": "somebody else's", "b (2).txt": "two"}
	if diff := cmp.Diff(want, b.found("Import/box")); diff != "" {
		t.Errorf("in the inbox (-want +got):\n%s", diff)
	}
}

// The members' bundles come to lie in the archive's own, also when a folder of its name was there before.
func TestImport_archiveWhoseNameIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	b.vault.Put("Imported/box/own.md", "a person's")
	made, _ := b.mustRun(b.drop("imp-1", "Import/box.zip", zipFiles(t, packedFile{name: "notes/a.txt", data: "one"})))
	hasAll(t, b.read(made.Note), "[[./notes/a/a|notes/a.txt]]")
	member, _ := b.mustRun(b.drop("imp-2", "Import/box (2)/notes/a.txt", []byte("one")))
	m, _ := b.im.manifest(made.Bundle)
	if want := made.Bundle + "/" + m.Children[0].Bundle; made.Bundle != "Imported/box (2)" || member.Bundle != want {
		t.Errorf("the archive is at %q, its member at %q, want %q", made.Bundle, member.Bundle, want)
	}
	if b.im.exists("Import/box (2)") {
		t.Errorf("left in the import folder: %v", b.found("Import"))
	}
}

// The bundles of files whose names differ by their ends, by case, or that are called as a folder or as a file of the archive's
// bundle are where the archive's note says, in whatever order they are imported.
func TestImport_archiveLinksLeadToItsFiles(t *testing.T) {
	t.Parallel()
	const equal = "equal.txt"
	names := []string{"one/" + equal, "two/" + equal, "a.txt", "a.log", "A.csv", "sub/x.txt", "sub.txt", "box.zip/y.txt", "index.json", "index.txt", "pages/z.txt", "pages.txt"}
	var files []packedFile
	for _, name := range names {
		files = append(files, packedFile{name: name, data: "this is " + path.Base(name)})
	}
	for _, backwards := range []bool{false, true} {
		b := newBench(t, extract.Document{})
		made, _ := b.mustRun(b.drop("imp-0", "Import/box.zip", zipFiles(t, files...)))
		children := b.manifest(made).Children
		if len(children) != len(names) {
			t.Fatalf("children %+v", children)
		}
		want := map[string]string{}
		for i := range children {
			c := children[i]
			if backwards {
				c = children[len(children)-1-i]
			}
			source := "Import/box/" + c.Name
			b.mustRun(b.drop("imp-"+c.Name, source, []byte(b.read(source))))
			want[c.Bundle] = source
		}
		for bundle, source := range want {
			m, ok := b.im.manifest("Imported/box/" + bundle)
			if !ok || m.Source.Path != source {
				t.Errorf("backwards %v: %s is at %s, where there is %q", backwards, source, bundle, m.Source.Path)
			}
		}
	}
}

func TestImport_archivesInAnArchive(t *testing.T) {
	t.Parallel()
	inner := zipFiles(t, packedFile{name: "a.txt", data: "inner"}, packedFile{name: "/etc/abs.txt", data: "out"}, packedFile{name: "../up.txt", data: "out"})
	deep := []byte("bottom")
	name := "bottom.txt"
	for n := range archive.MaxNested + 1 {
		deep, name = zipFiles(t, packedFile{name: name, data: string(deep)}, packedFile{name: "note.txt", data: strconv.Itoa(n)}), "deep.zip"
	}
	torn := tarFiles(t, packedFile{name: "t.txt", data: strings.Repeat("words ", 5000)})
	var single bytes.Buffer
	packed := gzip.NewWriter(&single)
	_, _ = packed.Write([]byte("packed alone"))
	_ = packed.Close()
	outer := zipFiles(t,
		packedFile{name: "sub/inner.zip", data: string(inner)}, packedFile{name: "inner.tar.gz", data: string(tarFiles(t, packedFile{name: "b.txt", data: "tar"}))},
		packedFile{name: "deep.zip", data: string(deep)}, packedFile{name: "torn.tgz", data: string(torn[:len(torn)/2])}, packedFile{name: "hidden.bin", data: string(inner)},
		packedFile{name: "log.txt.gz", data: single.String()}, packedFile{name: "x.7z", data: "7z\xbc\xaf\x27\x1c and more"}, packedFile{name: "y.rar", data: "Rar!\x1a\x07\x01\x00 and more"},
		packedFile{name: "letter.docx", data: string(docxOf(t))})
	b := newBench(t, extract.Document{})
	made, _ := b.mustRun(b.drop("imp-1", "Import/box.zip", outer))
	want := map[string]string{
		"sub/inner/a.txt": "inner", "inner/b.txt": "tar", "hidden/a.txt": "inner", "log.txt": "packed alone", "letter.docx": string(docxOf(t)),
		"deep/note.txt": strconv.Itoa(archive.MaxNested), "deep/deep/note.txt": strconv.Itoa(archive.MaxNested - 1), "deep/deep/deep/note.txt": strconv.Itoa(archive.MaxNested - 2),
	}
	if diff := cmp.Diff(want, b.found("Import/box")); diff != "" {
		t.Errorf("in the inbox (-want +got):\n%s", diff)
	}
	hasAll(t, b.read(made.Note),
		"deep/deep/deep/deep.zip was left in the archive: it is an archive itself", "torn.tgz was left in the archive: it is a broken archive",
		"x.7z was left in the archive: it is an archive itself, of a kind that is not read", "y.rar was left in the archive",
		"sub/inner//etc/abs.txt was left in the archive: its name leads out", "sub/inner/../up.txt was left in the archive: its name leads out")
}

// The bounds go for the whole: archives that are harmless each by itself are refused together.
func TestImport_archivesInAnArchiveShareTheBounds(t *testing.T) {
	t.Parallel()
	zeros := string(zipFiles(t, packedFile{name: "zeros.txt", data: strings.Repeat("\x00", 20<<20)}))
	many := func(n int) string {
		var files []packedFile
		for i := range n {
			files = append(files, packedFile{name: strconv.Itoa(i) + ".txt", data: "x"})
		}
		return string(zipFiles(t, files...))
	}
	for name, data := range map[string][]byte{
		"bytes": zipFiles(t, packedFile{name: "1.zip", data: zeros}, packedFile{name: "2.zip", data: zeros}, packedFile{name: "3.zip", data: zeros}, packedFile{name: "4.zip", data: zeros}),
		"count": zipFiles(t, packedFile{name: "1.zip", data: many(1500)}, packedFile{name: "2.zip", data: many(1500)}),
	} {
		b := newBench(t, extract.Document{})
		j := b.drop("imp-1", "Import/x.zip", data)
		_, _, err := b.run(j)
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != failure.TooLarge {
			t.Errorf("%s: got %v", name, err)
		}
		if files := b.found("Import"); len(files) != 1 {
			t.Errorf("%s: in the inbox: %d files", name, len(files))
		}
	}
}

// What came in an archive and turns out to be one itself stays unopened: otherwise one that holds itself had no end.
func TestImport_archiveThatCameInAnArchive(t *testing.T) {
	t.Parallel()
	inner := zipFiles(t, packedFile{name: "a.txt", data: "one"})
	b := newBench(t, extract.Document{})
	b.mustRun(b.drop("imp-1", "Import/box.zip", zipFiles(t, packedFile{name: "letter.docx", data: string(inner)})))
	made, _ := b.mustRun(b.drop("imp-2", "Import/box/letter.docx", inner))
	if m := b.manifest(made); m.Source.Kind != filetype.KindArchive || len(m.Children) != 0 {
		t.Errorf("%s with children %+v", m.Source.Kind, m.Children)
	}
}
