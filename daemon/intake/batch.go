package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/intake/packing"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// ahead is how many imports are started before the first of them has ended, so that the executor always has one to begin.
const ahead = 4

// Batch starts imports in order, a few ahead of the one that is handled.
type Batch struct {
	todo  []control.ImportOrder
	start func(context.Context, control.ImportOrder) (run string, err error)
}

// NewBatch returns a batch of imports that start asks for.
func NewBatch(todo []control.ImportOrder, start func(context.Context, control.ImportOrder) (run string, err error)) *Batch {
	return &Batch{todo: todo, start: start}
}

// Started is an import that was asked for. Run is "" if there was an error, or if the import folder ignores the file.
type Started struct {
	Order control.ImportOrder
	Run   string
	Err   error
}

// Add appends imports, also while [Batch.All] is being ranged over.
func (b *Batch) Add(orders ...control.ImportOrder) { b.todo = append(b.todo, orders...) }

// Len returns the number of imports, including those that were added.
func (b *Batch) Len() int { return len(b.todo) }

// All returns the imports in order, with their index.
func (b *Batch) All(ctx context.Context) iter.Seq2[int, Started] {
	return func(yield func(int, Started) bool) {
		var started []Started
		for i := 0; i < len(b.todo); i++ {
			for len(started) < min(i+ahead, len(b.todo)) {
				o := b.todo[len(started)]
				run, err := b.start(ctx, o)
				started = append(started, Started{o, run, err})
			}
			if !yield(i, started[i]) {
				return
			}
		}
	}
}

// OrdersIn lists the files at a path: the file itself, or those of a folder with their places below it. A folder that holds Markdown
// notes is one order, whose path is the folder. Hidden files are left out. skipped is called with the error for each file or folder that cannot be read.
func OrdersIn(given string, how control.ImportHow, skipped func(error)) ([]control.ImportOrder, error) {
	root, err := filepath.Abs(given)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(root) // of the link, if it is one
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	if info, err := os.Stat(filepath.Join(root, documentPart)); err == nil && info.Mode().IsRegular() && isDocumentFolder(name) {
		return []control.ImportOrder{{Path: control.OSPath(root), Name: strings.TrimSuffix(name, path.Ext(name)) + ".zip", ImportHow: how}}, nil
	}
	if name, ok := notesIn(root, name); ok {
		return []control.ImportOrder{{Path: control.OSPath(root), Name: name, ImportHow: how}}, nil
	}
	var orders []control.ImportOrder
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == root:
			return err
		case err != nil:
			skipped(err)
			return nil
		case p != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case p != root && d.IsDir() && ofPage(p):
			return fs.SkipDir // it is imported with its page
		case !d.Type().IsRegular():
			return nil
		}
		below, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		orders = append(orders, control.ImportOrder{
			Path: control.OSPath(p), Name: path.Join(name, filepath.ToSlash(below)), ImportHow: how, Walked: p != root,
		})
		return nil
	})
	return orders, err
}

// ofPage reports whether a folder holds the files of a page beside it.
func ofPage(dir string) bool {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Type().IsRegular() && export.IsPage(e.Name()) && export.OfPage(e.Name(), filepath.Base(dir)+"/x")
	})
}

// notesIn returns the name of the archive into which a folder is packed, if it holds notes to which its files belong.
func notesIn(root, name string) (string, bool) {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return "", false
	}
	names, err := packing.VisibleIn(root, func(error) {})
	if err != nil || len(names) < 2 {
		return "", false
	}
	found := packing.Look(names, func(name string) []export.Link { return packing.LinksOf(packing.OnDisk(root), name) })
	return name + ".zip", found.Tree.Together(found.Mentioned)
}

// Unpacked lists the files that the import of an archive or a message has put into the import folder.
func Unpacked(v *disk.Vault, s settings.Vault, r engine.ImportRecord) ([]control.ImportOrder, error) {
	if r.State != engine.ImportDone {
		return nil, nil
	}
	m, err := manifestIn(v, r.Bundle)
	if err != nil {
		return nil, fmt.Errorf("look for the files of %s: %w", r.Source, err)
	}
	if len(m.Children) == 0 {
		return nil, nil
	}
	var orders []control.ImportOrder
	folder := path.Join(s.ImportDir, strings.TrimPrefix(r.Bundle, s.ImportedDir+"/"))
	for _, top := range []string{folder, folder + manifest.Unpacked} {
		err = fs.WalkDir(v.FS(), top, func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && name != top && d.Type().IsRegular() && v.Takes(name) {
				orders = append(orders, control.ImportOrder{Name: name})
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list the files of %s: %w", r.Source, err)
		}
	}
	return orders, nil
}

// FoldersIn returns the entries of the import folder, each with whether it is a folder.
func FoldersIn(v *disk.Vault, importDir string) map[string]bool {
	found := map[string]bool{}
	entries, err := fs.ReadDir(v.FS(), importDir)
	if err != nil { // there is no import folder yet
		return found
	}
	for _, e := range entries {
		found[e.Name()] = e.IsDir()
	}
	return found
}

// RemoveMade removes empty folders of the import folder that were not there before. Folders that were may be the user's.
func RemoveMade(v *disk.Vault, files vault.Files, importDir string, before map[string]bool) error {
	var failed error
	for name, isFolder := range FoldersIn(v, importDir) {
		if !isFolder || before[name] {
			continue
		}
		top := path.Join(importDir, name)
		err := fs.WalkDir(v.FS(), top, func(dir string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = files.RemoveEmptyFolders(dir, top)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // removed with the folder below it
			}
			return err
		})
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("remove the empty folder %s: %w", top, err))
		}
	}
	return failed
}
