package journal

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// changeOf is a change with its run.
type changeOf struct {
	run    string
	change engine.Change
}

// droppedContents returns, for each run that ended before a time, the digests of what its files held before. Those that
// people see in the run's record as something else (a prompt, an answer) are not among them.
func droppedContents(ctx context.Context, tx *sql.Tx, expired time.Time) (map[string]map[blobID]bool, error) {
	all, err := query(ctx, tx, scanChangeOf, `SELECT c.run, c.view FROM changes c JOIN runs r ON r.id = c.run
		WHERE r.finished > 0 AND r.finished < ?`, micros(expired))
	if err != nil {
		return nil, err
	}
	contents := map[string]map[blobID]bool{}
	for _, d := range all {
		if id, ok := blobOf(d.change.Before); ok {
			if contents[d.run] == nil {
				contents[d.run] = map[blobID]bool{}
			}
			contents[d.run][id] = true
		}
	}
	for run, ids := range contents {
		if err := spareShown(ctx, tx, run, ids); err != nil {
			return nil, err
		}
	}
	return contents, nil
}

func scanChangeOf(r row) (changeOf, error) {
	var d changeOf
	var raw []byte
	if err := r.Scan(&d.run, &raw); err != nil {
		return d, err
	}
	return d, json.Unmarshal(raw, &d.change)
}

// spareShown takes the blobs off a list that the record of a run shows.
func spareShown(ctx context.Context, tx *sql.Tx, run string, ids map[blobID]bool) error {
	works, err := query(ctx, tx, scanView[engine.BatchRecord], `SELECT view FROM batches WHERE run = ?`, run)
	if err != nil {
		return err
	}
	record, err := scanView[engine.RunRecord](tx.QueryRowContext(ctx, `SELECT view FROM runs WHERE id = ?`, run))
	if err != nil {
		return err
	}
	for _, s := range record.Steps {
		works = append(works, s.Works()...)
	}
	for _, w := range works {
		shown := []string{w.Prompt, w.Receipt, w.Answer, w.Raw}
		for _, t := range w.Turns {
			shown = append(shown, t.Raw, t.Reply)
		}
		for _, digest := range shown {
			if id, ok := blobOf(digest); ok {
				delete(ids, id)
			}
		}
	}
	return nil
}

func blobOf(digest string) (id blobID, ok bool) {
	n, err := hex.Decode(id[:], []byte(digest))
	return id, err == nil && n == len(id)
}
