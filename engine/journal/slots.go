package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Slots keeps the times at which schedules fell due, and what became of each.
type Slots struct{ db *database }

// Until returns the time up to which a workflow's slots were looked at with this schedule. ok is false when the workflow
// is new or its schedule is another one.
func (ss *Slots) Until(ctx context.Context, workflow, spec string) (until time.Time, ok bool, err error) {
	var us int64
	err = one(ctx, ss.db.read, `SELECT until FROM schedules WHERE workflow = ? AND spec = ?`, workflow, spec).Scan(&us)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read the schedule of %s: %w", workflow, err)
	}
	return moment(us), true, nil
}

// Plan stores slots that fell due and the time up to which slots were looked at, together. A slot that is there stays
// as it is.
func (ss *Slots) Plan(ctx context.Context, workflow, spec string, until time.Time, slots []engine.SlotRecord) error {
	err := inTx(ctx, ss.db.write, func(tx *sql.Tx) error {
		for _, s := range slots {
			if _, err := tx.ExecContext(ctx, `INSERT INTO slots (workflow, slot, schedule, state, reason, run, count, zone) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT DO NOTHING`, s.Workflow, micros(s.Slot), s.Schedule, s.State, s.Reason, s.Run, s.Count, s.Slot.Location().String()); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO schedules (workflow, spec, until) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET spec = excluded.spec, until = excluded.until`, workflow, spec, micros(until))
		return err
	})
	if err != nil {
		return fmt.Errorf("store the slots of %s: %w", workflow, err)
	}
	return nil
}

// Kept returns the slots after a time up to another that have a row, oldest first.
func (ss *Slots) Kept(ctx context.Context, workflow string, after, until time.Time) ([]time.Time, error) {
	kept, err := query(ctx, ss.db.read, func(r row) (at time.Time, err error) {
		var us int64
		err = r.Scan(&us)
		return moment(us), err
	}, `SELECT slot FROM slots WHERE workflow = ? AND slot > ? AND slot <= ? ORDER BY slot`, workflow, micros(after), micros(until))
	if err != nil {
		return nil, fmt.Errorf("read the slots of %s: %w", workflow, err)
	}
	return kept, nil
}

// Rewind sets the time up to which a workflow's slots were looked at back, and forgets the slots after it for which nothing
// was run, so that they can fall due when their time comes.
func (ss *Slots) Rewind(ctx context.Context, workflow string, until time.Time) error {
	err := inTx(ctx, ss.db.write, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM slots WHERE workflow = ? AND slot > ? AND state IN (?, ?)`, workflow, micros(until),
			engine.SlotMissed, engine.SlotMerged); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE schedules SET until = ? WHERE workflow = ?`, micros(until), workflow)
		return err
	})
	if err != nil {
		return fmt.Errorf("set the slots of %s back: %w", workflow, err)
	}
	return nil
}

// Forget ends the watch over a workflow's slots: it is disabled. When it comes back it is new.
func (ss *Slots) Forget(ctx context.Context, workflow string) error {
	if _, err := change(ctx, ss.db.write, `DELETE FROM schedules WHERE workflow = ?`, workflow); err != nil {
		return fmt.Errorf("forget the schedule of %s: %w", workflow, err)
	}
	return nil
}

// Settle stores what became of a slot.
func (ss *Slots) Settle(ctx context.Context, s engine.SlotRecord) error {
	if _, err := change(ctx, ss.db.write, `UPDATE slots SET state = ?, reason = ?, run = ? WHERE workflow = ? AND slot = ?`,
		s.State, s.Reason, s.Run, s.Workflow, micros(s.Slot)); err != nil {
		return fmt.Errorf("store slot %s of %s: %w", s.Slot.Format(time.RFC3339), s.Workflow, err)
	}
	return nil
}

// Due returns the slots whose run was never asked for, oldest first: the process died in between.
func (ss *Slots) Due(ctx context.Context) ([]engine.SlotRecord, error) {
	return ss.list(ctx, ` WHERE state = 'due' ORDER BY slot LIMIT ?`, maxRows)
}

// List returns the newest slots first; of all workflows when the name is empty. The limit is at most 1000; zero means 50.
func (ss *Slots) List(ctx context.Context, workflow string, limit int) ([]engine.SlotRecord, error) {
	var w where
	w.add(workflow != "", "workflow = ?", workflow)
	return ss.list(ctx, w.String()+` ORDER BY slot DESC LIMIT ?`, append(w.args, capped(limit))...)
}

func (ss *Slots) list(ctx context.Context, rest string, args ...any) ([]engine.SlotRecord, error) {
	list, err := query(ctx, ss.db.read, scanSlot, `SELECT workflow, slot, schedule, state, reason, run, count, zone FROM slots`+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read slots: %w", err)
	}
	return list, nil
}

func scanSlot(r row) (engine.SlotRecord, error) {
	var s engine.SlotRecord
	var us int64
	var zone string
	err := r.Scan(&s.Workflow, &us, &s.Schedule, &s.State, &s.Reason, &s.Run, &s.Count, &zone)
	s.Slot = moment(us)
	if loc, bad := time.LoadLocation(zone); bad == nil {
		s.Slot = s.Slot.In(loc)
	}
	return s, err
}
