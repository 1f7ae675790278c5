package trigger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/workflow"
)

// Slots keeps the slots of schedules.
type Slots interface {
	// Until is the time up to which slots were looked at with this schedule; ok is false for a new one.
	Until(ctx context.Context, workflow, spec string) (until time.Time, ok bool, err error)
	// Kept gives the slots after a time up to another that have a row.
	Kept(ctx context.Context, workflow string, after, until time.Time) ([]time.Time, error)
	// Plan stores slots and the new Until in one transaction. A slot that is there stays as it is.
	Plan(ctx context.Context, workflow, spec string, until time.Time, slots []engine.SlotRecord) error
	// Rewind sets Until back and forgets the slots after it for which nothing was run: they lie ahead again.
	Rewind(ctx context.Context, workflow string, until time.Time) error
	// Settle stores what became of a slot.
	Settle(ctx context.Context, s engine.SlotRecord) error
	// Due gives the slots that were stored and never settled.
	Due(ctx context.Context) ([]engine.SlotRecord, error)
	// Forget makes a workflow's schedule a new one.
	Forget(ctx context.Context, workflow string) error
}

// looked is the time up to which the slots of a schedule are in the ledger.
type looked struct {
	spec  string
	until time.Time
}

// schedule plans and fires what fell due for a workflow, and says when to look again; zero means no need to.
func (t *Triggers) schedule(ctx context.Context, p *workflow.Plan, now time.Time) time.Time {
	if !p.Meta.Enabled || len(p.Meta.Schedules) == 0 {
		t.forget(ctx, p.Name)
		return time.Time{}
	}
	loc := p.Meta.Location(t.cfg.Location)
	if err := t.fallDue(ctx, p, now, loc); err != nil && ctx.Err() == nil {
		t.cfg.Logger.Error("slots not planned", "workflow", p.Name, "err", err)
	}
	next, _ := nextOf(p, now, loc)
	return next
}

// forget makes a schedule a new one, once.
func (t *Triggers) forget(ctx context.Context, name string) {
	if seen, known := t.looked[name]; known && seen == (looked{}) {
		return
	}
	if err := t.cfg.Slots.Forget(ctx, name); err != nil {
		t.cfg.Logger.Error("schedule not forgotten", "workflow", name, "err", err)
		return
	}
	t.looked[name] = looked{}
}

// fallDue stores the slots between the last look and now, and fires those that are to run. A clock that was set back
// makes what it passed twice no slots: those that ran stay, and those that did not lie ahead again.
func (t *Triggers) fallDue(ctx context.Context, p *workflow.Plan, now time.Time, loc *time.Location) error {
	spec := specOf(p, loc)
	until, known, err := t.until(ctx, p.Name, spec)
	if err != nil {
		return err
	}
	if !known {
		return t.plan(ctx, p.Name, looked{spec, now}, nil)
	}
	if until.After(now) {
		if err := t.cfg.Slots.Rewind(ctx, p.Name, now); err != nil {
			return err
		}
		t.cfg.Logger.Warn("the clock was set back", "workflow", p.Name, "duration", until.Sub(now).Round(time.Second))
		t.looked[p.Name] = looked{spec, now}
		return nil
	}
	if first, _ := nextOf(p, until, loc); first.IsZero() || first.After(now) {
		return nil
	}
	kept, err := t.cfg.Slots.Kept(ctx, p.Name, until, now)
	if err != nil {
		return err
	}
	rows := decide(between(p, until, now, loc, set(kept)), now, p.Meta.CatchUp)
	if err := t.plan(ctx, p.Name, looked{spec, now}, rows); err != nil {
		return err
	}
	for _, s := range rows {
		if s.State == engine.SlotDue && ctx.Err() == nil { // otherwise the next process asks for it
			t.fire(ctx, p, s)
		}
	}
	return nil
}

func set(times []time.Time) map[int64]bool {
	held := make(map[int64]bool, len(times))
	for _, at := range times {
		held[at.UnixMicro()] = true
	}
	return held
}

// until asks the ledger once for each schedule: nobody else writes it.
func (t *Triggers) until(ctx context.Context, name, spec string) (time.Time, bool, error) {
	if seen := t.looked[name]; seen.spec == spec {
		return seen.until, true, nil
	}
	return t.cfg.Slots.Until(ctx, name, spec)
}

func (t *Triggers) plan(ctx context.Context, name string, l looked, rows []engine.SlotRecord) error {
	if err := t.cfg.Slots.Plan(ctx, name, l.spec, l.until, rows); err != nil {
		return err
	}
	t.looked[name] = l
	return nil
}

// specOf is what makes a schedule the same one: an edited one is new, and a new one begins now.
func specOf(p *workflow.Plan, loc *time.Location) string {
	var b strings.Builder
	b.WriteString(loc.String())
	for _, s := range p.Meta.Schedules {
		b.WriteString("\n" + s.String())
	}
	return b.String()
}

// fire asks for the run of a slot and settles the slot. The key holds the planned time, so that asking twice is harmless:
// a slot whose run could not be stored stays due, and is asked for again.
func (t *Triggers) fire(ctx context.Context, p *workflow.Plan, s engine.SlotRecord) {
	late := !onTime(s, t.cfg.Now())
	kind := engine.TriggerCron
	if strings.HasPrefix(s.Schedule, "once:") {
		kind = engine.TriggerOnce
	}
	key := fmt.Sprintf("%s:%s:%s", kind, p.Name, s.Slot.UTC().Format(time.RFC3339))
	started, err := t.start(ctx, p, key, engine.Trigger{Kind: kind, Slot: s.Slot, Late: late}, s.Slot)
	if ctx.Err() != nil {
		return
	}
	s.Run, s.State = started.Run, engine.SlotRan
	switch {
	case err != nil && transient(err):
		t.cfg.Logger.Error("slot not started, it is tried again", "workflow", p.Name, "slot", s.Slot, "err", err)
		return
	case err != nil:
		s.State, s.Reason = engine.SlotSkipped, "could not be started: "+err.Error()
		t.cfg.Logger.Error("slot not started", "workflow", p.Name, "slot", s.Slot, "err", err)
	case started.Status == engine.Skipped:
		s.State, s.Reason = engine.SlotSkipped, started.Reason
	case late:
		s.State = engine.SlotLate
	}
	if err := t.cfg.Slots.Settle(ctx, s); err != nil {
		t.cfg.Logger.Error("slot not settled", "workflow", p.Name, "slot", s.Slot, "err", err)
	}
}

// transient says whether an error of starting a run may pass: it is about the journal, not about the request.
func transient(err error) bool {
	_, final := errors.AsType[*failure.Error](err)
	return !final
}

// recover asks for the runs of slots that are due since the process died, or the journal could not be written.
func (t *Triggers) recover(ctx context.Context, plans []*workflow.Plan) {
	due, err := t.cfg.Slots.Due(ctx)
	if err != nil {
		t.cfg.Logger.Error("open slots not read", "err", err)
	}
	for _, s := range due {
		if ctx.Err() != nil {
			return
		}
		if p := planOf(plans, s.Workflow); p != nil && p.Meta.Enabled {
			t.fire(ctx, p, s)
			continue
		}
		s.State, s.Reason = engine.SlotMissed, "the workflow is gone, disabled or invalid"
		if err := t.cfg.Slots.Settle(ctx, s); err != nil {
			t.cfg.Logger.Error("slot not settled", "workflow", s.Workflow, "slot", s.Slot, "err", err)
		}
	}
}
