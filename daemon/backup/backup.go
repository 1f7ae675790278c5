package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/settings/state"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

// Written is a backup.
type Written struct {
	File    string
	Size    int64
	Blobs   int
	Damaged []string // blobs whose content has changed on disk, and which are left out
}

// tries bounds how often a backup starts again because blobs that it needs disappeared.
const tries = 3

// errVanished means that a blob was removed while a backup was made.
var errVanished = errors.New("contents were removed while the backup was made")

// Write writes the state of a vault into a new file that only the user can read: whole, or not at all. A serve may work on it. Keys
// (.env), and what signs people in at the dashboard, are not part of it.
func Write(ctx context.Context, st vaultid.State, file, version string) (Written, error) {
	if err := journal.Readable(st.Dir); err != nil {
		return Written{}, err
	}
	if _, err := os.Stat(filepath.Join(st.Dir, database)); err != nil {
		return Written{}, failure.New(failure.State, "", "there is nothing to back up: nothing was run on this vault yet (%s)", st.Dir)
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return Written{}, err
	}
	switch {
	case within(file, st.Vault.Path):
		return Written{}, failure.New(failure.State, "choose a file outside the vault", "%s is inside the vault: its secrets would be synced with your notes", file)
	case within(file, st.Dir):
		return Written{}, failure.New(failure.State, "choose a file elsewhere", "%s is inside the state directory, and would be lost with it", file)
	}
	if _, err := os.Lstat(file); err == nil {
		return Written{}, exists(file)
	}
	temp, release, err := workplace(filepath.Dir(file))
	if err != nil {
		return Written{}, unwritten(err, "make the folder, or choose another that you may write in")
	}
	defer release()
	for try := 1; ; try++ {
		w, err := write(ctx, st, temp, version)
		if errors.Is(err, errVanished) && try < tries {
			continue
		}
		if err == nil {
			err = publish(w.File, file)
		}
		if failure.IsTransient(err) {
			return Written{}, unwritten(err, "make room, or choose a folder on another disk")
		}
		if err != nil {
			return Written{}, fmt.Errorf("write the backup: %w", err)
		}
		w.File = file
		return w, nil
	}
}

// unwritten is a backup that could not be written. No run waits for that, as the hint of a transient error would say.
func unwritten(err error, hint string) error {
	return failure.New(failure.State, hint, "write the backup: %s", err.Error())
}

func exists(file string) error {
	return failure.New(failure.State, "choose another name, or remove the file", "%s exists already", file)
}

// within reports whether a file is or would be below a folder, by whatever path.
func within(file, dir string) bool {
	top, err := os.Stat(dir)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return false // there is no such folder, so nothing will be written
	}
	for {
		if info, err := os.Stat(real); err == nil && os.SameFile(info, top) {
			return true
		}
		up := filepath.Dir(real)
		if up == real {
			return false
		}
		real = up
	}
}

const (
	workPrefix = ".vaultflow-backup-"
	workLock   = "lock"
	workNew    = time.Minute // a folder that is younger may not have its lock yet
)

// workplace makes a folder to work in, and removes those that killed backups have left beside it: nobody has their lock.
func workplace(dir string) (temp string, release func(), err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", nil, err
	}
	for _, e := range entries {
		left := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), workPrefix) || time.Since(info.ModTime()) < workNew {
			continue
		}
		lock := flock.New(filepath.Join(left, workLock))
		if free, err := lock.TryLock(); err == nil && free {
			_ = os.RemoveAll(left) // another user's stays
			_ = lock.Unlock()      // its file is gone
		}
	}
	temp, err = os.MkdirTemp(dir, workPrefix+"*")
	if err != nil {
		return "", nil, err
	}
	lock := flock.New(filepath.Join(temp, workLock))
	if err := lock.Lock(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(temp))
	}
	return temp, func() {
		_ = lock.Unlock()      // it ends with the process
		_ = os.RemoveAll(temp) // the next backup removes what is left
	}, nil
}

