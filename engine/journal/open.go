package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/settings/state"
)

// Conditions that callers test.
var (
	// ErrLocked is returned when another process works on this state directory.
	ErrLocked = errors.New("another vaultflow is running on this vault")
	// ErrCorrupt is returned when the database is broken, or is no database.
	ErrCorrupt = errors.New("the state database is broken")
	// ErrBusy is returned when another program keeps the database locked for longer than we wait.
	ErrBusy = errors.New("another program keeps the state database locked, such as a backup")
	// ErrNewer is returned when a newer version of vaultflow has written the database.
	ErrNewer = errors.New("the state database belongs to a newer version of vaultflow")
)

// OpenError is a state directory that cannot be used.
type OpenError struct {
	Dir    string
	Remedy string
	Err    error
}

func (e *OpenError) Error() string { return fmt.Sprintf("open the state in %s: %v", e.Dir, e.Err) }

// Unwrap returns the condition, such as ErrLocked.
func (e *OpenError) Unwrap() error { return e.Err }

var _ failure.Reporter = (*OpenError)(nil)

// Failure implements [failure.Reporter].
func (e *OpenError) Failure() failure.Error {
	return failure.Error{Code: failure.State, Hint: e.Remedy}
}

// Journal is an open state directory: a store for each subject. The stores are safe for concurrent use until Close.
type Journal struct {
	Runs      *Runs
	Events    *Events
	Blobs     *Blobs
	Answers   *Answers
	Memory    *Memory
	Changes   *Changes
	Undo      *Undo
	Approvals *Approvals
	Attempts  *Attempts
	Imports   *Imports
	Slots     *Slots
	Watches   *Watches
	Spending  *Spending
	Origins   *Origins

	Restored *Restored // the restore that Open had to finish; nil if there was none

	db    *database
	lock  *flock.Flock           // nil for readers
	files map[string]os.FileInfo // the files that were opened, by path
}

// database is the SQLite file of a state directory.
type database struct {
	dir   string  // the state directory
	write *sql.DB // one connection
	read  *sql.DB
	asked sync.Map // the statements of often, by their text
}

// newJournal returns a journal whose stores share a database.
func newJournal(dir string) *Journal {
	db := &database{dir: dir}
	j := &Journal{
		db: db, Events: &Events{db}, Blobs: &Blobs{db: db}, Changes: &Changes{db}, Approvals: &Approvals{db}, Attempts: &Attempts{db}, Imports: &Imports{db},
		Slots: &Slots{db}, Watches: &Watches{db}, Spending: &Spending{db}, Origins: &Origins{db},
	}
	j.Answers, j.Memory = &Answers{db, j.Blobs}, &Memory{db, j.Blobs}
	j.Runs = &Runs{db, j.Answers}
	j.Undo = &Undo{db, j.Runs}
	return j
}

// stores are what an executor needs of a journal.
type stores struct {
	*Runs
	*Events
	*Blobs
}

var _ engine.Journal = stores{}

// Executor returns the stores that an executor writes to.
func (j *Journal) Executor() engine.Journal { return stores{j.Runs, j.Events, j.Blobs} }

// Open locks the state directory for this process, and then makes it or brings it up to date. The lock ends with Close or with
// the process. Errors are *OpenError, or those of locked, which is called between the two: for what may begin once no other
// process has the lock, and must be recorded before there is a database.
func Open(ctx context.Context, dir string, locked ...func() error) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &OpenError{dir, hintUnwritable, err}
	}
	if _, err := state.Protect(dir); err != nil {
		return nil, &OpenError{dir, hintNotOwn, err}
	}
	lock, restored, err := take(ctx, dir)
	if err != nil {
		return nil, err
	}
	j := newJournal(dir)
	j.lock, j.Restored = lock, restored
	for _, begin := range locked {
		if err := begin(); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	if err := prepare(dir); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if err := errors.Join(j.db.connect(ctx), j.remember()); err != nil {
		return nil, errors.Join(explain(dir, err), j.Close())
	}
	return j, nil
}

const (
	hintUnwritable = "make the folder writable, or choose another with --state-dir"
	hintNotOwn     = "make the folder your own, or choose another with --state-dir"
)

// prepare makes the folders and the empty database.
func prepare(dir string) error {
	for _, sub := range []string{"blobs", "received"} { // what is below them is made with Mkdir: a state directory that was removed is not made again
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return &OpenError{dir, hintUnwritable, err}
		}
	}
	if err := private(dir); err != nil {
		return &OpenError{dir, hintNotOwn, err}
	}
	return nil
}

// Lock takes a state directory for this process, until release or the end of the process, without opening its database. A missing
// directory is created, and a restore that was begun is finished: restored is nil if there was none. Errors are *OpenError.
func Lock(ctx context.Context, dir string) (release func() error, restored *Restored, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, &OpenError{dir, hintUnwritable, err}
	}
	lock, restored, err := take(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	return lock.Unlock, restored, nil
}

// take locks a state directory, and finishes a restore that was begun there.
func take(ctx context.Context, dir string) (*flock.Flock, *Restored, error) {
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(state.FileMode))
	free, err := lock.TryLock()
	if err == nil && !free { // perhaps for a moment only; see Held
		time.Sleep(probing)
		free, err = lock.TryLock()
	}
	if err != nil {
		return nil, nil, &OpenError{dir, hintUnwritable, err}
	}
	if !free {
		return nil, nil, &OpenError{dir, "stop it, or use its dashboard", ErrLocked}
	}
	restored, err := finish(ctx, dir)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Unlock())
	}
	return lock, restored, nil
}

