package daemon

import (
	"context"

	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/vault"
)

// Book returns the record of where contents of the vault come from. Without a store, only its rules decide.
func (a *Workspace) Book(store origin.Store) *origin.Book { return a.book(store, false) }

func (a *Workspace) book(store origin.Store, readOnly bool) *origin.Book {
	s := a.Settings
	return &origin.Book{FS: a.Vault.FS(), Store: store, ReadOnly: readOnly, Rules: origin.Rules{
		ImportedDir: s.Vault.ImportedDir, ImportDir: s.Vault.ImportDir, Globs: s.Policy.Untrusted, Properties: s.Policy.UntrustedProperties,
	}}
}

// followOrigin records a change that the watcher saw, so that the origin follows the content to its new name or edit.
func (w *Process) followOrigin(ctx context.Context, c vault.Change) {
	var err error
	if c.Op == vault.OpRemove {
		err = w.origins.Removed(ctx, c.Name)
	} else {
		err = w.origins.Changed(ctx, c.Name, c.SHA256)
	}
	if err != nil && ctx.Err() == nil {
		w.Workspace.Log.Warn("origin of a changed file not recorded", "name", c.Name, "err", err)
	}
}

// ClearOrigin declares the present content of a file the user's own.
func (w *Process) ClearOrigin(ctx context.Context, name string) error {
	file, err := w.Workspace.Workflows.FileNamed(name, "")
	if err != nil {
		return err
	}
	return w.origins.Clear(ctx, file)
}
