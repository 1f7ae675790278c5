package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Approvals keeps proposals of runs and the decisions about them.
type Approvals struct{ db *database }

// Propose stores the proposals of a step, or of a batch of it, and returns them with their decisions. A proposal with a known
// key is not stored again; open proposals of the step that are not in the list are withdrawn; those past their deadline are
// rejected.
func (as *Approvals) Propose(ctx context.Context, ref engine.StepRef, list []engine.Proposal, now time.Time) (held []engine.Proposal, err error) {
	err = inTx(ctx, as.db.write, func(tx *sql.Tx) error {
		if err := withdraw(ctx, tx, ref, list, now); err != nil {
			return err
		}
		for _, p := range list {
			if err := propose(ctx, tx, ref, p); err != nil {
				return err
			}
		}
		if _, err := expire(ctx, tx, ref.Run, now); err != nil {
			return err
		}
		held, err = proposals(ctx, tx, `WHERE run = ? AND step = ? AND batch = ? ORDER BY item`, ref.Run, ref.Index, ref.Batch)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store what step %q of %s asks for: %w", ref.Step, ref.Workflow, err)
	}
	return slices.DeleteFunc(held, func(p engine.Proposal) bool {
		return !slices.ContainsFunc(list, func(q engine.Proposal) bool { return q.Key == p.Key })
	}), nil
}

// propose stores one proposal; one that was withdrawn is open again.
func propose(ctx context.Context, tx *sql.Tx, ref engine.StepRef, p engine.Proposal) error {
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(item), 0) + 1 FROM approvals WHERE run = ?`, ref.Run).Scan(&p.Item); err != nil {
		return err
	}
	view, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO approvals (run, item, step, batch, key, created, deadline, view) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run, step, batch, key) DO UPDATE SET decision = '', decided_by = '', decided = 0, who = '', reason = '', edited = '' WHERE decision = ?`,
		ref.Run, p.Item, ref.Index, ref.Batch, p.Key, micros(p.Created), micros(p.Deadline), view, engine.ProposalWithdrawn)
	return err
}

// withdraw closes the open proposals of a work that are not among those that it makes now.
func withdraw(ctx context.Context, tx *sql.Tx, ref engine.StepRef, list []engine.Proposal, now time.Time) error {
	open, err := proposals(ctx, tx, `WHERE run = ? AND step = ? AND batch = ? AND decision = ''`, ref.Run, ref.Index, ref.Batch)
	if err != nil {
		return err
	}
	for _, p := range open {
		if slices.ContainsFunc(list, func(q engine.Proposal) bool { return q.Key == p.Key }) {
			continue
		}
		if _, err := tx.ExecContext(ctx, `UPDATE approvals SET decision = ?, decided = ? WHERE run = ? AND item = ?`,
			engine.ProposalWithdrawn, micros(now), p.Run, p.Item); err != nil {
			return err
		}
	}
	return nil
}

// expire rejects what was not approved in time, of a run or of all, and returns the runs of what it rejected.
func expire(ctx context.Context, tx *sql.Tx, run string, now time.Time) ([]string, error) {
	return query(ctx, tx, func(r row) (id string, err error) { return id, r.Scan(&id) },
		`UPDATE approvals SET decision = ?, decided_by = ?, decided = ? WHERE decision = '' AND deadline > 0 AND deadline <= ? AND (? = '' OR run = ?)
		RETURNING run`, engine.ProposalRejected, engine.DecidedTimeout, micros(now), micros(now), run, run)
}

// Decide stores a decision about open proposals of a run, by their numbers; without numbers, about all. A number that is not
// open is an *failure.Error, and then nothing is stored. It returns the proposals.
func (as *Approvals) Decide(ctx context.Context, d engine.Decision, now time.Time) (list []engine.Proposal, err error) {
	run, decision := d.Run, engine.ProposalRejected
	if d.Approve {
		decision = engine.ProposalApproved
	}
	err = inTx(ctx, as.db.write, func(tx *sql.Tx) error {
		if _, err := expire(ctx, tx, run, now); err != nil {
			return err
		}
		all, err := proposals(ctx, tx, `WHERE run = ? AND run IN (SELECT id FROM runs WHERE finished = 0) ORDER BY item`, run)
		if err != nil {
			return err
		}
		if list, err = chosen(all, run, d.Items); err != nil {
			return err
		}
		for i := range list {
			p := &list[i]
			if d.Edited != "" {
				if err := p.Fits(); err != nil {
					return err
				}
			}
			p.Decision, p.By, p.Decided, p.Who, p.Reason, p.Edited = decision, d.By, now, d.Who, d.Reason, d.Edited
			if _, err := tx.ExecContext(ctx, `UPDATE approvals SET decision = ?, decided_by = ?, decided = ?, who = ?, reason = ?, edited = ? WHERE run = ? AND item = ?`,
				p.Decision, p.By, micros(now), p.Who, p.Reason, p.Edited, run, p.Item); err != nil {
				return err
			}
		}
		return nil
	})
	if f, ok := errors.AsType[*failure.Error](err); ok {
		return nil, f
	}
	if err != nil {
		return nil, fmt.Errorf("decide about run %s: %w", run, err)
	}
	return list, nil
}

