package journal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
)

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

// RunFilter says which runs a list holds; zero fields do not filter.
type RunFilter struct {
	Kind     engine.Kind
	Undo     bool // also undos, whatever Kind is
	Workflow string
	Status   engine.Status
	Before   time.Time // created before
	Limit    int       // at most 1000; zero means 50
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

// List gives the newest runs first, without the batches of their steps; [Runs.Run] gives those too.
func (rs *Runs) List(ctx context.Context, f RunFilter) ([]engine.RunRecord, error) {
	runs, err := rs.list(ctx, f)
	if f.Undo && f.Kind != "" && err == nil {
		var undos []engine.RunRecord
		f.Kind = engine.KindUndo
		undos, err = rs.list(ctx, f) // apart: an index gives the order within a kind
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
		from += " INDEXED BY runs_by_workflow" // and not by the kind, which gives the order, and all other workflows first
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
		return engine.RunRecord{}, fmt.Errorf("run %s: both %s and %s begin so", id, runs[0].ID, runs[1].ID)
	}
	if err := rs.attach(ctx, &runs[0]); err != nil {
		return engine.RunRecord{}, fmt.Errorf("read the batches of run %s: %w", id, err)
	}
	changes, err := changesOf(ctx, rs.db, runs[0].ID)
	if err != nil {
		return engine.RunRecord{}, err
	}
	if len(changes) > len(runs[0].Changes) {
		runs[0].Changes = changes // with the outputs, and what a step did that was ended in the middle
	}
	return runs[0], nil
}

// Asked gives the run that was asked for under a key, the latest one. ErrNotFound when there is none.
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

// Failures gives the failed runs of a workflow that follow each other at its end, newest first, at most limit. Runs
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

// Unpause lets a workflow that failed too often fire again: no run that has ended up to now counts, even if the clock was
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
