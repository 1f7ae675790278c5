package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Changes keeps what runs do to files of the vault.
type Changes struct{ db *database }

// Intended returns the change that a call (of a tool, or the output of a step) was about to make in this attempt of the run,
// with the text for the model. made reports whether it is known to be made. The error is ErrNotFound when there is none.
func (cs *Changes) Intended(ctx context.Context, ref engine.StepRef, call string) (c engine.Change, said string, made bool, err error) {
	var view []byte
	err = found(one(ctx, cs.db.read, `SELECT view, said, made FROM changes WHERE run = ? AND step = ? AND batch = ? AND call = ? AND closed = 0`,
		ref.Run, ref.Index, ref.Batch, call).Scan(&view, &said, &made))
	if errors.Is(err, engine.ErrNotFound) {
		return c, "", false, err
	}
	if err == nil {
		err = json.Unmarshal(view, &c)
	}
	if err != nil {
		return c, "", false, fmt.Errorf("look up a change of step %q of %s: %w", ref.Step, ref.Workflow, err)
	}
	return c, said, made, nil
}

// Latest is Intended over all attempts of the run: the last one counts.
func (cs *Changes) Latest(ctx context.Context, ref engine.StepRef, call string) (c engine.Change, made bool, err error) {
	var view []byte
	err = found(one(ctx, cs.db.read, `SELECT view, made FROM changes WHERE run = ? AND step = ? AND batch = ? AND call = ? ORDER BY rowid DESC LIMIT 1`,
		ref.Run, ref.Index, ref.Batch, call).Scan(&view, &made))
	if errors.Is(err, engine.ErrNotFound) {
		return c, false, err
	}
	if err == nil {
		err = json.Unmarshal(view, &c)
	}
	if err != nil {
		return c, false, fmt.Errorf("look up a change of step %q of %s: %w", ref.Step, ref.Workflow, err)
	}
	return c, made, nil
}

// Intend stores that a call is about to make a change, in place of what the call had tried before. It comes before the change.
func (cs *Changes) Intend(ctx context.Context, ref engine.StepRef, call string, c engine.Change, said string, now time.Time) error {
	view, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("store a change: %w", err)
	}
	if _, err := change(ctx, cs.db.write, `INSERT INTO changes (run, step, batch, call, time, said, view) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run, step, batch, call) WHERE closed = 0 DO UPDATE SET time = excluded.time, said = excluded.said, view = excluded.view`,
		ref.Run, ref.Index, ref.Batch, call, micros(now), said, view); err != nil {
		return fmt.Errorf("store a change of step %q of %s: %w", ref.Step, ref.Workflow, judged(err))
	}
	return nil
}

// Made stores that a change was made, or with made=false that it was not: then it is forgotten.
func (cs *Changes) Made(ctx context.Context, ref engine.StepRef, call string, made bool) error {
	q := `UPDATE changes SET made = 1 WHERE run = ? AND step = ? AND batch = ? AND call = ? AND closed = 0`
	if !made {
		q = `DELETE FROM changes WHERE run = ? AND step = ? AND batch = ? AND call = ? AND closed = 0`
	}
	if _, err := change(ctx, cs.db.write, q, ref.Run, ref.Index, ref.Batch, call); err != nil {
		return fmt.Errorf("store a change of step %q of %s: %w", ref.Step, ref.Workflow, judged(err))
	}
	return nil
}

// MovedTo returns the name that a file got by the last move of it, or of the document whose file it was; "" if there was none.
func (cs *Changes) MovedTo(ctx context.Context, name string) (string, error) {
	var view []byte
	err := found(one(ctx, cs.db.read, `SELECT view FROM changes WHERE made = 1 AND json_extract(view, '$.kind') = ?
		AND (json_extract(view, '$.name') = ? OR instr(?, json_extract(view, '$.name') || '/') = 1) ORDER BY rowid DESC LIMIT 1`, engine.ChangeMove, name, name).Scan(&view))
	if errors.Is(err, engine.ErrNotFound) {
		return "", nil
	}
	var c engine.Change
	if err == nil {
		err = json.Unmarshal(view, &c)
	}
	if err != nil {
		return "", fmt.Errorf("look up where %q was moved: %w", name, err)
	}
	return c.NameAfter(name), nil
}

// Of returns what a run did to files of the vault, in order, those of attempts that failed included. One whose outcome
// is not known, because the process ended in the middle, is among them with Doubt.
func (cs *Changes) Of(ctx context.Context, run string) ([]engine.Change, error) {
	return changesOf(ctx, cs.db, run)
}

func changesOf(ctx context.Context, db *database, run string) ([]engine.Change, error) {
	list, err := query(ctx, db.read, scanChange, `SELECT view, made FROM changes WHERE run = ? ORDER BY rowid`, run)
	if err != nil {
		return nil, fmt.Errorf("read the changes of run %s: %w", run, err)
	}
	return list, nil
}

func scanChange(r row) (engine.Change, error) {
	var view []byte
	var made bool
	if err := r.Scan(&view, &made); err != nil {
		return engine.Change{}, err
	}
	var c engine.Change
	if err := json.Unmarshal(view, &c); err != nil {
		return c, fmt.Errorf("read a stored change: %w", err)
	}
	c.Doubt = c.Doubt || !made
	return c, nil
}
