package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
)

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
			s.Inputs, s.Outputs, s.Omitted, s.Counts, r.Outputs, r.Warnings = nil, nil, nil, nil, nil, nil
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

// attach gives a run's record its batches.
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
