// Package packing writes files that belong together into an archive, and reads the files of such archives.
package packing

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/export"
)

// MaxNoteText is how much of a note is read to find what it shows, in bytes.
const MaxNoteText = 16 << 20

// errOtherBytes is returned for a file that changed since it was ready.
var errOtherBytes = errors.New("it has changed")

// File is a file of a pack.
type File struct {
	Name string // below the folder of the pack
	Want string // the digest that it must have; empty if any will do
}

// Opener opens a file below the folder of a pack.
type Opener func(name string) (fs.File, error)

// Write writes the files as a ZIP archive. Equal files make equal archives, whatever their times are, so that the same folder dropped
// again is recognised. Nothing is compressed: another version of the program would do it differently.
func Write(ctx context.Context, to io.Writer, open Opener, files []File) error {
	z := zip.NewWriter(to)
	if err := z.SetComment(export.PackComment); err != nil {
		return err
	}
	for _, f := range files {
		if err := packFile(ctx, z, open, f); err != nil {
			return fmt.Errorf("pack %s: %w", f.Name, err)
		}
	}
	return z.Close()
}

func packFile(ctx context.Context, z *zip.Writer, open Opener, f File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in, err := open(f.Name)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errOtherBytes)
	}
	out, err := z.CreateHeader(&zip.FileHeader{Name: NameOf(f.Name), Method: zip.Store})
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(out, io.TeeReader(in, sum)); err != nil {
		return err
	}
	if f.Want != "" && f.Want != hex.EncodeToString(sum.Sum(nil)) {
		return errOtherBytes
	}
	return nil
}

// NameOf returns a file's name in the archive.
func NameOf(name string) string { return strings.ReplaceAll(name, `\`, "-") }

// Piped returns what a function writes, for reading. Closing it ends the function.
func Piped(write func(io.Writer) error) io.ReadCloser {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(w)) }()
	return r
}

// Holding finds how the files below a folder belong together.
type Holding struct {
	Tree      *export.Tree
	Mentioned map[int]bool
}

// Look reads the notes among the files.
func Look(names []string, links func(name string) []export.Link) Holding {
	h := Holding{export.New(names), map[int]bool{}}
	for _, name := range names {
		if export.IsNote(name) {
			h.Tree.Mentions(links(name), name, h.Mentioned)
		}
	}
	return h
}

// LinksOf reads the links of a note; one that cannot be read has none.
func LinksOf(open Opener, name string) []export.Link {
	f, err := open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxNoteText))
	if err != nil {
		return nil
	}
	return export.Links(string(text))
}

// OnDisk opens files below a folder of this machine, whose names need not be text.
func OnDisk(root string) Opener {
	return func(name string) (fs.File, error) { return os.Open(filepath.Join(root, filepath.FromSlash(name))) }
}

// VisibleIn lists the regular files below a folder of this machine, without hidden ones. skipped is called with the error for each that
// cannot be read.
func VisibleIn(root string, skipped func(error)) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == root:
			return err
		case err != nil:
			skipped(err)
		case p != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			below, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			names = append(names, filepath.ToSlash(below))
		}
		return nil
	})
	return names, err
}

// Sum reads a file to its end and closes it.
func Sum(f fs.File) (sha256hex string, size int64, err error) {
	defer f.Close()
	sum := sha256.New()
	size, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// Source is the files that an import was made of.
type Source struct {
	Names []string
	Open  Opener
	Close func()
}

// Digests returns the digests of the files by name. A file that cannot be read has none.
func (s Source) Digests() map[string]string {
	in := map[string]string{}
	for _, name := range s.Names {
		if f, err := s.Open(name); err == nil {
			if sum, _, err := Sum(f); err == nil {
				in[name] = sum
			}
		}
	}
	return in
}

// Members returns the files of a ZIP archive, which Close closes. f is closed if there is an error.
func Members(f fs.File) (Source, error) {
	info, err := f.Stat()
	at, ok := f.(io.ReaderAt)
	if err != nil || !ok {
		return Source{}, errors.Join(err, fs.ErrInvalid, f.Close())
	}
	archive, err := zip.NewReader(at, info.Size())
	if err != nil {
		return Source{}, errors.Join(fmt.Errorf("read an archive: %w", err), f.Close())
	}
	s := Source{Open: func(name string) (fs.File, error) { return archive.Open(name) }, Close: func() { f.Close() }}
	for _, file := range archive.File {
		if !file.Mode().IsDir() {
			s.Names = append(s.Names, file.Name)
		}
	}
	return s, nil
}
