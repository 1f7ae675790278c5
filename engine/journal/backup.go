package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// Copy writes the database of a state directory into a new file, as it is at one moment. Another process may work on it.
func Copy(ctx context.Context, dir, to string) error {
	if err := Readable(dir); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(dir))
	if err != nil {
		return explain(dir, err)
	}
	defer db.Close()
	if err := checkVersion(ctx, db); err != nil {
		return explain(dir, err)
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return explain(dir, fmt.Errorf("copy the database: %w", err))
	}
	return os.Chmod(to, 0o600)
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
