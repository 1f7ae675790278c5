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
	// Until returns the time up to which slots were looked at with this schedule; ok is false for a new one.
	Until(ctx context.Context, workflow, spec string) (until time.Time, ok bool, err error)
	// Kept returns the slots after a time up to another that have a row.
	Kept(ctx context.Context, workflow string, after, until time.Time) ([]time.Time, error)
	// Plan stores slots and the new Until in one transaction. A slot that is there stays as it is.
	Plan(ctx context.Context, workflow, spec string, until time.Time, slots []engine.SlotRecord) error
	// Rewind sets Until back and forgets the slots after it for which nothing was run: they lie ahead again.
	Rewind(ctx context.Context, workflow string, until time.Time) error
	// Settle stores what became of a slot.
	Settle(ctx context.Context, s engine.SlotRecord) error
	// Due returns the slots that were stored and never settled.
	Due(ctx context.Context) ([]engine.SlotRecord, error)
	// Forget removes a workflow's schedule, so that it is new when it comes back.
	Forget(ctx context.Context, workflow string) error
}

// looked is the time up to which the slots of a schedule are stored.
type looked struct {
	spec  string
	until time.Time
}

// schedules plans the slots of workflows and fires them.
type schedules struct {
	cfg    *Config
	runs   launcher
	looked map[string]looked // by workflow; zero for those that were forgotten
}

// schedule plans and fires what fell due for a workflow, and returns when to look again; zero means never.
func (sc *schedules) schedule(ctx context.Context, p *workflow.Plan, now time.Time) time.Time {
	if !p.Meta.Enabled || len(p.Meta.Schedules) == 0 {
		sc.forget(ctx, p.Name)
		return time.Time{}
	}
	loc := p.Meta.Location(sc.cfg.Location)
	if err := sc.fallDue(ctx, p, now, loc); err != nil && ctx.Err() == nil {
		sc.cfg.failed(ctx, "slots not planned", "workflow", p.Name, "err", err)
	}
	next, _ := nextOf(p, now, loc)
	return next
}

// forget removes a schedule, once.
func (sc *schedules) forget(ctx context.Context, name string) {
	if seen, known := sc.looked[name]; known && seen == (looked{}) {
		return
	}
	if err := sc.cfg.Slots.Forget(ctx, name); err != nil {
		sc.cfg.failed(ctx, "schedule not forgotten", "workflow", name, "err", err)
		return
	}
	sc.looked[name] = looked{}
}

// fallDue stores the slots between the last look and now, and fires those that are to run. A clock that was set back
// makes what it passed twice no slots: those that ran stay, and those that did not lie ahead again.
func (sc *schedules) fallDue(ctx context.Context, p *workflow.Plan, now time.Time, loc *time.Location) error {
	spec := specOf(p, loc)
	until, known, err := sc.until(ctx, p.Name, spec)
	if err != nil {
		return err
	}
	if !known {
		return sc.plan(ctx, p.Name, looked{spec, now}, nil)
	}
	if until.After(now) {
		if err := sc.cfg.Slots.Rewind(ctx, p.Name, now); err != nil {
			return err
		}
		sc.cfg.Logger.Warn("the clock was set back", "workflow", p.Name, "duration", until.Sub(now).Round(time.Second))
		sc.looked[p.Name] = looked{spec, now}
		return nil
	}
	if first, _ := nextOf(p, until, loc); first.IsZero() || first.After(now) {
		return nil
	}
	kept, err := sc.cfg.Slots.Kept(ctx, p.Name, until, now)
	if err != nil {
		return err
	}
	rows := decide(between(p, until, now, loc, set(kept)), now, p.Meta.CatchUp)
	if err := sc.plan(ctx, p.Name, looked{spec, now}, rows); err != nil {
		return err
	}
	for _, s := range rows {
		if s.State == engine.SlotDue && ctx.Err() == nil { // otherwise the next process asks for it
			sc.fire(ctx, p, s)
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

// until asks the journal once for each schedule, since nobody else writes it.
func (sc *schedules) until(ctx context.Context, name, spec string) (time.Time, bool, error) {
	if seen := sc.looked[name]; seen.spec == spec {
		return seen.until, true, nil
	}
	return sc.cfg.Slots.Until(ctx, name, spec)
}

func (sc *schedules) plan(ctx context.Context, name string, l looked, rows []engine.SlotRecord) error {
	if err := sc.cfg.Slots.Plan(ctx, name, l.spec, l.until, rows); err != nil {
		return err
	}
	sc.looked[name] = l
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
func (sc *schedules) fire(ctx context.Context, p *workflow.Plan, s engine.SlotRecord) {
	late := !onTime(s, sc.cfg.Now())
	kind := engine.TriggerCron
	if strings.HasPrefix(s.Schedule, "once:") {
		kind = engine.TriggerOnce
	}
	key := fmt.Sprintf("%s:%s:%s", kind, p.Name, s.Slot.UTC().Format(time.RFC3339))
	started, err := sc.runs.start(ctx, p, key, engine.Trigger{Kind: kind, Slot: s.Slot, Late: late}, s.Slot)
	if ctx.Err() != nil {
		return
	}
	s.Run, s.State = started.Run, engine.SlotRan
	switch {
	case err != nil && transient(err):
		sc.cfg.failed(ctx, "slot not started, it is tried again", "workflow", p.Name, "slot", s.Slot, "err", err)
		return
	case err != nil:
		s.State, s.Reason = engine.SlotSkipped, "could not be started: "+err.Error()
		sc.cfg.failed(ctx, "slot not started", "workflow", p.Name, "slot", s.Slot, "err", err)
	case started.Status == engine.Skipped:
		s.State, s.Reason = engine.SlotSkipped, started.Reason
	case late:
		s.State = engine.SlotLate
	}
	if err := sc.cfg.Slots.Settle(ctx, s); err != nil {
		sc.cfg.failed(ctx, "slot not settled", "workflow", p.Name, "slot", s.Slot, "err", err)
	}
}

// transient reports whether an error of starting a run may pass: it is about the journal, not about the request.
func transient(err error) bool {
	_, final := errors.AsType[*failure.Error](err)
	return !final
}

// recover asks for the runs of slots that are due since the process died, or the journal could not be written.
func (sc *schedules) recover(ctx context.Context, plans []*workflow.Plan) {
	due, err := sc.cfg.Slots.Due(ctx)
	if err != nil {
		sc.cfg.failed(ctx, "open slots not read", "err", err)
	}
	for _, s := range due {
		if ctx.Err() != nil {
			return
		}
		if p := planOf(plans, s.Workflow); p != nil && p.Meta.Enabled {
			sc.fire(ctx, p, s)
			continue
		}
		s.State, s.Reason = engine.SlotMissed, "the workflow is gone, disabled or invalid"
		if err := sc.cfg.Slots.Settle(ctx, s); err != nil {
			sc.cfg.failed(ctx, "slot not settled", "workflow", s.Workflow, "slot", s.Slot, "err", err)
		}
	}
}
