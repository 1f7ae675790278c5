package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Keep makes all blobs of a state directory new ones, so that no sweep removes them within blobGrace, and returns their names below
// the directory. Another process may work on it.
func Keep(ctx context.Context, dir string) (names []string, err error) {
	b := &Blobs{db: &database{dir: dir}}
	err = b.each(ctx, func(id blobID, _ fs.FileInfo) error {
		path := b.path(id.String())
		if err := touch(path); errors.Is(err, fs.ErrNotExist) {
			return nil // removed since it was listed
		} // on a disk that nobody can write, nobody removes anything
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// Copy writes the database of a state directory into a new file, as it is at one moment. Another process may work on it. At that moment it
// calls together, while nobody can record anything: what is outside of the database and is removed once it is recorded belongs to the copy.
func Copy(ctx context.Context, dir, to string, together func() error) (err error) {
	if err := Readable(dir); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(dir)+"&_txlock=immediate")
	if err != nil {
		return explain(dir, err)
	}
	defer db.Close()
	if err := checkVersion(ctx, db); err != nil {
		return explain(dir, err)
	}
	moment, err := db.Conn(ctx)
	if err != nil {
		return explain(dir, err)
	}
	defer moment.Close()
	if err := freeze(ctx, dir, db, moment, together); err != nil {
		return err
	}
	raw := to + ".raw"
	defer func() { err = errors.Join(err, os.RemoveAll(raw)) }()
	if err := moment.Raw(func(c any) error { return copyPages(ctx, c, raw) }); err != nil {
		return explain(dir, fmt.Errorf("copy the database: %w", err))
	}
	if err := compact(ctx, raw, to); err != nil {
		return explain(dir, fmt.Errorf("copy the database: %w", err))
	}
	return os.Chmod(to, 0o600)
}

// freeze makes a connection read the database as it is now, and calls together before anybody else can write. A database that cannot be
// written does not change.
func freeze(ctx context.Context, dir string, db *sql.DB, moment *sql.Conn, together func() error) error {
	writer, err := db.BeginTx(ctx, nil)
	var lite *sqlite.Error
	switch {
	case errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_READONLY:
	case err != nil:
		return explain(dir, err)
	default:
		defer writer.Rollback() //nolint:errcheck // it has written nothing
	}
	for _, q := range []string{"BEGIN DEFERRED", "SELECT count(*) FROM sqlite_schema"} { // the moment is that of the first read
		if _, err := moment.ExecContext(ctx, q); err != nil {
			return explain(dir, err)
		}
	}
	return together()
}

const pagesAtOnce = 1 << 12

// copier is a connection of the SQLite driver, which has no exported type.
type copier interface {
	NewBackup(to string) (*sqlite.Backup, error)
}

// copyPages copies what a connection reads into a new database.
func copyPages(ctx context.Context, conn any, to string) error {
	source, ok := conn.(copier)
	if !ok {
		return fmt.Errorf("%T makes no copies", conn)
	}
	b, err := source.NewBackup(fileURI(to))
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = b.Step(pagesAtOnce)
		}
	}
	return errors.Join(err, b.Finish())
}

// compact copies a database that nobody works on, without what was removed from it.
func compact(ctx context.Context, from, to string) error {
	db, err := sql.Open("sqlite", fileURI(from))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// Verify checks the files of a state directory that no process works on: the database is whole and not newer than this version, and each
// blob is what its name says.
func Verify(ctx context.Context, dir string) error {
	db, err := sql.Open("sqlite", dsn(dir, "query_only(1)"))
	if err != nil {
		return err
	}
	defer db.Close()
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("%w: schema %d, this version knows %d", ErrNewer, version, len(migrations))
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	b := &Blobs{db: &database{dir: dir}}
	err = b.each(ctx, func(id blobID, _ fs.FileInfo) error {
		_, err := b.Get(ctx, id.String())
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
