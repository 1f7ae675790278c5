package media

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

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
	source := Source{FS: os.DirFS(dir), Digests: NewDigests()}
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
	source := Source{FS: os.DirFS(dir), Digests: NewDigests()}
	if _, err := source.Probe("a.jpg"); err != nil || len(source.Digests.files) != 0 {
		t.Errorf("%d remembered, %v", len(source.Digests.files), err)
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
	known := NewDigests()
	for what, source := range map[string]Source{"first": {FS: os.DirFS(dir)}, "again": {FS: os.DirFS(dir), Digests: known}} {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				for i := range pictures {
					if _, err := source.Probe(name(i)); err != nil {
						b.Fatal(err)
					}
				}
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
