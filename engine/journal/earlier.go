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
