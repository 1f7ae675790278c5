package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/cost"
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

// repeatable reports whether a run may be followed by another one with the same key.
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
		if _, err := tx.ExecContext(ctx, `UPDATE approvals SET decision = ?, decided = ?, reason = ? WHERE run = ? AND decision = ''`,
			engine.ProposalWithdrawn, micros(e.Run.Finished), e.Run.Reason, e.Run.ID); err != nil {
			return err
		}
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

// Load returns a run and its records in order.
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

// Records returns the outcomes of a run's activities in the order in which they were appended.
func (rs *Runs) Records(ctx context.Context, run string) ([]engine.Record, error) {
	records, err := query(ctx, rs.db.read, scanRecord, `SELECT branch, seq, step, activity, in_digest, input, output, failure, attempts, started, finished
		FROM records WHERE run = ? ORDER BY rowid`, run)
	if err != nil {
		return nil, fmt.Errorf("read the records of run %s: %w", run, err)
	}
	return records, nil
}

// Unfinished returns the runs that have not ended in the order in which they were created, whatever the clock said then.
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

// RunFilter selects runs for a list; zero fields do not filter.
type RunFilter struct {
	Kind     engine.Kind
	Undo     bool // also undos, whatever Kind is
	Workflow string
	Status   engine.Status
	Before   time.Time // created before
	Limit    int       // at most 1000; zero means 50
}

// List returns the newest runs first, without the batches of their steps; [Runs.Run] returns those too.
func (rs *Runs) List(ctx context.Context, f RunFilter) ([]engine.RunRecord, error) {
	runs, err := rs.list(ctx, f)
	if f.Undo && f.Kind != "" && err == nil {
		var undos []engine.RunRecord
		f.Kind = engine.KindUndo
		undos, err = rs.list(ctx, f) // apart: an index orders the runs of a kind
		runs = append(runs, undos...)
		slices.SortStableFunc(runs, func(a, b engine.RunRecord) int { return b.Created.Compare(a.Created) })
		runs = runs[:min(len(runs), capped(f.Limit))]
	}
	return runs, err
}

func (rs *Runs) list(ctx context.Context, f RunFilter) ([]engine.RunRecord, error) {
	var w where
	w.add(f.Kind != "", "kind = ?", f.Kind)
	w.add(f.Workflow != "", "workflow = ?", f.Workflow)
	w.add(f.Status != "", "status = ?", f.Status)
	w.add(!f.Before.IsZero(), "created < ?", micros(f.Before))
	from := "runs"
	if f.Workflow != "" {
		from += " INDEXED BY runs_by_workflow" // not by kind: that has the order, but reads all other workflows first
	}
	runs, err := query(ctx, rs.db.read, scanView[engine.RunRecord], `SELECT view FROM `+from+w.String()+` ORDER BY created DESC, rowid DESC LIMIT ?`,
		append(w.args, capped(f.Limit))...)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return runs, nil
}

// Run returns the run with an id, or with the one id that begins so. ErrNotFound when there is none; an ambiguous
// beginning is an error that names two.
func (rs *Runs) Run(ctx context.Context, id string) (engine.RunRecord, error) {
	after := id + string(utf8.MaxRune)
	if id == "" {
		after = "" // which nothing comes before
	}
	runs, err := query(ctx, rs.db.read, scanView[engine.RunRecord], `SELECT view FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT 2`, id, after)
	switch {
	case err != nil:
		return engine.RunRecord{}, fmt.Errorf("read run %s: %w", id, err)
	case len(runs) == 0:
		return engine.RunRecord{}, fmt.Errorf("run %s: %w", id, engine.ErrNotFound)
	case len(runs) > 1 && runs[0].ID != id:
		return engine.RunRecord{}, fmt.Errorf("run %s is ambiguous: it could be %s or %s", id, runs[0].ID, runs[1].ID)
	}
	if err := rs.attach(ctx, &runs[0]); err != nil {
		return engine.RunRecord{}, fmt.Errorf("read the batches of run %s: %w", id, err)
	}
	decided, err := proposals(ctx, rs.db.read, `WHERE run = ? AND decision != '' ORDER BY item`, runs[0].ID)
	if err != nil {
		return engine.RunRecord{}, fmt.Errorf("read the approvals of run %s: %w", id, err)
	}
	runs[0].Decisions = decided
	changes, err := changesOf(ctx, rs.db, runs[0].ID)
	if err != nil {
		return engine.RunRecord{}, err
	}
	if len(changes) > len(runs[0].Changes) {
		runs[0].Changes = changes // with the outputs, and what a step did that was ended in the middle
	}
	return runs[0], nil
}

// Asked returns the run that was asked for under a key, the latest one. ErrNotFound when there is none.
func (rs *Runs) Asked(ctx context.Context, key string) (engine.RunRecord, error) {
	ids, err := query(ctx, rs.db.read, func(r row) (id string, err error) { return id, r.Scan(&id) },
		`SELECT id FROM runs WHERE key = ? ORDER BY generation DESC LIMIT 1`, key)
	if err == nil && len(ids) == 0 {
		err = engine.ErrNotFound
	}
	if err != nil {
		return engine.RunRecord{}, fmt.Errorf("run asked for as %s: %w", key, err)
	}
	return rs.Run(ctx, ids[0])
}

// Count counts the unattended runs of a workflow that were created since a time and not skipped.
func (rs *Runs) Count(ctx context.Context, workflow string, since time.Time) (int, error) {
	var n int
	err := one(ctx, rs.db.read, `SELECT count(*) FROM runs WHERE workflow = ? AND kind = ? AND trigger != ? AND created >= ? AND status != ?`,
		workflow, engine.KindWorkflow, engine.TriggerManual, micros(since), engine.Skipped).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the runs of %s: %w", workflow, err)
	}
	return n, nil
}

