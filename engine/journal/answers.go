package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Answers keeps the answers of models: those of steps with @cache, and those that arrived and have no record yet.
type Answers struct {
	db    *database
	blobs *Blobs
}

// maxAnswers is how many answers of a step are kept for @cache; the oldest ones go first. An @for_each over the largest
// selection (500 files) fits twice.
const maxAnswers = 1000

// Keep stores an answer for @cache under its key with the present time, in place of an older one. Doing it twice changes
// nothing but the time.
func (a *Answers) Keep(ctx context.Context, ref engine.StepRef, c engine.CacheEntry) error {
	entry, err := json.Marshal(c)
	if err != nil {
		return err
	}
	err = inTx(ctx, a.db.write, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO answers (key, workflow, step, run, entry, stored) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET workflow = excluded.workflow, step = excluded.step, run = excluded.run, entry = excluded.entry,
			stored = excluded.stored`, c.Key, ref.Workflow, ref.Step, ref.Run, entry, micros(time.Now())); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers WHERE workflow = ? AND step = ?
			ORDER BY stored DESC, rowid DESC LIMIT -1 OFFSET ?)`, ref.Workflow, ref.Step, maxAnswers)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the answer of step %q of %s: %w", ref.Step, ref.Workflow, err)
	}
	return nil
}

// Cached gives the answer with a key if it was stored at the moment since or later. The reader decides how long an answer
// is good for, so that a step whose @cache was shortened obeys at once. An answer whose blob is gone is not found.
func (a *Answers) Cached(ctx context.Context, key string, since time.Time) (c engine.CacheEntry, found bool, err error) {
	var entry []byte
	err = one(ctx, a.db.read, `SELECT entry FROM answers WHERE key = ? AND stored >= ?`, key, micros(since)).Scan(&entry)
	if errors.Is(err, sql.ErrNoRows) {
		return engine.CacheEntry{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(entry, &c)
	}
	if err != nil {
		return engine.CacheEntry{}, false, fmt.Errorf("look up a kept answer: %w", err)
	}
	for _, digest := range []string{c.Answer, c.Raw} {
		if digest != "" && !a.blobs.holds(digest) {
			return engine.CacheEntry{}, false, nil
		}
	}
	return c, true, nil
}