// private creates an empty database that others cannot read. SQLite would leave its mode to the umask; the files beside it
// get the mode of the database.
func private(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "state.db"), os.O_CREATE|os.O_RDWR, state.FileMode)
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenReader opens the state directory for reading only, beside a process that works on it. Methods that write fail.
// It is an error when there is no state yet (os.ErrNotExist), and while a restore is under way (ErrRestoring).
func OpenReader(ctx context.Context, dir string) (*Journal, error) {
	if err := Readable(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "state.db")); err != nil {
		return nil, &OpenError{dir, "nothing has run in this vault yet", err}
	}
	_, _ = state.Protect(dir) // who only reads may be on a file system that nobody can write
	j := newJournal(dir)
	db, err := sql.Open("sqlite", dsn(dir, "query_only(1)"))
	if err != nil {
		return nil, explain(dir, err)
	}
	j.db.read, j.db.write = db, db
	if err := checkVersion(ctx, db); err != nil {
		return nil, errors.Join(explain(dir, err), j.Close())
	}
	if err := Readable(dir); err != nil { // it has begun meanwhile
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// connect opens one connection for writing and some for reading.
func (db *database) connect(ctx context.Context) error {
	var err error
	if db.write, err = sql.Open("sqlite", dsn(db.dir, "journal_mode(WAL)", "synchronous(FULL)", "journal_size_limit(67108864)")+"&_txlock=immediate"); err != nil {
		return err
	}
	db.write.SetMaxOpenConns(1)
	if err := checkWhole(ctx, db.write, filepath.Join(db.dir, "state.db")); err != nil {
		return err
	}
	if err := migrate(ctx, db.write); err != nil {
		return err
	}
	if err := presumeDead(ctx, db.write); err != nil {
		return err
	}
	if db.read, err = sql.Open("sqlite", dsn(db.dir, "query_only(1)")); err != nil {
		return err
	}
	db.read.SetMaxOpenConns(4)
	return nil
}

// patience is how long a lock of another program is waited for.
var patience = 5 * time.Second // tests have less

// dsn names the database with the pragmas of every connection.
func dsn(dir string, pragmas ...string) string {
	query := url.Values{"_pragma": append([]string{fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds())}, pragmas...)}
	return fileURI(filepath.Join(dir, "state.db")) + "?" + query.Encode()
}

// fileURI names a database file.
func fileURI(path string) string {
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
}

// checkLimit bounds the files that are checked whole when they are opened, in bytes.
const checkLimit = 32 << 20

// checkWhole finds broken pages before work is based on them.
func checkWhole(ctx context.Context, db *sql.DB, path string) error {
	if info, err := os.Stat(path); err != nil || info.Size() > checkLimit {
		return db.PingContext(ctx)
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	return nil
}

// explain adds words and a remedy to an error of SQLite.
func explain(dir string, err error) error {
	remedy := ""
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			err = ErrBusy
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
			err = fmt.Errorf("%w: %w", ErrCorrupt, lite)
		}
	}
	switch {
	case errors.Is(err, ErrCorrupt):
		remedy = "move state.db away and start again: notes, imports and workflows are in the vault, only the history is lost"
	case errors.Is(err, ErrBusy):
		remedy = hintBusy
	case errors.Is(err, ErrNewer):
		remedy = "use the newer vaultflow, or another --state-dir"
	}
	return &OpenError{dir, remedy, err}
}

// There returns an error unless the state directory is still the one that was opened. What is stored in a removed one is lost.
func (j *Journal) There() error {
	for path, opened := range j.files {
		now, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return &OpenError{j.db.dir, hintGone, errors.New("it is gone")}
		case err != nil:
			return &OpenError{j.db.dir, hintGone, err}
		case !os.SameFile(now, opened):
			return &OpenError{j.db.dir, hintGone, errors.New("another one is in its place")}
		}
	}
	return nil
}

const hintGone = "bring the folder back as it was; for a new, empty history start serve again"

// remember notes which files are the journal's own.
func (j *Journal) remember() error {
	j.files = map[string]os.FileInfo{}
	for _, name := range []string{"lock", "state.db"} {
		path := filepath.Join(j.db.dir, name)
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		j.files[path] = info
	}
	return nil
}

// Dir is the state directory.
func (j *Journal) Dir() string { return j.db.dir }

// Close releases the state directory.
func (j *Journal) Close() error {
	var errs []error
	if j.db.read != nil && j.db.read != j.db.write {
		errs = append(errs, j.db.read.Close())
	}
	if j.db.write != nil {
		errs = append(errs, j.db.write.Close())
	}
	if j.lock != nil {
		errs = append(errs, j.lock.Unlock())
	}
	return errors.Join(errs...)
}

// withoutTrust is the last schema of versions that knew no trust in a vault.
const withoutTrust = 10

// Earlier reports whether a state directory holds runs of a version that knew no trust in a vault, and was not brought up to
// date since. It changes nothing.
func Earlier(ctx context.Context, dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, "state.db")); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	db, err := sql.Open("sqlite", dsn(dir, "query_only(1)"))
	if err != nil {
		return false, explain(dir, err)
	}
	defer db.Close()
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return false, explain(dir, err)
	}
	if version == 0 || version > withoutTrust {
		return false, nil
	}
	var runs bool
	if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM runs)").Scan(&runs); err != nil {
		return false, explain(dir, fmt.Errorf("look for runs: %w", err))
	}
	return runs, nil
}

// probing is longer than Held has the lock.
const probing = 5 * time.Millisecond

// Held reports whether a process works on this state directory. It does, too, where that cannot be known.
func (j *Journal) Held() bool {
	probe := flock.New(filepath.Join(j.db.dir, "lock"), flock.SetFlag(os.O_RDONLY))
	free, err := probe.TryRLock()
	if err != nil || !free {
		return true
	}
	return probe.Unlock() != nil
}
