package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/vaultflow/vaultflow/vault"
)

// The folders that Open takes when Options name none.
const (
	DefaultImportDir   = "Import"
	DefaultImportedDir = "Imported"
)

// Options say where things are inside the vault. The zero value is useful.
type Options struct {
	ImportDir   string       // drop folder; DefaultImportDir when empty
	ImportedDir string       // where bundles appear; DefaultImportedDir when empty
	Ignore      []string     // globs of names in the import folder to leave alone, added to the built-in list
	Logger      *slog.Logger // nothing is logged when nil
}

var (
	_ vault.Vault  = (*Vault)(nil)
	_ vault.Lister = (*Vault)(nil)
	_ vault.Links  = (*Vault)(nil)
)

// Vault is an opened vault. It is safe for concurrent use. Close it when done.
//
// Each part of it is a type that works on the same folder: reader, finder (of links and files), writer, mover, bundles
// and inbox (the import folder).
type Vault struct {
	*folder
	reader
	finder
	writer
	mover
	bundles
	inbox
}

// Open opens the vault at an operating system path, reads the names of its files and removes temporary files that a
// killed process has left. The folder must exist. An imported folder inside the import folder is refused: what is
// imported would be imported again.
func Open(dir string, opt Options) (*Vault, error) {
	if opt.ImportDir == "" {
		opt.ImportDir = DefaultImportDir
	}
	if opt.ImportedDir == "" {
		opt.ImportedDir = DefaultImportedDir
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	path, err := existingDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	filter, err := newFilter(opt)
	if err != nil {
		return nil, fmt.Errorf("open vault %s: %w", dir, err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	f := &folder{path: path, root: root, opt: opt, log: opt.Logger, filter: filter, index: newIndex(), sync: (*os.File).Sync}
	v := &Vault{folder: f, reader: reader{f, writersOf}, finder: finder{f}, writer: writer{f}, mover: mover{f}, bundles: bundles{f}, inbox: inbox{f}}
	if err := v.checkFolders(); err != nil {
		root.Close()
		return nil, fmt.Errorf("open vault %s: %w", dir, err)
	}
	if err := v.Refresh(); err != nil {
		root.Close()
		return nil, fmt.Errorf("open vault %s: %w", dir, err)
	}
	return v, nil
}

// existingDir turns a setting into an absolute path of an existing folder.
func existingDir(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no folder is set")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	path, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: there is no such folder", dir)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s: this is a file, not a folder", dir)
	}
	return path, nil
}

// checkFolders refuses settings with which imports would feed on themselves, also when a link makes the circle.
func (v *Vault) checkFolders() error {
	in, out := v.opt.ImportDir, v.opt.ImportedDir
	for _, name := range []string{in, out} {
		if err := vault.ValidName(name); err != nil {
			return err
		}
	}
	if vault.Within(vault.Fold(out), vault.Fold(in)) || vault.Within(v.realPath(out), v.realPath(in)) {
		return fmt.Errorf("imported folder %q lies in the import folder %q: every import would be imported again; "+
			"set vault.imported_dir to a folder beside it", out, in)
	}
	return nil
}

// realPath is where a name leads on disk, with slashes.
func (v *Vault) realPath(name string) string {
	path := filepath.Join(v.path, filepath.FromSlash(name))
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return filepath.ToSlash(path)
}

// Close releases the vault. Files that are open stay readable.
func (v *Vault) Close() error { return v.root.Close() }

// ImportDir is the name of the drop folder.
func (in *inbox) ImportDir() string { return in.opt.ImportDir }

// ImportedDir is the name of the folder in which bundles appear.
func (v *Vault) ImportedDir() string { return v.opt.ImportedDir }
