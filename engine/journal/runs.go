package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Runs keeps runs, the outcomes of their activities, and the batches of their steps.
type Runs struct {
	db      *database
	answers *Answers
}

// Create stores a run unless one with the same key is there; see engine.Journal.
func (rs *Runs) Create(ctx context.Context, e engine.Entry, again bool) (held engine.Entry, created bool, err error) {
	held = e
	err = inTx(ctx, rs.db.write, func(tx *sql.Tx) error {
		generation := 0
		before, err := entryByKey(ctx, tx, e.Run.Key)
		switch {
		case errors.Is(err, engine.ErrNotFound):
		case err != nil:
			return err
		case !again || !repeatable(before.Entry):
			held = before.Entry
			return nil
		default:
			generation = before.generation + 1
		}
		created = true
		return insertRun(ctx, tx, e, generation)
	})
	if err != nil {
		return engine.Entry{}, false, fmt.Errorf("store run %s: %w", e.Run.ID, err)
	}
	return held, created, nil
}

// repeatable says whether a run may be followed by another one with the same key.
func repeatable(e engine.Entry) bool {
	if !e.Run.Status.Finished() {
		return false
	}
	if e.Import == nil || e.Run.Status == engine.Skipped {
		return true
	}
	return e.Import.State != engine.ImportNeedsPassword && e.Import.State != engine.ImportCancelled
}

func insertRun(ctx context.Context, tx *sql.Tx, e engine.Entry, generation int) error {
	view, err := viewOf(e.Run)
	if err != nil {
		return err
	}
	r := e.Run
	if _, err := tx.ExecContext(ctx, `INSERT INTO runs (id, kind, workflow, status, trigger, key, generation, lane, created, finished, view, spec)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, r.Kind, r.Workflow, r.Status, r.Trigger.Kind, r.Key, generation, e.Lane,
		micros(r.Created), micros(r.Finished), view, []byte(e.Spec)); err != nil {
		return err
	}
	if e.Import == nil {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM imports WHERE id = ?`, arrivalID(e.Import.Source)); err != nil {
		return err
	}
	return saveImport(ctx, tx, *e.Import, r.Key)
}