// Since reports whether a run of a workflow was running at a time or later.
func (rs *Runs) Since(ctx context.Context, since time.Time) (bool, error) {
	var any bool
	err := one(ctx, rs.db.read, `SELECT EXISTS (SELECT 1 FROM runs WHERE finished = 0 AND kind = ?) OR EXISTS (SELECT 1 FROM runs WHERE kind = ? AND finished >= ?)`,
		engine.KindWorkflow, engine.KindWorkflow, micros(since)).Scan(&any)
	if err != nil {
		return false, fmt.Errorf("look for runs: %w", err)
	}
	return any, nil
}

// Failures returns the failed runs of a workflow that follow each other at its end, newest first, at most limit. Runs
// before the last Unpause do not count; cancelled and skipped runs neither count nor end the row, and nor do those among the
// latest that the budget of a day or a month has refused.
func (rs *Runs) Failures(ctx context.Context, workflow string, limit int) ([]engine.RunRecord, error) {
	runs, err := query(ctx, rs.db.read, scanView[engine.RunRecord], `SELECT view FROM runs WHERE workflow = ? AND kind = ? AND finished > 0
		AND status NOT IN (?, ?) AND finished > coalesce((SELECT since FROM unpaused WHERE workflow = runs.workflow), 0)
		ORDER BY finished DESC, rowid DESC LIMIT ?`, workflow, engine.KindWorkflow, engine.Cancelled, engine.Skipped, capped(limit))
	if err != nil {
		return nil, fmt.Errorf("read the failures of %s: %w", workflow, err)
	}
	row := runs[:0]
	for _, r := range runs {
		switch {
		case !r.Status.Failed():
			return row, nil
		case !cost.OutOfFunds(r.Failure):
			row = append(row, r)
		}
	}
	return row, nil
}

// Unpause lets a workflow that failed too often fire again: no run that has ended by now counts, even if the clock was
// set back since.
func (rs *Runs) Unpause(ctx context.Context, workflow string, now time.Time) error {
	_, err := change(ctx, rs.db.write, `INSERT INTO unpaused (workflow, since)
		SELECT ?, max(?, coalesce((SELECT max(finished) FROM runs WHERE workflow = ?), 0)) WHERE true
		ON CONFLICT (workflow) DO UPDATE SET since = excluded.since`, workflow, micros(now), workflow)
	if err != nil {
		return fmt.Errorf("resume %s: %w", workflow, err)
	}
	return nil
}

// Counts counts the runs of workflows that were created since a time, by status.
func (rs *Runs) Counts(ctx context.Context, since time.Time) (map[engine.Status]int, error) {
	type counted struct {
		status engine.Status
		n      int
	}
	statuses, err := json.Marshal(engine.Statuses())
	if err != nil {
		return nil, err
	}
	list, err := query(ctx, rs.db.read, func(r row) (c counted, err error) { return c, r.Scan(&c.status, &c.n) },
		`SELECT s.value, (SELECT count(*) FROM runs WHERE kind = ? AND status = s.value AND created >= ?) FROM json_each(?) AS s`,
		engine.KindWorkflow, micros(since), statuses)
	if err != nil {
		return nil, fmt.Errorf("count runs: %w", err)
	}
	counts := map[engine.Status]int{}
	for _, c := range list {
		counts[c.status] = c.n
	}
	return counts, nil
}

// viewOf is the JSON of a run's record. The batches of its steps have rows of their own: a step may have hundreds, and
// the record is stored with every activity. What is derived from them is stored once, when the run has ended.
func viewOf(r engine.RunRecord) ([]byte, error) {
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		s := &r.Steps[i]
		if len(s.Batches) == 0 {
			continue
		}
		if s.Batches = nil; r.Finished.IsZero() {
			s.Inputs, s.Outputs, s.Omitted, s.LeftOut, s.Counts, r.Outputs, r.Warnings = nil, nil, nil, nil, nil, nil, nil
		}
	}
	return json.Marshal(r)
}

// saveBatches stores the batches that have changed.
func saveBatches(ctx context.Context, tx *sql.Tx, e engine.Entry) error {
	for _, ref := range e.Changed {
		b, found := batchOf(e.Run, ref)
		if !found {
			continue
		}
		view, err := json.Marshal(b)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO batches (run, step, batch, view) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET view = excluded.view`, e.Run.ID, ref.Step, ref.Batch, view); err != nil {
			return err
		}
	}
	return nil
}

func batchOf(r engine.RunRecord, ref engine.BatchRef) (engine.BatchRecord, bool) {
	for _, s := range r.Steps {
		if s.Index != ref.Step {
			continue
		}
		if i, found := slices.BinarySearchFunc(s.Batches, ref.Batch, func(b engine.BatchRecord, n int) int { return b.Batch - n }); found {
			return s.Batches[i], true
		}
	}
	return engine.BatchRecord{}, false
}

// stepBatch is a batch with the index of its step.
type stepBatch struct {
	step  int
	batch engine.BatchRecord
}

// attach returns a run's record its batches.
func (rs *Runs) attach(ctx context.Context, r *engine.RunRecord) error {
	rows, err := query(ctx, rs.db.read, func(r row) (stepBatch, error) {
		var b stepBatch
		var raw []byte
		if err := r.Scan(&b.step, &raw); err != nil {
			return b, err
		}
		return b, json.Unmarshal(raw, &b.batch)
	}, `SELECT step, view FROM batches WHERE run = ? ORDER BY step, batch`, r.ID)
	if err != nil || len(rows) == 0 {
		return err
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		s.Batches = nil
		for _, b := range rows {
			if b.step == s.Index {
				s.Batches = append(s.Batches, b.batch)
			}
		}
	}
	r.Sum()
	return nil
}