// chosen are the open proposals with these numbers.
func chosen(all []engine.Proposal, run string, items []int) ([]engine.Proposal, error) {
	const hint = "`vaultflow approvals` lists what waits"
	var list []engine.Proposal
	for _, p := range all {
		if p.Open() && (len(items) == 0 || slices.Contains(items, p.Item)) {
			list = append(list, p)
		}
	}
	if len(list) == 0 && len(items) == 0 {
		return nil, failure.New(failure.Input, hint, "run %s has nothing that waits for approval", run)
	}
	for _, n := range items {
		if slices.ContainsFunc(list, func(p engine.Proposal) bool { return p.Item == n }) {
			continue
		}
		i := slices.IndexFunc(all, func(p engine.Proposal) bool { return p.Item == n })
		if i < 0 {
			return nil, failure.New(failure.Input, hint, "run %s has no item %d that waits for approval", run, n)
		}
		return nil, failure.New(failure.Input, hint, "item %d of run %s is already %s", n, run, all[i].Decision)
	}
	return list, nil
}

// ApprovedPrompt returns the sketch of the prompt that was approved last under a key, and whether there is one.
func (as *Approvals) ApprovedPrompt(ctx context.Context, key string) (sketch []byte, found bool, err error) {
	err = one(ctx, as.db.read, `SELECT sketch FROM approved_prompts WHERE key = ?`, key).Scan(&sketch)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look up the approved prompt: %w", err)
	}
	return sketch, true, nil
}

// KeepPrompt stores the sketch of a prompt that was approved, unless a later one was.
func (as *Approvals) KeepPrompt(ctx context.Context, ref engine.StepRef, key string, sketch []byte, approved time.Time) error {
	_, err := change(ctx, as.db.write, `INSERT INTO approved_prompts (key, workflow, step, approved, sketch) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET approved = excluded.approved, sketch = excluded.sketch WHERE excluded.approved >= approved_prompts.approved`,
		key, ref.Workflow, ref.Step, micros(approved), sketch)
	if err != nil {
		return fmt.Errorf("keep the approved prompt of step %q of %s: %w", ref.Step, ref.Workflow, err)
	}
	return nil
}

// Open returns the open proposals of a run, or of all unfinished runs, oldest first.
func (as *Approvals) Open(ctx context.Context, run string) ([]engine.Proposal, error) {
	list, err := proposals(ctx, as.db.read, `WHERE decision = '' AND (? = '' OR run = ?) AND run IN (SELECT id FROM runs WHERE finished = 0)
		ORDER BY created, rowid`, run, run)
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	return list, nil
}

// Of returns all proposals of a run with their decisions, in order.
func (as *Approvals) Of(ctx context.Context, run string) ([]engine.Proposal, error) {
	list, err := proposals(ctx, as.db.read, `WHERE run = ? ORDER BY item`, run)
	if err != nil {
		return nil, fmt.Errorf("read the approvals of run %s: %w", run, err)
	}
	return list, nil
}

// Expire rejects what was not approved in time, and returns their runs, each once. next is the next deadline;
// zero when nothing has one.
func (as *Approvals) Expire(ctx context.Context, now time.Time) (runs []string, next time.Time, err error) {
	err = inTx(ctx, as.db.write, func(tx *sql.Tx) error {
		var err error
		if runs, err = expire(ctx, tx, "", now); err != nil {
			return err
		}
		var at sql.NullInt64
		if err := tx.QueryRowContext(ctx, `SELECT min(deadline) FROM approvals WHERE decision = '' AND deadline > 0`).Scan(&at); err != nil {
			return err
		}
		if at.Valid {
			next = moment(at.Int64)
		}
		return nil
	})
	if err != nil {
		return nil, next, fmt.Errorf("look for approvals that are due: %w", err)
	}
	slices.Sort(runs)
	return slices.Compact(runs), next, nil
}

// Decided returns the parked runs about which something was decided: they may not have been woken since.
func (as *Approvals) Decided(ctx context.Context) ([]string, error) {
	list, err := query(ctx, as.db.read, func(r row) (id string, err error) { return id, r.Scan(&id) },
		`SELECT id FROM runs WHERE finished = 0 AND status = ? AND EXISTS (SELECT 1 FROM approvals a WHERE a.run = runs.id AND a.decision IN (?, ?))`,
		engine.AwaitingApproval, engine.ProposalApproved, engine.ProposalRejected)
	if err != nil {
		return nil, fmt.Errorf("look for runs to be woken: %w", err)
	}
	return list, nil
}

// proposals reads rows of proposals.
func proposals(ctx context.Context, db handle, where string, args ...any) ([]engine.Proposal, error) {
	return query(ctx, db, scanProposal, `SELECT view, item, decision, decided_by, decided, who, reason, edited FROM approvals `+where, args...)
}

func scanProposal(r row) (engine.Proposal, error) {
	var p engine.Proposal
	var view []byte
	var item int
	var decision, by, who, reason, edited string
	var decided int64
	if err := r.Scan(&view, &item, &decision, &by, &decided, &who, &reason, &edited); err != nil {
		return p, err
	}
	if err := json.Unmarshal(view, &p); err != nil {
		return p, fmt.Errorf("read a stored proposal: %w", err)
	}
	p.Item, p.Decision, p.By, p.Decided, p.Who, p.Reason, p.Edited = item, decision, by, moment(decided), who, reason, edited
	return p, nil
}
