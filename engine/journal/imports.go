package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/engine"
)

// Imports keeps the records of imports, and of files that are arriving.
type Imports struct{ db *database }

// arrivalPrefix begins the ids of files that have no run yet.
const arrivalPrefix = "arrival:"

func arrivalID(source string) string { return arrivalPrefix + source }

func saveImport(ctx context.Context, tx handle, r engine.ImportRecord, key string) error {
	view, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO imports (id, source, sha256, key, state, created, finished, view) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, finished = excluded.finished, view = excluded.view`,
		r.ID, r.Source, r.SHA256, key, r.State, micros(r.Created), micros(r.Finished), view)
	return err
}

// Arriving stores that a file is being received, or was seen and why it is not taken; a run for it takes the row's place.
func (is *Imports) Arriving(ctx context.Context, source string, state engine.ImportState, size int64, reason string, now time.Time) error {
	r := engine.ImportRecord{ID: arrivalID(source), Source: source, State: state, Size: size, Reason: reason, Created: now.UTC()}
	if err := saveImport(ctx, is.db.write, r, ""); err != nil {
		return fmt.Errorf("store the arrival of %q: %w", source, err)
	}
	return nil
}

// Gone forgets a file that was being received, and ends an import that waited for it; with an empty name it forgets all that were
// being received, for the daemon's start.
func (is *Imports) Gone(ctx context.Context, source string) error {
	last := arrivalID(source)
	if source == "" {
		last += string(utf8.MaxRune)
	}
	if _, err := change(ctx, is.db.write, `DELETE FROM imports WHERE id >= ? AND id <= ?`, arrivalID(source), last); err != nil {
		return fmt.Errorf("forget the arrival of %q: %w", source, err)
	}
	return is.waiting(ctx, source, func(r *engine.ImportRecord) {
		r.State, r.Reason, r.Error, r.Hint, r.Code = engine.ImportCancelled, engine.GoneReason, "", "", ""
	})
}

// Postpone stores when the import of a file that waits is tried again. Without a waiting import it does nothing.
func (is *Imports) Postpone(ctx context.Context, source string, again time.Time) error {
	return is.waiting(ctx, source, func(r *engine.ImportRecord) { r.Again = again.UTC() })
}

// waiting changes the imports of a file that wait.
func (is *Imports) waiting(ctx context.Context, source string, edit func(*engine.ImportRecord)) error {
	err := inTx(ctx, is.db.write, func(tx *sql.Tx) error {
		list, err := query(ctx, tx, scanView[engine.ImportRecord], `SELECT view FROM imports WHERE source = ? AND state = ?`, source, engine.ImportWaiting)
		for _, r := range list {
			edit(&r)
			view, bad := json.Marshal(r)
			if bad != nil {
				return bad
			}
			if _, bad := tx.ExecContext(ctx, `UPDATE imports SET state = ?, view = ? WHERE id = ?`, r.State, view, r.ID); bad != nil {
				return bad
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("store how the import of %q waits: %w", source, err)
	}
	return nil
}

// ImportFilter selects imports for a list; zero fields do not filter.
type ImportFilter struct {
	State   engine.ImportState
	Waiting bool // only those that have not ended, files that are still arriving included
	Before  time.Time
	Limit   int // at most 1000; zero means 50
}

// List returns the newest imports first, files that are still arriving included.
func (is *Imports) List(ctx context.Context, f ImportFilter) ([]engine.ImportRecord, error) {
	var w where
	w.add(f.State != "", "state = ?", f.State)
	w.add(f.Waiting, "finished = 0")
	w.add(!f.Before.IsZero(), "created < ?", micros(f.Before))
	list, err := query(ctx, is.db.read, scanView[engine.ImportRecord], `SELECT view FROM imports`+w.String()+` ORDER BY created DESC, rowid DESC LIMIT ?`,
		append(w.args, capped(f.Limit))...)
	if err != nil {
		return nil, fmt.Errorf("list imports: %w", err)
	}
	return list, nil
}

// Get returns an import by its id.
func (is *Imports) Get(ctx context.Context, id string) (engine.ImportRecord, error) {
	r, err := scanView[engine.ImportRecord](one(ctx, is.db.read, `SELECT view FROM imports WHERE id = ?`, id))
	if err != nil {
		return r, fmt.Errorf("read import %s: %w", id, err)
	}
	return r, nil
}

// Imported finds the import that made a bundle of the same bytes with the same settings, and reports whether there is one.
// The key's settings part must be the one of engine.ImportKey.
func (is *Imports) Imported(ctx context.Context, sha256, settings string) (engine.ImportRecord, bool, error) {
	prefix := engine.ImportKey(sha256, settings, "")
	r, err := scanView[engine.ImportRecord](one(ctx, is.db.read, `SELECT view FROM imports WHERE sha256 = ?
		AND substr(key, 1, ?) = ? AND state IN (?, ?) ORDER BY finished DESC LIMIT 1`, sha256, len(prefix), prefix, engine.ImportDone, engine.ImportPartial))
	if errors.Is(err, engine.ErrNotFound) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("look for an import of %s: %w", sha256, err)
	}
	return r, true, nil
}

// Latest finds the newest import of a file with these bytes, and reports whether there is one.
func (is *Imports) Latest(ctx context.Context, source, sha256 string) (engine.ImportRecord, bool, error) {
	r, err := scanView[engine.ImportRecord](one(ctx, is.db.read, `SELECT view FROM imports WHERE sha256 = ? AND source = ?
		ORDER BY created DESC, rowid DESC LIMIT 1`, sha256, source))
	if errors.Is(err, engine.ErrNotFound) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("look for an import of %q: %w", source, err)
	}
	return r, true, nil
}

// Held returns the finished imports whose files are left where they arrived for a while, newest first.
func (is *Imports) Held(ctx context.Context) ([]engine.ImportRecord, error) {
	list, err := query(ctx, is.db.read, scanView[engine.ImportRecord], `SELECT view FROM imports
		WHERE finished > 0 AND json_extract(CAST(view AS TEXT), '$.held') ORDER BY finished DESC, rowid DESC LIMIT ?`, maxRows)
	if err != nil {
		return nil, fmt.Errorf("list imports whose files are held: %w", err)
	}
	return list, nil
}

// PutAway stores that the file of an import is no longer held, and where it is now; empty when it was removed.
func (is *Imports) PutAway(ctx context.Context, id, filed string) error {
	if _, err := change(ctx, is.db.write, `UPDATE imports SET view = CAST(json_set(json_remove(CAST(view AS TEXT), '$.held'), '$.filed', ?) AS BLOB)
		WHERE id = ? AND json_extract(CAST(view AS TEXT), '$.held')`, filed, id); err != nil {
		return fmt.Errorf("store where the file of import %s is: %w", id, err)
	}
	return nil
}

// Moved stores that an imported document is in another folder now, where its note has this name.
func (is *Imports) Moved(ctx context.Context, from, to, note string) error {
	const moved = `UPDATE imports SET view = CAST(json_set(CAST(view AS TEXT), '$.bundle', ?) AS BLOB) WHERE json_extract(CAST(view AS TEXT), '$.bundle') = ?`
	const named = `UPDATE imports SET view = CAST(json_set(CAST(view AS TEXT), '$.note', ?) AS BLOB)
		WHERE json_extract(CAST(view AS TEXT), '$.bundle') = ? AND json_extract(CAST(view AS TEXT), '$.note') LIKE '%_'`
	const filed = `UPDATE imports SET view = CAST(json_set(CAST(view AS TEXT), '$.filed', ? || substr(json_extract(CAST(view AS TEXT), '$.filed'), ?)) AS BLOB)
		WHERE json_extract(CAST(view AS TEXT), '$.bundle') = ? AND substr(json_extract(CAST(view AS TEXT), '$.filed'), 1, ?) = ?`
	err := inTx(ctx, is.db.write, func(tx *sql.Tx) error {
		for _, q := range []struct {
			text string
			args []any
		}{
			{moved, []any{to, from}},
			{named, []any{to + "/" + note, to}},
			{filed, []any{to + "/", utf8.RuneCountInString(from) + 2, to, utf8.RuneCountInString(from) + 1, from + "/"}},
		} {
			if _, err := tx.ExecContext(ctx, q.text, q.args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store where the document %q is: %w", from, err)
	}
	return nil
}

// Unannounced returns finished imports that on_import has not seen, oldest first.
func (is *Imports) Unannounced(ctx context.Context) ([]engine.ImportRecord, error) {
	list, err := query(ctx, is.db.read, scanView[engine.ImportRecord], `SELECT view FROM imports INDEXED BY imports_new WHERE announced = 0 AND state IN (?, ?)
		ORDER BY finished, rowid LIMIT ?`, engine.ImportDone, engine.ImportPartial, maxRows)
	if err != nil {
		return nil, fmt.Errorf("list new imports: %w", err)
	}
	return list, nil
}

// Announced records that on_import has seen an import.
func (is *Imports) Announced(ctx context.Context, id string) error {
	if _, err := change(ctx, is.db.write, `UPDATE imports SET announced = 1 WHERE id = ?`, id); err != nil {
		return fmt.Errorf("store that import %s was announced: %w", id, err)
	}
	return nil
}

// Recall stores an import that ended before this journal began, as its bundle has it. It starts no workflow. An import that is known stays.
func (is *Imports) Recall(ctx context.Context, r engine.ImportRecord) error {
	view, err := json.Marshal(r)
	if err == nil {
		_, err = change(ctx, is.db.write, `INSERT INTO imports (id, source, sha256, key, state, created, finished, announced, view) VALUES (?, ?, ?, '', ?, ?, ?, 1, ?)
			ON CONFLICT DO NOTHING`, r.ID, r.Source, r.SHA256, r.State, micros(r.Created), max(1, micros(r.Finished)), view)
	}
	if err != nil {
		return fmt.Errorf("store the import %s: %w", r.ID, err)
	}
	return nil
}

// RecallOnce calls recall unless that was done to its end before.
func (is *Imports) RecallOnce(ctx context.Context, recall func() error) error {
	at, err := is.db.upkept(ctx, "recalled")
	if err != nil || !at.IsZero() {
		return err
	}
	if err := recall(); err != nil {
		return err
	}
	return is.db.keptUp(ctx, "recalled", time.Now())
}