// Append stores an activity's outcome together with the views; see engine.Journal.
func (rs *Runs) Append(ctx context.Context, r engine.Record, e engine.Entry) error {
	cause, err := failureJSON(r.Failure)
	if err != nil {
		return err
	}
	err = inTx(ctx, rs.db.write, func(tx *sql.Tx) error {
		var next int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM records WHERE run = ? AND branch = ?`, e.Run.ID, r.Branch).Scan(&next); err != nil {
			return err
		}
		if r.Seq != next {
			return fmt.Errorf("record %d of branch %d comes where record %d is expected: two processes work on one run", r.Seq, r.Branch, next)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO records (run, branch, seq, step, activity, in_digest, input, output, failure, attempts, started, finished)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, e.Run.ID, r.Branch, r.Seq, r.Step, r.Activity, r.InDigest, []byte(r.In), []byte(r.Out), cause,
			r.Attempts, micros(r.Started), micros(r.Finished)); err != nil {
			return err
		}
		if err := settleAnswer(ctx, tx, r); err != nil {
			return err
		}
		return save(ctx, tx, e)
	})
	if err != nil {
		return fmt.Errorf("record %s of run %s: %w", r.Activity, e.Run.ID, err)
	}
	return nil
}

func failureJSON(f *failure.Error) ([]byte, error) {
	if f == nil {
		return nil, nil
	}
	return json.Marshal(f)
}

// Save stores the views of a run; see engine.Journal.
func (rs *Runs) Save(ctx context.Context, e engine.Entry) error {
	if err := inTx(ctx, rs.db.write, func(tx *sql.Tx) error { return save(ctx, tx, e) }); err != nil {
		return fmt.Errorf("store run %s: %w", e.Run.ID, err)
	}
	if e.Run.Status.Finished() && !e.Run.Status.Incomplete() {
		return rs.answers.forgetReceived(e.Run.ID)
	}
	return nil
}

func save(ctx context.Context, tx *sql.Tx, e engine.Entry) error {
	view, err := viewOf(e.Run)
	if err != nil {
		return err
	}
	res, err := tx.ExecContext(ctx, `UPDATE runs SET status = ?, finished = ?, cancelled = ?, view = ?, spec = ? WHERE id = ? AND finished = 0`,
		e.Run.Status, micros(e.Run.Finished), e.Cancelled, view, []byte(e.Spec), e.Run.ID)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errors.New("the run has finished, or is not there"))
	}
	if err := saveBatches(ctx, tx, e); err != nil {
		return err
	}
	if !e.Run.Finished.IsZero() {
		if err := presumeOf(ctx, tx, e.Run.ID); err != nil {
			return err
		}
	}
	if e.Import == nil {
		return nil
	}
	return saveImport(ctx, tx, *e.Import, e.Run.Key)
}

// Reopen makes a finished run unfinished and forgets records; see engine.Journal. Usage that was paid for stays.
func (rs *Runs) Reopen(ctx context.Context, e engine.Entry, cuts []engine.Cut) error {
	if err := rs.answers.forgetCut(ctx, e.Run.ID, cuts); err != nil {
		return fmt.Errorf("reopen run %s: %w", e.Run.ID, err)
	}
	err := inTx(ctx, rs.db.write, func(tx *sql.Tx) error {
		for _, c := range cuts {
			change := `DELETE FROM records`
			if c.Keep {
				change = `UPDATE records SET in_digest = ''`
			}
			if _, err := tx.ExecContext(ctx, change+` WHERE run = ? AND branch = ? AND seq >= ?`, e.Run.ID, c.Branch, c.Seq); err != nil {
				return err
			}
		}
		for _, forget := range []string{
			`UPDATE events SET number = 0 WHERE run = ?`, `DELETE FROM batches WHERE run = ?`,
			`UPDATE approvals SET decision = 'withdrawn' WHERE run = ? AND decision = 'rejected'`, `UPDATE changes SET closed = 1 WHERE run = ?`,
		} {
			if _, err := tx.ExecContext(ctx, forget, e.Run.ID); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `UPDATE runs SET finished = 0 WHERE id = ?`, e.Run.ID); err != nil {
			return err
		}
		return save(ctx, tx, e)
	})
	if err != nil {
		return fmt.Errorf("reopen run %s: %w", e.Run.ID, err)
	}
	return nil
}

// Load gives a run and its records in order.
func (rs *Runs) Load(ctx context.Context, run string) (engine.Entry, []engine.Record, error) {
	held, err := scanEntry(one(ctx, rs.db.read, entryColumns+` WHERE r.id = ?`, run))
	if err != nil {
		return engine.Entry{}, nil, fmt.Errorf("read run %s: %w", run, judged(err))
	}
	if err := rs.attach(ctx, &held.Run); err != nil {
		return engine.Entry{}, nil, fmt.Errorf("read the batches of run %s: %w", run, err)
	}
	records, err := rs.Records(ctx, run)
	return held.Entry, records, err
}

// Records gives the outcomes of a run's activities in the order in which they were appended.
func (rs *Runs) Records(ctx context.Context, run string) ([]engine.Record, error) {
	records, err := query(ctx, rs.db.read, scanRecord, `SELECT branch, seq, step, activity, in_digest, input, output, failure, attempts, started, finished
		FROM records WHERE run = ? ORDER BY rowid`, run)
	if err != nil {
		return nil, fmt.Errorf("read the records of run %s: %w", run, err)
	}
	return records, nil
}

// Unfinished gives the runs that have not ended in the order in which they were created, whatever the clock said then.
func (rs *Runs) Unfinished(ctx context.Context) ([]engine.Entry, error) {
	held, err := query(ctx, rs.db.read, scanEntry, entryColumns+` WHERE r.finished = 0 ORDER BY +r.rowid`)
	if err != nil {
		return nil, fmt.Errorf("read unfinished runs: %w", err)
	}
	entries := make([]engine.Entry, len(held))
	for i, h := range held {
		entries[i] = h.Entry
		if err := rs.attach(ctx, &entries[i].Run); err != nil {
			return nil, fmt.Errorf("read the batches of run %s: %w", h.Run.ID, err)
		}
	}
	return entries, nil
}
