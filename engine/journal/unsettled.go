package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// unsettledMost is how many runs of a workflow are looked at for the subjects of those before them.
const unsettledMost = 5000

// about is a run with its subjects.
type about struct {
	id        string
	status    engine.Status
	files     []string // none: the run is about no file
	dismissed bool
}

// Unsettled returns the runs of a workflow that failed, or since a time left something out, newest first. A run counts for those
// of its files about which no later run began, and without files until a later run without files began. Skipped and cancelled
// runs settle nothing, and a dismissed one is not returned.
func (rs *Runs) Unsettled(ctx context.Context, workflow string, omissions time.Time) ([]engine.RunBrief, error) {
	list, err := rs.unsettled(ctx, workflow, omissions)
	if err != nil {
		return nil, fmt.Errorf("read what failed of %s: %w", workflow, err)
	}
	return list, nil
}

func (rs *Runs) unsettled(ctx context.Context, workflow string, omissions time.Time) ([]engine.RunBrief, error) {
	var first int64 // the end of the oldest run that may count; an index answers
	if err := one(ctx, rs.db.read, `SELECT coalesce(min(finished), 0) FROM runs INDEXED BY runs_by_workflow WHERE workflow = ? AND kind = ? AND finished > 0
		AND status NOT IN (?, ?, ?) AND (status != ? OR finished >= ?)`,
		workflow, engine.KindWorkflow, engine.Done, engine.Skipped, engine.Cancelled, engine.DoneWithOmissions, micros(omissions)).Scan(&first); err != nil || first == 0 {
		return nil, err
	}
	const columns = `SELECT id, status, coalesce(json_extract(CAST(view AS TEXT), '$.trigger.files'), ''), json_extract(CAST(view AS TEXT), '$.dismissed') IS NOT NULL, finished
		FROM runs WHERE workflow = ? AND kind = ? AND `
	since := micros(omissions)
	scan := func(r row) (a about, err error) {
		var files string
		var finished int64
		if err := r.Scan(&a.id, &a.status, &files, &a.dismissed, &finished); err != nil {
			return a, err
		}
		if a.status == engine.DoneWithOmissions && finished < since {
			a.status = engine.Done
		}
		if files != "" {
			err = json.Unmarshal([]byte(files), &a.files)
		}
		return a, err
	}
	open, err := query(ctx, rs.db.read, scan, columns+`finished = 0`, workflow, engine.KindWorkflow)
	if err != nil {
		return nil, err
	}
	ended, err := query(ctx, rs.db.read, scan, columns+`finished > 0 AND finished >= ? ORDER BY finished DESC, rowid DESC LIMIT ?`, workflow, engine.KindWorkflow, first, unsettledMost)
	if err != nil {
		return nil, err
	}
	return rs.latest(ctx, append(open, ended...))
}

// latest returns the bad ones among runs, newest first, with those of their files that no newer one is about.
func (rs *Runs) latest(ctx context.Context, runs []about) ([]engine.RunBrief, error) {
	settled := map[string]bool{} // by file; "" for runs without one
	var list []engine.RunBrief
	for _, r := range runs {
		if r.status == engine.Skipped || r.status == engine.Cancelled {
			continue
		}
		subjects := r.files
		if len(subjects) == 0 {
			subjects = []string{""}
		}
		var left []string
		for _, s := range subjects {
			if !settled[s] {
				left = append(left, s)
			}
			settled[s] = true
		}
		if len(left) == 0 || r.dismissed || !r.status.Failed() && r.status != engine.DoneWithOmissions {
			continue
		}
		views, err := query(ctx, rs.db.read, scanView[engine.RunRecord], `SELECT view FROM runs WHERE id = ?`, r.id)
		if err != nil {
			return nil, err
		}
		if len(views) == 0 {
			continue // a sweep has just removed it
		}
		brief := views[0].Brief()
		if len(r.files) > 0 {
			brief.Files = left
		}
		list = append(list, brief)
	}
	return list, nil
}

// Dismiss notes that nobody needs to see any more that a run failed, or left something out.
func (rs *Runs) Dismiss(ctx context.Context, id string, now time.Time) error {
	run, err := rs.Run(ctx, id)
	if err != nil {
		return err
	}
	if !run.Status.Failed() && run.Status != engine.DoneWithOmissions {
		return failure.New(failure.Input, "`vaultflow status` lists the failures", "run %s did not fail: it is %s", run.ID, strings.ReplaceAll(string(run.Status), "_", " "))
	}
	if _, err := change(ctx, rs.db.write, `UPDATE runs SET view = CAST(json_set(CAST(view AS TEXT), '$.dismissed', ?) AS BLOB) WHERE id = ? AND finished > 0`,
		now.UTC().Format(time.RFC3339), run.ID); err != nil {
		return fmt.Errorf("dismiss run %s: %w", run.ID, err)
	}
	return nil
}
