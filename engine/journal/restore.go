package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/settings/state"
)

// ErrRestoring is returned to readers while a restore has begun to replace the files of a state directory.
var ErrRestoring = errors.New("a restore has begun and is not finished")

const (
	markerName    = "restore.json"
	stagingPrefix = ".restore-"
	asidePrefix   = "before-"
	recordFile    = "vault.json"
)

// replaced lists what a restore replaces in a state directory, in this order: nothing of the former database may meet the new one.
var replaced = []string{"state.db-journal", "state.db-wal", "state.db-shm", "state.db", "blobs", "received", "artifacts"}

// Restored is a restore that was committed. It is the content of the marker file.
type Restored struct {
	Made   time.Time `json:"made"`  // when the backup was made
	Aside  string    `json:"aside"` // the folder for the former files, below the state directory; missing if there were none
	Staged string    `json:"staged"`
	New    []string  `json:"new"` // what was staged
}

// Stage makes a folder inside a locked state directory for the files of a restore. Nobody sees them before Commit. What a killed process has
// staged is removed when the lock is taken next.
func Stage(dir string) (staged string, err error) { return os.MkdirTemp(dir, stagingPrefix+"*") }

// Commit puts staged files in the place of those of a locked state directory. The former database, blobs, answers and artifacts move to a
// folder of their own; the user's files stay where they are. Of the other staged files, the record of the vault is replaced, and those
// that are there already are kept as they are. It begins with one write: what is stopped before has changed nothing, and what is stopped
// later is finished by the next process that takes the lock.
func Commit(ctx context.Context, staged string, made, now time.Time) (Restored, error) {
	dir := filepath.Dir(staged)
	r := Restored{Made: made, Aside: asidePrefix + now.UTC().Format("20060102-150405.000"), Staged: filepath.Base(staged)}
	err := r.mark(ctx, dir)
	if Readable(dir) == nil { // nothing was changed
		return r, errors.Join(err, os.RemoveAll(staged))
	}
	_, err = finish(ctx, dir)
	return r, err
}

// mark writes the marker, when all that it names is on the disk.
func (r *Restored) mark(ctx context.Context, dir string) error {
	staged := filepath.Join(dir, r.Staged)
	entries, err := os.ReadDir(staged)
	if err != nil {
		return err
	}
	for _, e := range entries {
		r.New = append(r.New, e.Name())
	}
	err = filepath.WalkDir(staged, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = syncDir(path)
		}
		return err
	})
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	return state.Write(dir, markerName, append(data, '\n'))
}

// begun returns the restore that a state directory waits to be finished, or nil.
func begun(dir string) (*Restored, error) {
	data, err := state.Read(dir, markerName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r Restored
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && (!strings.HasPrefix(r.Staged, stagingPrefix) || !filepath.IsLocal(r.Staged) || !filepath.IsLocal(r.Aside) || r.Aside == "") {
		err = errors.New("it is damaged")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, markerName), err)
	}
	return &r, nil
}

// Readable returns an error while a restore replaces the files of a state directory.
func Readable(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, markerName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &OpenError{dir, "`vaultflow restore` without a file finishes it", ErrRestoring}
}

// finish completes the restore that was committed in a locked state directory, if there is one, and removes what others have staged.
func finish(ctx context.Context, dir string) (*Restored, error) {
	r, err := begun(dir)
	if err == nil && r != nil {
		err = r.replace(ctx, dir)
	}
	if err != nil {
		return r, &OpenError{dir, "make the folder writable; `vaultflow restore` without a file finishes it then", err}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return r, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagingPrefix) && e.IsDir() {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// replace moves the files. Each step finds out whether it was done before.
func (r *Restored) replace(ctx context.Context, dir string) error {
	staged, aside := filepath.Join(dir, r.Staged), filepath.Join(dir, r.Aside)
	if err := bringIn(ctx, staged, dir, recordFile); err != nil { // first: the vault finds its state by it
		return err
	}
	for _, name := range replaced {
		if !slices.Contains(r.New, name) || exists(filepath.Join(staged, name)) { // else it is the new one already
			if err := setAside(ctx, dir, aside, name); err != nil {
				return err
			}
		}
		if err := bringIn(ctx, staged, dir, name); err != nil {
			return err
		}
	}
	for _, name := range r.New {
		if !exists(filepath.Join(dir, name)) {
			if err := bringIn(ctx, staged, dir, name); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(syncDir(dir), ctx.Err()); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, markerName)); err != nil {
		return err
	}
	return syncDir(dir)
}

// Unused reports whether nothing has run with a state directory: it has no database, or only what a refused command has made.
func Unused(ctx context.Context, dir string) bool {
	if info, err := os.Lstat(filepath.Join(dir, "state.db")); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return true
	}
	j, err := OpenReader(ctx, dir)
	if err != nil {
		return false // it may hold anything
	}
	defer j.Close()
	var runs bool
	err = j.db.read.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM runs) OR EXISTS (SELECT 1 FROM events)").Scan(&runs)
	return err == nil && !runs
}

// Former lists the folders below a state directory that hold what restores have replaced, oldest first. Nothing reads them, and only the user
// removes them.
func Former(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), asidePrefix) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// setAside moves a former file away. It replaces none: an earlier version may have made the file again in between.
func setAside(ctx context.Context, dir, aside, name string) error {
	if !exists(filepath.Join(dir, name)) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return err
	}
	to := filepath.Join(aside, name)
	for exists(to) {
		to += "-again"
	}
	return errors.Join(os.Rename(filepath.Join(dir, name), to), syncDir(aside))
}

// bringIn moves a staged file to its place.
func bringIn(ctx context.Context, staged, dir, name string) error {
	if !exists(filepath.Join(staged, name)) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return os.Rename(filepath.Join(staged, name), filepath.Join(dir, name))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