// publish names a complete file. It replaces none.
func publish(temp, file string) error {
	err := os.Link(temp, file)
	if err != nil && !errors.Is(err, fs.ErrExist) { // no hard links here: the name is claimed first
		var claim *os.File
		if claim, err = os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, state.FileMode); err == nil {
			err = errors.Join(claim.Close(), os.Rename(temp, file))
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return exists(file)
	}
	if err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	_ = dir.Sync() // not every file system supports it
	return dir.Close()
}

// write makes one attempt, in a folder of its own. The database is copied between two looks at the blobs: those of the first look cannot be
// swept any more, and what the database names is in the second.
func write(ctx context.Context, st vaultid.State, temp, version string) (w Written, err error) {
	w.File = filepath.Join(temp, "archive")
	f, err := os.OpenFile(w.File, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, state.FileMode)
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	record := st.Record
	if record.Path == "" { // of an earlier version
		record = record.At(st.Vault, time.Now())
	}
	record.Next = ""
	a := newArchive(f)
	if err := a.addJSON(headName, Head{thisFormat, time.Now().UTC(), version, record}); err != nil {
		return w, err
	}
	found, err := os.Stat(filepath.Join(st.Dir, database))
	if err != nil {
		return w, err
	}
	before, err := journal.Keep(ctx, st.Dir)
	if err != nil {
		return w, err
	}
	for _, add := range []func() error{
		func() error { return a.database(ctx, st.Dir, temp) },
		func() error { return a.private(st.Dir) },
		func() error { return a.artifacts(ctx, st.Dir) },
		func() error { return a.blobs(ctx, st.Dir, before, &w) },
		func() error { return unchanged(found, st.Dir) },
		a.close, f.Sync,
	} {
		if err := add(); err != nil {
			return w, err
		}
	}
	info, err := f.Stat()
	if err == nil {
		w.Size = info.Size()
	}
	return w, err
}

// database adds the database as it is at one moment, with the answers that were received by then: an answer is removed once it is recorded,
// so it is in the one or in the other.
func (a *archive) database(ctx context.Context, dir, temp string) error {
	copied := filepath.Join(temp, database)
	if err := os.RemoveAll(copied); err != nil { // of an earlier try
		return err
	}
	if err := journal.Copy(ctx, dir, copied, func() error { return a.tree(ctx, dir, "received") }); err != nil {
		return err
	}
	return errors.Join(a.copy(temp, database), os.Remove(copied))
}

// unchanged returns an error if another state was restored meanwhile.
func unchanged(found os.FileInfo, dir string) error {
	now, err := os.Stat(filepath.Join(dir, database))
	if err == nil && os.SameFile(found, now) {
		return nil
	}
	return errVanished
}

// private adds what the user has decided, and the secret of marks.
func (a *archive) private(dir string) error {
	for _, name := range decisions {
		data, err := state.Read(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = a.add(name, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// artifacts adds the manifest before the files that it names: what is removed meanwhile is settled when the store is opened.
func (a *archive) artifacts(ctx context.Context, dir string) error {
	if err := a.copy(dir, "artifacts/manifest.jsonl"); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return a.tree(ctx, dir, "artifacts")
}

// tree adds the files of a folder, but for temporary ones and those that the archive has. One that is removed meanwhile is left out.
func (a *archive) tree(ctx context.Context, dir, folder string) error {
	return fs.WalkDir(os.DirFS(dir), folder, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && (d.IsDir() || strings.HasPrefix(path.Base(name), ".") || a.index[name] != "") {
			return ctx.Err()
		}
		if err == nil {
			err = a.copy(dir, name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func (a *archive) blobs(ctx context.Context, dir string, before []string, w *Written) error {
	names, err := journal.Keep(ctx, dir)
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	if slices.ContainsFunc(before, func(name string) bool { return !there[name] }) {
		return errVanished
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return errVanished
		}
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != path.Base(name) {
			w.Damaged = append(w.Damaged, path.Base(name))
			continue
		}
		if err := a.add(name, data); err != nil {
			return err
		}
		w.Blobs++
	}
	return nil
}
