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
}

// Of describes a restore that was finished.
func Of(r journal.Restored, dir string) Restored {
	done := Restored{Made: r.Made}
	if aside := filepath.Join(dir, r.Aside); isThere(aside) {
		done.Aside = aside
	}
	return done
}

// Restore puts the history of an archive in the place of that in a vault's state directory, which this process has locked. With a history
// there, it needs replace, and the former one is kept in a folder of its own. What the user has decided since stays as it is. An archive of
// another vault, a damaged or a newer one changes nothing. files writes the id of a vault that has lost it.
func Restore(ctx context.Context, st vaultid.State, archivePath string, replace bool, files vaultid.Files) (Restored, error) {
	if isThere(filepath.Join(st.Dir, database)) && !replace {
		return Restored{}, failure.New(failure.State, "`--replace` sets it aside", "%s holds the history of this vault", st.Dir)
	}
	staged, err := journal.Stage(st.Dir)
	if err != nil {
		return Restored{}, err
	}
	head, err := stage(ctx, st, archivePath, staged)
	if err != nil {
		return Restored{}, errors.Join(err, os.RemoveAll(staged))
	}
	r, err := journal.Commit(ctx, staged, head.Made, time.Now())
	if err != nil {
		return Restored{}, err
	}
	record, err := vaultid.ReadRecord(st.Dir)
	if err == nil {
		st = st.Under(record)
		_, err = st.Settle(ctx, files, time.Now()) // a vault that cannot be written works without an id
	}
	return Of(r, st.Dir), err
}

// stage unpacks an archive into a folder, checks everything, and leaves there what is to be restored.
func stage(ctx context.Context, st vaultid.State, archivePath, staged string) (Head, error) {
	head, err := extract(ctx, archivePath, staged)
	if err != nil {
		return head, err
	}
	if err := st.Accepts(head.Vault); err != nil {
		f := failure.Of(err)
		return head, failure.New(failure.State, f.Hint, "%s cannot be restored here: %v", archivePath, err)
	}
	if !isThere(filepath.Join(staged, database)) {
		return head, damaged(archivePath, errors.New("it has no database"))
	}
	if err := journal.Verify(ctx, staged); errors.Is(err, journal.ErrNewer) {
		return head, newer(archivePath, head)
	} else if err != nil {
		return head, damaged(archivePath, err)
	}
	if err := dropTrust(st, staged); err != nil {
		return head, err
	}
	return head, st.Continue(head.Vault, time.Now()).Write(staged)
}

// dropTrust removes what a backup says about trust, unless it is about the very folder that the vault is now.
func dropTrust(st vaultid.State, staged string) error {
	store, err := trust.Open(staged, st.Vault.Path)
	if err != nil {
		return err
	}
	if then, err := store.Read(); err == nil && then.Folder == state.FolderID(st.Vault.Path) && strings.Contains(then.Folder, "@") {
		return nil
	}
	if err := os.Remove(filepath.Join(staged, trustFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("leave out what was trusted: %w", err)
	}
	return nil
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
