// Package statedir finds the state directory of a vault, moves it with the vault, and backs it up.
package statedir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine/imports"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/settings/vaultid"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// Find returns a vault with its state directory, and how the two belong together. named is the directory that was asked for,
// or "".
func Find(vaultDir, named string) (vaultid.State, error) {
	st, err := vaultid.Find(vaultDir, named, os.Environ())
	if err != nil {
		return st, control.Invalid.Wrap(err)
	}
	if st.Standing != vaultid.New || !st.Named {
		return st, nil
	}
	store, err := trust.Open(st.Dir, vaultDir)
	if err != nil {
		return st, control.Invalid.Wrap(err)
	}
	if former, is := store.Former(); is { // an earlier version recorded only this
		return st.Under(vaultid.Record{Path: former.Vault, Folder: former.Folder}), nil
	}
	return st, nil
}

// Open is Find with an error of class Denied if the state is not this vault's, and for changes also if this vault has moved.
func Open(vaultDir, named string, changes bool) (vaultid.State, error) {
	st, err := Find(vaultDir, named)
	if err != nil || changes {
		return st, cmp.Or(err, Usable(st))
	}
	return st, denied(st.Readable())
}

// Usable returns an error of class Denied if nothing may be stored in a state directory.
func Usable(st vaultid.State) error { return denied(st.Usable()) }

func denied(err error) error {
	if err != nil {
		return control.Denied.Wrap(err)
	}
	return nil
}

// InUse adds advice to an error about a vault on which another process works with another state directory.
func InUse(err error) error {
	if !errors.Is(err, disk.ErrInUse) {
		return err
	}
	return failure.New(failure.State, "stop it, or name its state directory with --state-dir; two histories of one vault would do everything twice", "%v", err)
}

// Settle records in a locked state directory whose state it is, before a database is made there, and writes the vault's id if it has
// none. A stranger's vault gets no id: it is not changed. opened is the state that was opened, and named the directory that was asked
// for. Settle looks again first: another process may have been faster.
func Settle(ctx context.Context, opened vaultid.State, named string, stranger bool, files vaultid.Files, log *slog.Logger) (vaultid.State, error) {
	st, err := Open(opened.Vault.Path, named, true)
	if err == nil && st.Dir != opened.Dir {
		err = fmt.Errorf("the state of this vault is in %s now; repeat the command", st.Dir)
	}
	if err != nil {
		return opened, err
	}
	if st.Unknown() {
		st.Record.Begins = time.Now().UTC().Truncate(time.Second)
		log.Warn("this vault was used before, and its history is not on this computer", "id_made", st.Vault.Made, "state", st.Dir, "hint", UnknownPast)
	}
	if stranger {
		files = nil
	}
	unwritten, err := st.Settle(ctx, files, time.Now())
	if unwritten != nil {
		log.Info("the vault has no id, so its history will not follow when it moves", "err", unwritten)
	}
	return st, err
}

// UnknownPast explains what a state directory that begins later than its vault cannot know.
const UnknownPast = "runs, undo, costs and pending marks from before are not known here, nor what models wrote from foreign content; imports are known by " +
	"their manifests. " +
	"`vaultflow restore FILE` brings a backup back"

// Lost returns what the state directory of a vault with an earlier history cannot know, or "".
func Lost(st vaultid.State) string {
	switch {
	case st.Unknown():
		return "there is no state directory for this vault on this computer: " + UnknownPast
	case !st.Record.Begins.IsZero():
		return fmt.Sprintf("the history begins on %s: %s", st.Record.Begins.Local().Format(time.DateOnly), UnknownPast)
	}
	return ""
}

// TakeOver makes the state directory that of the vault at its present place. What the vault is trusted with follows only if its folder
// is the same one, renamed; trusted reports that. Trust follows before the place is recorded, so that a second TakeOver completes one that
// was stopped.
func TakeOver(ctx context.Context, st vaultid.State) (taken vaultid.State, trusted bool, err error) {
	switch st.Standing {
	case vaultid.Moved, vaultid.Replaced:
	default:
		return st, false, Usable(st)
	}
	err = Hold(ctx, st, func(_ vaultid.State, _ *journal.Restored, files vaultid.Files) error {
		store, err := trust.Open(st.Dir, st.Vault.Path)
		if err == nil {
			trusted, err = store.Follow(st.Record.Path)
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		_, err = st.Settle(ctx, files, time.Now()) // a vault that cannot be written works without an id
		return err
	})
	return st, trusted, err
}

// StartOver begins another history of a vault, under a new id, in a state directory that is no other vault's.
func StartOver(ctx context.Context, st vaultid.State) (vaultid.State, error) {
	switch {
	case st.Standing == vaultid.Own && st.Record.Next == "":
		return st, control.Usage.Errorf("%s is the history of this vault already", st.Dir)
	case st.Standing == vaultid.Own, st.Standing == vaultid.New:
	case st.Named:
		return st, Usable(st)
	default:
		path, err := settings.StateDir(st.Vault.Path, "", os.Environ())
		if err != nil {
			return st, err
		}
		if st, err = vaultid.Free(st.Vault, path); err != nil {
			return st, err
		}
	}
	err := Hold(ctx, st, func(_ vaultid.State, _ *journal.Restored, files vaultid.Files) error {
		return st.Renew(ctx, files, time.Now())
	})
	return st, err
}

// Recover reports a restore that the journal had to finish. In a history that begins later than its vault, it records once the imports that
// are in the vault, and what is foreign by them; after an error the next start tries again.
func Recover(ctx context.Context, st vaultid.State, j *journal.Journal, vault fs.FS, book *origin.Book, log *slog.Logger) {
	if r := j.Restored; r != nil {
		log.Info("a restore that had begun is finished", "backup_made", r.Made, "former", filepath.Join(st.Dir, r.Aside))
	}
	if st.Record.Begins.IsZero() {
		return
	}
	err := j.Imports.RecallOnce(ctx, func() error {
		added, err := imports.Rebuild(ctx, vault, j.Imports, book)
		if added > 0 {
			log.Info("imports recorded again from their manifests", "count", added)
		}
		return err
	})
	if err != nil {
		log.Warn("imports not recorded again from their manifests", "err", err)
	}
}

// Hold locks a state directory that nobody has changed since it was found, and opens its vault for the id. A restore that was begun is
// finished first: then restored is not nil, and st is what it has left.
func Hold(ctx context.Context, st vaultid.State, do func(st vaultid.State, restored *journal.Restored, files vaultid.Files) error) (err error) {
	release, restored, err := journal.Lock(ctx, st.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	stored, err := vaultid.ReadRecord(st.Dir)
	switch {
	case err != nil:
		return err
	case restored != nil:
		st = st.Under(stored)
	case stored.Path != "" && !reflect.DeepEqual(stored, st.Record):
		return fmt.Errorf("the state in %s was changed meanwhile; repeat the command", st.Dir)
	}
	v, err := disk.Open(st.Vault.Path, disk.Options{})
	if err != nil {
		return err
	}
	defer v.Close()
	return do(st, restored, vault.NewFiles(v, policy.Gate{}, policy.ByIdentity))
}
