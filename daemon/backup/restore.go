package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings/state"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

// Restored is a state that was restored.
type Restored struct {
	Made  time.Time // when the backup was made
	Aside string    // where the former state is now; "" if there was none
	More  int       // former states of earlier restores that are still there
}

// Of describes a restore that was finished.
func Of(r journal.Restored, dir string) Restored {
	done := Restored{Made: r.Made}
	former, _ := journal.Former(dir) // a folder that cannot be listed has no names to show
	for _, name := range former {
		if name == r.Aside {
			done.Aside = filepath.Join(dir, name)
		} else {
			done.More++
		}
	}
	return done
}

// Restore puts the history of an archive in the place of that in a vault's state directory, which this process has locked. With runs
// there, it needs replace. The former history is kept in a folder of its own. What the user has decided since stays as it is. An archive of
// another vault, a damaged or a newer one changes nothing. files writes the id of a vault that has lost it.
func Restore(ctx context.Context, st vaultid.State, archivePath string, replace bool, files vaultid.Files) (Restored, error) {
	if !replace && !journal.Unused(ctx, st.Dir) {
		return Restored{}, failure.New(failure.State, "`--replace` sets it aside", "%s holds the history of this vault", st.Dir)
	}
	staged, err := journal.Stage(st.Dir)
	if err != nil {
		return Restored{}, err
	}
	head, decided, err := stage(ctx, st, archivePath, staged)
	if err != nil && ctx.Err() != nil { // the archive is not to blame
		err = ctx.Err()
	}
	if err != nil {
		return Restored{}, errors.Join(err, os.RemoveAll(staged))
	}
	r, err := journal.Commit(ctx, staged, head.Made, time.Now())
	if err == nil {
		err = trustAgain(st, decided)
	}
	if err != nil {
		return Restored{}, err
	}
	record, err := vaultid.ReadRecord(st.Dir)
	if err == nil {
		st = st.Under(record)
		_, err = st.Settle(context.WithoutCancel(ctx), files, time.Now()) // a vault that cannot be written works without an id
	}
	return Of(r, st.Dir), err
}

// stage unpacks an archive into a folder, checks everything, and leaves there what is to be restored. decided is what the archive says about
// trust in the very folder that the vault is now.
func stage(ctx context.Context, st vaultid.State, archivePath, staged string) (head Head, decided trust.State, err error) {
	head, err = extract(ctx, archivePath, staged)
	if failure.IsTransient(err) {
		err = failure.New(failure.State, "make room there; nothing was changed", "restore into %s: %s", st.Dir, err.Error())
	}
	if err != nil {
		return head, decided, err
	}
	if err := st.Accepts(head.Vault); err != nil {
		f := failure.Of(err)
		return head, decided, failure.New(failure.State, f.Hint, "%s cannot be restored here: %v", archivePath, err)
	}
	if !isThere(filepath.Join(staged, database)) {
		return head, decided, damaged(archivePath, errors.New("it has no database"))
	}
	if err := journal.Verify(ctx, staged); errors.Is(err, journal.ErrNewer) {
		return head, decided, newer(archivePath, head)
	} else if err != nil {
		return head, decided, damaged(archivePath, err)
	}
	if decided, err = keepTrust(st, staged); err != nil {
		return head, decided, err
	}
	return head, decided, st.Continue(head.Vault, time.Now()).Write(staged)
}

// keepTrust returns what a backup says about trust, if it is about the very folder that the vault is now, and else removes it.
func keepTrust(st vaultid.State, staged string) (trust.State, error) {
	store, err := trust.Open(staged, st.Vault.Path)
	if err != nil {
		return trust.State{}, err
	}
	if then, err := store.Read(); err == nil && then.Folder == state.FolderID(st.Vault.Path) && strings.Contains(then.Folder, "@") {
		return then, nil
	}
	if err := os.Remove(filepath.Join(staged, trustFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return trust.State{}, fmt.Errorf("leave out what was trusted: %w", err)
	}
	return trust.State{}, nil
}

// trustAgain stores what was decided about the vault, if nobody has decided anything since the state was lost: a command that was refused for
// want of trust has made a file that says so.
func trustAgain(st vaultid.State, decided trust.State) error {
	store, err := trust.Open(st.Dir, st.Vault.Path)
	if err != nil || !decided.Known() {
		return err
	}
	if _, err := store.Read(); err != nil {
		return nil //nolint:nilerr // a damaged file is reported by who needs it
	}
	return store.Change(func(now *trust.State) {
		if !now.Known() {
			*now = decided
		}
	})
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
