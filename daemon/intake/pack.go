package intake

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

// maxNoteText is how much of a note is read to find what it shows, in bytes.
const maxNoteText = 16 << 20

// errOtherBytes is returned for a file that changed since it was ready.
var errOtherBytes = errors.New("it has changed")

// packed is a file of a pack.
type packed struct {
	name   string // below the folder of the pack
	sha256 string // that it must have; empty if any will do
}

// opener opens a file below the folder of a pack.
type opener func(name string) (fs.File, error)

// pack writes the files as a ZIP archive. Equal files make equal archives, whatever their times are, so that the same folder dropped
// again is recognised. Nothing is compressed: another version of the program would do it differently.
func pack(ctx context.Context, to io.Writer, open opener, files []packed) error {
	z := zip.NewWriter(to)
	if err := z.SetComment(export.PackComment); err != nil {
		return err
	}
	for _, f := range files {
		if err := packFile(ctx, z, open, f); err != nil {
			return fmt.Errorf("pack %s: %w", f.name, err)
		}
	}
	return z.Close()
}

func packFile(ctx context.Context, z *zip.Writer, open opener, f packed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in, err := open(f.name)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errOtherBytes)
	}
	out, err := z.CreateHeader(&zip.FileHeader{Name: packedName(f.name), Method: zip.Store})
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(out, io.TeeReader(in, sum)); err != nil {
		return err
	}
	if f.sha256 != "" && f.sha256 != hex.EncodeToString(sum.Sum(nil)) {
		return errOtherBytes
	}
	return nil
}

// packedName returns a file's name in the archive.
func packedName(name string) string { return strings.ReplaceAll(name, `\`, "-") }

// piped returns what a function writes, for reading. Closing it ends the function.
func piped(write func(io.Writer) error) io.ReadCloser {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(w)) }()
	return r
}

// holding finds how the files below a folder belong together.
type holding struct {
	tree      *export.Tree
	mentioned map[int]bool
}

// look reads the notes among the files.
func look(names []string, links func(name string) []export.Link) holding {
	h := holding{export.New(names), map[int]bool{}}
	for _, name := range names {
		if export.IsNote(name) {
			h.tree.Mentions(links(name), name, h.mentioned)
		}
	}
	return h
}

// linksOf reads the links of a note; one that cannot be read has none.
func linksOf(open opener, name string) []export.Link {
	f, err := open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxNoteText))
	if err != nil {
		return nil
	}
	return export.Links(string(text))
}

// onDisk opens files below a folder of this machine, whose names need not be text.
func onDisk(root string) opener {
	return func(name string) (fs.File, error) { return os.Open(filepath.Join(root, filepath.FromSlash(name))) }
}

// visibleIn lists the regular files below a folder of this machine, without hidden ones. skipped is called with the error for each that
// cannot be read.
func visibleIn(root string, skipped func(error)) ([]string, error) {
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
