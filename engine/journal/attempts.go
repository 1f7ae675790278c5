package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Attempts counts attempts at pieces of work that can end a process. A row is there from before the work until it is done.
type Attempts struct{ db *database }

// Attempt counts one more attempt, and returns how many there were before. Earlier ones do not count if less was made then.
func (as *Attempts) Attempt(ctx context.Context, piece string, progress int) (earlier int, err error) {
	err = inTx(ctx, as.db.write, func(tx *sql.Tx) error {
		var before int
		err := tx.QueryRowContext(ctx, `SELECT count, progress FROM attempts WHERE piece = ?`, piece).Scan(&earlier, &before)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if progress > before {
			earlier = 0
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO attempts (piece, count, progress, time) VALUES (?, ?, ?, ?)
			ON CONFLICT (piece) DO UPDATE SET count = excluded.count, progress = excluded.progress, time = excluded.time`,
			piece, earlier+1, progress, micros(time.Now()))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count an attempt: %w", err)
	}
	return earlier, nil
}

// Attempts returns how many attempts are counted.
func (as *Attempts) Attempts(ctx context.Context, piece string) (int, error) {
	var n int
	err := one(ctx, as.db.read, `SELECT count FROM attempts WHERE piece = ?`, piece).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read the attempts: %w", err)
	}
	return n, nil
}

// Forget forgets the pieces whose names begin so.
func (as *Attempts) Forget(ctx context.Context, prefix string) error {
	if _, err := change(ctx, as.db.write, `DELETE FROM attempts WHERE substr(piece, 1, length(?)) = ?`, prefix, prefix); err != nil {
		return fmt.Errorf("forget the attempts: %w", err)
	}
	return nil
}
