package media

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// aged writes a file that was changed an hour ago.
func aged(t testing.TB, path string, data []byte) {
	t.Helper()
	before := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, before, before); err != nil {
		t.Fatal(err)
	}
}

// A file whose digest is remembered gets another one when it is replaced by one of the same size and time.
func TestProbe_seesReplacedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := Source{FS: os.DirFS(dir), Digests: NewDigests("")}
	one := pdftest.Photo(40, 30, "a")
	other := append([]byte(nil), one...)
	other[len(other)-3] ^= 1
	aged(t, filepath.Join(dir, "a.jpg"), one)
	first, err := source.Probe("a.jpg")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := source.Probe("a.jpg"); err != nil || again != first {
		t.Errorf("again: %+v, %v", again, err)
	}
	if len(source.Digests.files) != 1 {
		t.Error("the digest is not remembered")
	}
	aged(t, filepath.Join(dir, "b.jpg"), other)
	if err := os.Rename(filepath.Join(dir, "b.jpg"), filepath.Join(dir, "a.jpg")); err != nil {
		t.Fatal(err)
	}
	if got, err := source.Probe("a.jpg"); err != nil || got.SHA256 == first.SHA256 {
		t.Errorf("the file was replaced, and its digest is the old one, %v", err)
	}
}

// A file that was just written is not remembered: it may be written again within the same tick of the clock.
func TestProbe_doesNotTrustFreshFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jpg"), pdftest.Photo(40, 30, "a"), 0o600); err != nil {
		t.Fatal(err)
	}
	source := Source{FS: os.DirFS(dir), Digests: NewDigests("")}
	if _, err := source.Probe("a.jpg"); err != nil || len(source.Digests.files) != 0 {
		t.Errorf("%d remembered, %v", len(source.Digests.files), err)
	}
}

// The next process knows the digests of large files, whatever else is in the file that it gets them from. It reads what changed since
// again, even if size and time were set back.
func TestProbe_knowsWhatAnEarlierProcessRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other systems keep nothing")
	}
	dir, kept := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a b.jpg")
	large := append(pdftest.Photo(40, 30, "a"), make([]byte, smallestFor)...)
	aged(t, path, large)
	aged(t, filepath.Join(dir, "small.jpg"), pdftest.Photo(40, 30, "a"))
	file := filepath.Join(kept, keptName)
	first := Source{FS: os.DirFS(dir), Digests: NewDigests(kept)}
	if _, err := first.Probe("a b.jpg"); err != nil {
		t.Fatal(err)
	}
	if err := first.Digests.Keep(); err != nil || exists(file) {
		t.Errorf("a file that changed just now is kept for the next process, %v", err)
	}
	later := func() time.Time { return time.Now().Add(2 * settled) }
	first.Digests = NewDigests(kept)
	first.Digests.now = later
	want, err := first.Probe("a b.jpg")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Probe("small.jpg"); err != nil {
		t.Fatal(err)
	}
	if err := first.Digests.Keep(); err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(file)
	if err != nil || strings.Count(string(lines), "\n") != 1 {
		t.Fatalf("kept %q, %v", lines, err)
	}
	nothing := strings.Repeat("0", 64) // a digest that shows that the file was not read
	lines = []byte("zz\n\n" + nothing + "\n" + nothing + " 1 x 3 4 c.jpg\n" + strings.Replace(string(lines), want.SHA256, nothing, 1) + "0 1 2")
	next := func() Source {
		if err := os.WriteFile(file, lines, 0o600); err != nil {
			t.Fatal(err)
		}
		return Source{FS: os.DirFS(dir), Digests: NewDigests(kept)}
	}
	if got, err := next().Probe("a b.jpg"); err != nil || got.SHA256 != nothing {
		t.Errorf("the file is read again: %+v, %v", got, err)
	}
	wrong := next()
	if _, _, err := wrong.Loader(imaging.Limits{}).Load(t.Context(), content.Image{Name: "a b.jpg", SHA256: nothing}); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	if got, err := wrong.Probe("a b.jpg"); err != nil || got != want {
		t.Errorf("a digest that was wrong is still believed: %+v, %v", got, err)
	}
	none := Source{FS: os.DirFS(dir), Digests: NewDigests(filepath.Join(kept, "none"))}
	none.Digests.now = later
	if _, err := none.Probe("a b.jpg"); err != nil {
		t.Fatal(err)
	}
	if err := none.Digests.Keep(); err != nil || exists(none.Digests.dir) {
		t.Errorf("a state directory was made for digests, %v", err)
	}
	time.Sleep(20 * time.Millisecond) // the clock of the file system ticks up to 100 times a second
	for what, change := range map[string]func(){
		"its bytes, with the time set back": func() { large[len(large)-1]++; aged(t, path, large) },
		"another file of the same size and time": func() {
			aged(t, path+".new", large)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		change()
		if got, err := next().Probe("a b.jpg"); err != nil || got.SHA256 == nothing {
			t.Errorf("%s changed, and the digest is the old one: %v", what, err)
		}
	}
}

// BenchmarkProbe reads the headers of 500 pictures of 600 KB, as the receipt of a note does.
func BenchmarkProbe(b *testing.B) {
	const pictures = 500
	dir := b.TempDir()
	data := append(pdftest.Photo(400, 300, "a"), make([]byte, 600<<10)...)
	name := func(i int) string { return fmt.Sprintf("%d.jpg", i) }
	for i := range pictures {
		aged(b, filepath.Join(dir, name(i)), data)
	}
	known := NewDigests("")
	for what, source := range map[string]Source{"first": {FS: os.DirFS(dir)}, "again": {FS: os.DirFS(dir), Digests: known}} {
		all := func(b *testing.B) {
			for i := range pictures {
				if _, err := source.Probe(name(i)); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(what, func(b *testing.B) {
			if what == "again" {
				all(b)
			}
			for b.Loop() {
				all(b)
			}
		})
	}
	b.Run("64 KB of each", func(b *testing.B) {
		buf := make([]byte, 64<<10)
		for b.Loop() {
			for i := range pictures {
				f, err := os.Open(filepath.Join(dir, name(i)))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(f, buf); err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		}
	})
}

// A torn picture is torn in the next look and for the next process too, without its bytes.
func TestProbe_refusesTornPictures(t *testing.T) {
	t.Parallel()
	dir, kept := t.TempDir(), t.TempDir()
	photo := pdftest.Photo(40, 30, "a")
	aged(t, filepath.Join(dir, "a.jpg"), append(photo[:len(photo)-20:len(photo)-20], make([]byte, smallestFor)...))
	first := Source{FS: os.DirFS(dir), Digests: NewDigests(kept)}
	first.Digests.now = func() time.Time { return time.Now().Add(2 * settled) }
	probe := func(s Source) {
		t.Helper()
		if _, err := s.Probe("a.jpg"); !errors.Is(err, imaging.ErrCorrupt) || omission.From(err).Cause() != omission.Damaged {
			t.Errorf("%v", err)
		}
	}
	probe(first)
	probe(first)
	if err := first.Digests.Keep(); err != nil {
		t.Fatal(err)
	}
	next := Source{FS: os.DirFS(dir), Digests: NewDigests(kept)}
	probe(next)
	if runtime.GOOS == "linux" && next.Digests.files["a.jpg"].whole != isTorn {
		t.Errorf("kept as %q", next.Digests.files["a.jpg"].whole)
	}
}
