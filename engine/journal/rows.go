package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// row is what *sql.Row and *sql.Rows have in common.
type row interface{ Scan(dest ...any) error }

// handle is what *sql.DB and *sql.Tx have in common.
type handle interface {
	ExecContext(ctx context.Context, q string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, q string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row
}

// query gathers all rows of a query.
func query[T any](ctx context.Context, db handle, scan func(row) (T, error), q string, args ...any) (list []T, err error) {
	defer func() { err = judged(err) }()
	rows, err := db.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// judgedRow is a row whose errors are classified; see judged.
type judgedRow struct{ *sql.Row }

// Scan implements row.
func (r judgedRow) Scan(dest ...any) error { return judged(r.Row.Scan(dest...)) }

// one asks for a row.
func one(ctx context.Context, db *sql.DB, q string, args ...any) row {
	return judgedRow{db.QueryRowContext(ctx, q, args...)}
}

// often is one for what is asked for each of hundreds of files: the statement is parsed once.
func (db *database) often(ctx context.Context, q string, args ...any) row {
	kept, ok := db.asked.Load(q)
	if !ok {
		parsed, err := db.read.PrepareContext(ctx, q)
		if err != nil {
			return one(ctx, db.read, q, args...) // with the same error
		}
		if kept, ok = db.asked.LoadOrStore(q, parsed); ok {
			_ = parsed.Close() // another goroutine was first
		}
	}
	return judgedRow{kept.(*sql.Stmt).QueryRowContext(ctx, args...)}
}

// change does one statement outside a transaction.
func change(ctx context.Context, db *sql.DB, q string, args ...any) (sql.Result, error) {
	result, err := db.ExecContext(ctx, q, args...)
	return result, judged(err)
}

// found turns the driver's "no rows" into ErrNotFound.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return engine.ErrNotFound
	}
	return err
}

// held is an entry with its place among those of the same key.
type held struct {
	engine.Entry
	generation int
}

const entryColumns = `SELECT r.view, r.spec, r.lane, r.cancelled, r.generation, i.view FROM runs r LEFT JOIN imports i ON i.id = r.id`

func entryByKey(ctx context.Context, tx *sql.Tx, key string) (held, error) {
	return scanEntry(tx.QueryRowContext(ctx, entryColumns+` WHERE r.key = ? ORDER BY r.generation DESC LIMIT 1`, key))
}

func scanEntry(r row) (held, error) {
	var h held
	var view, spec, imported []byte
	if err := r.Scan(&view, &spec, &h.Lane, &h.Cancelled, &h.generation, &imported); err != nil {
		return held{}, found(err)
	}
	h.Spec = spec
	if err := json.Unmarshal(view, &h.Run); err != nil {
		return held{}, fmt.Errorf("read a stored run: %w", err)
	}
	if imported != nil {
		h.Import = new(engine.ImportRecord)
		if err := json.Unmarshal(imported, h.Import); err != nil {
			return held{}, fmt.Errorf("read a stored import: %w", err)
		}
	}
	return h, nil
}

func scanRecord(r row) (engine.Record, error) {
	var rec engine.Record
	var in, out, cause []byte
	var started, finished int64
	if err := r.Scan(&rec.Branch, &rec.Seq, &rec.Step, &rec.Activity, &rec.InDigest, &in, &out, &cause, &rec.Attempts, &started, &finished); err != nil {
		return rec, err
	}
	rec.In, rec.Out, rec.Started, rec.Finished = in, out, moment(started), moment(finished)
	if cause != nil {
		rec.Failure = new(failure.Error)
		if err := json.Unmarshal(cause, rec.Failure); err != nil {
			return rec, fmt.Errorf("read a stored failure: %w", err)
		}
	}
	return rec, nil
}

// scanView reads a row whose first column is a view's JSON.
func scanView[T any](r row) (T, error) {
	var view T
	var raw []byte
	if err := r.Scan(&raw); err != nil {
		return view, found(err)
	}
	if err := json.Unmarshal(raw, &view); err != nil {
		return view, fmt.Errorf("read a stored row: %w", err)
	}
	return view, nil
}

// maxRows bounds every list; a limit of zero means defaultRows.
const (
	maxRows     = 1000
	defaultRows = 50
)

func capped(limit int) int {
	if limit <= 0 {
		return defaultRows
	}
	return min(limit, maxRows)
}

// where gathers conditions, so that a query holds only those that filter and an index can serve them.
type where struct {
	terms []string
	args  []any
}

func (w *where) add(holds bool, term string, args ...any) {
	if holds {
		w.terms, w.args = append(w.terms, term), append(w.args, args...)
	}
}

// String is the clause with a blank before it, empty without conditions.
func (w *where) String() string {
	if len(w.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.terms, " AND ")
}

// micros is a time as the database keeps it; zero for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// moment is the time of micros, in UTC.
func moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
