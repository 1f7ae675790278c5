package daemon

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/vault"
)

// Book answers where contents of the vault come from. Without a store its rules alone decide.
func (a *Workspace) Book(store origin.Store) *origin.Book {
	s := a.Settings
	return &origin.Book{FS: a.Vault.FS(), Store: store, Rules: origin.Rules{
		ImportedDir: s.Vault.ImportedDir, ImportDir: s.Vault.ImportDir, Globs: s.Policy.Untrusted, Properties: s.Policy.UntrustedProperties,
	}}
}

// followOrigins records a change that the watcher saw in the book, so that it holds for the next name and the next edit.
func (w *Process) followOrigins(ctx context.Context, c vault.Change) {
	book := w.Book(w.Journal.Origins)
	var err error
	if c.Op == vault.OpRemove {
		err = book.Removed(ctx, c.Name)
	} else {
		err = book.Changed(ctx, c.Name, c.SHA256)
	}
	if err != nil && ctx.Err() == nil {
		w.Log.Warn("origin of a changed file not recorded", "name", c.Name, "err", err)
	}
}

// ClearOrigin makes the present content of a file the user's own.
func (w *Process) ClearOrigin(ctx context.Context, name string) error {
	file, err := w.FileNamed(name)
	if err != nil {
		return err
	}
	return w.Book(w.Journal.Origins).Clear(ctx, file)
}

// FileNamed finds a file of the vault by its name, or a note by its name without .md.
func (a *Workspace) FileNamed(name string) (string, error) {
	name = path.Clean(strings.TrimPrefix(name, "./"))
	for _, candidate := range []string{name, name + ".md"} {
		if !fs.ValidPath(candidate) {
			break
		}
		info, err := fs.Stat(a.Vault.FS(), candidate)
		if err == nil && info.Mode().IsRegular() {
			return candidate, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", control.Usage.Errorf("there is no file %q in the vault; write its name from the vault's folder, such as Notes/today.md", name)
}
