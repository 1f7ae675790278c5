package trigger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

const (
	// catchUpMost is how many missed slots catch_up: all runs.
	catchUpMost = 24
	// rowsMost is how many slots of one downtime get a row each; the ones before share one.
	rowsMost = 200
	// aheadMost is how far the ledger may be ahead of the clock before the clock is believed.
	aheadMost = 24 * time.Hour
)

// Next gives the next n fire times of a plan after a time, in its own zone; loc is for plans that name none. A plan
// that is not enabled has none.
func Next(p *workflow.Plan, after time.Time, n int, loc *time.Location) []time.Time {
	var times []time.Time
	for len(times) < n && p.Meta.Enabled {
		after = nextOf(p, after, p.Meta.Location(loc))
		if after.IsZero() {
			break
		}
		times = append(times, after)
	}
	return times
}

// nextOf is the earliest next fire time over all schedules; zero means never.
func nextOf(p *workflow.Plan, after time.Time, loc *time.Location) time.Time {
	var next time.Time
	for _, s := range p.Meta.Schedules {
		if t := s.Next(after, loc); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

// schedule plans and fires what fell due for a workflow, and says when to look again; zero means no need to.
func (t *Triggers) schedule(ctx context.Context, p *workflow.Plan, now time.Time) time.Time {
	if !p.Meta.Enabled || len(p.Meta.Schedules) == 0 {
		t.forget(ctx, p.Name)
		return time.Time{}
	}
	delete(t.off, p.Name)
	loc := p.Meta.Location(t.cfg.Location)
	if err := t.fallDue(ctx, p, now, loc); err != nil && ctx.Err() == nil {
		t.cfg.Logger.Error("slots not planned", "workflow", p.Name, "err", err)
	}
	return nextOf(p, now, loc)
}

func (t *Triggers) forget(ctx context.Context, name string) {
	if t.off[name] {
		return
	}
	if err := t.cfg.Ledger.Forget(ctx, name); err != nil {
		t.cfg.Logger.Error("schedule not forgotten", "workflow", name, "err", err)
		return
	}
	t.off[name] = true
}

// fallDue stores the slots between the last look and now, and fires those that are to run.
func (t *Triggers) fallDue(ctx context.Context, p *workflow.Plan, now time.Time, loc *time.Location) error {
	spec := specOf(p, loc)
	until, known, err := t.cfg.Ledger.Until(ctx, p.Name, spec)
	if err != nil {
		return err
	}
	if !known || until.After(now.Add(aheadMost)) {
		return t.cfg.Ledger.Plan(ctx, p.Name, spec, now, nil)
	}
	passed := between(p, until, now, loc)
	if len(passed) == 0 {
		return nil
	}
	rows := decide(passed, now, p.Meta.CatchUp)
	if err := t.cfg.Ledger.Plan(ctx, p.Name, spec, now, rows); err != nil {
		return err
	}
	for _, s := range rows {
		if s.State == engine.SlotDue {
			t.fire(ctx, p, s)
		}
	}
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

// between gives the slots after one time up to another, oldest first, each time once. Of very many the oldest are one row.
func between(p *workflow.Plan, after, until time.Time, loc *time.Location) []engine.SlotRecord {
	var slots []engine.SlotRecord
	for _, s := range p.Meta.Schedules {
		slots = append(slots, slotsOf(p.Name, s, after, until, loc)...)
	}
	slices.SortStableFunc(slots, func(a, b engine.SlotRecord) int {
		return cmp.Or(a.Slot.Compare(b.Slot), cmp.Compare(b.Count, a.Count))
	})
	return slices.CompactFunc(slots, func(a, b engine.SlotRecord) bool { return a.Slot.Equal(b.Slot) })
}

func slotsOf(name string, s workflow.Schedule, after, until time.Time, loc *time.Location) []engine.SlotRecord {
	var slots []engine.SlotRecord
	older := 0
	for at := s.Next(after, loc); !at.IsZero() && !at.After(until); at = s.Next(at, loc) {
		slots = append(slots, engine.SlotRecord{Workflow: name, Slot: at, Schedule: s.String(), Count: 1})
		if len(slots) > 2*rowsMost { // in blocks, so that years of minutes cost no more memory than a day
			older += len(slots) - rowsMost
			slots = append(slots[:0], slots[len(slots)-rowsMost:]...)
		}
	}
	if older == 0 {
		return slots
	}
	first := s.Next(after, loc)
	return append([]engine.SlotRecord{{Workflow: name, Slot: first, Schedule: s.String(), Count: older}}, slots...)
}

// decide says what becomes of slots that have passed, oldest first.
func decide(slots []engine.SlotRecord, now time.Time, catchUp string) []engine.SlotRecord {
	newest := len(slots) - 1
	for i := range slots {
		s := &slots[i]
		switch {
		case s.Count == 1 && onTime(*s, now) && catchUp != "latest",
			i == newest && (catchUp == "latest" || onTime(*s, now)),
			s.Count == 1 && i > newest-catchUpMost && catchUp == "all":
			s.State = engine.SlotDue
		case catchUp == "latest":
			s.State, s.Reason = engine.SlotMerged, "the slot of "+slots[newest].Slot.Format(time.RFC3339)+" stands for it"
		case catchUp == "all":
			s.State, s.Reason = engine.SlotMissed, fmt.Sprintf("catch_up: all goes back %d slots", catchUpMost)
		default:
			s.State, s.Reason = engine.SlotMissed, "vaultflow was not at work at that time (catch_up: none)"
		}
	}
	return slots
}

func onTime(s engine.SlotRecord, now time.Time) bool { return now.Sub(s.Slot) <= lateAfter }

// fire asks for the run of a slot and settles the slot. The key holds the planned time, so that asking twice is harmless.
func (t *Triggers) fire(ctx context.Context, p *workflow.Plan, s engine.SlotRecord) {
	late := !onTime(s, t.cfg.Now())
	kind := engine.TriggerCron
	if strings.HasPrefix(s.Schedule, "once:") {
		kind = engine.TriggerOnce
	}
	key := fmt.Sprintf("%s:%s:%s", kind, p.Name, s.Slot.UTC().Format(time.RFC3339))
	started, err := t.start(ctx, p, key, engine.Trigger{Kind: kind, Slot: s.Slot, Late: late}, s.Slot)
	if ctx.Err() != nil {
		return // the slot stays due, and is asked for at the next start
	}
	s.Run, s.State = started.Run, engine.SlotRan
	switch {
	case err != nil:
		s.State, s.Reason = engine.SlotSkipped, "could not be started: "+err.Error()
		t.cfg.Logger.Error("slot not started", "workflow", p.Name, "slot", s.Slot, "err", err)
	case started.Status == engine.Skipped && (started.Run == "" || started.Created):
		s.State, s.Reason = engine.SlotSkipped, started.Reason
	case late:
		s.State = engine.SlotLate
	}
	if err := t.cfg.Ledger.Settle(ctx, s); err != nil {
		t.cfg.Logger.Error("slot not settled", "workflow", p.Name, "slot", s.Slot, "err", err)
	}
}

// recover asks for the runs of slots that were stored when the process died.
func (t *Triggers) recover(ctx context.Context) {
	due, err := t.cfg.Ledger.Due(ctx)
	if err != nil {
		t.cfg.Logger.Error("open slots not read", "err", err)
	}
	if len(due) == 0 {
		return
	}
	plans := map[string]*workflow.Plan{}
	for _, p := range t.cfg.Plans() {
		plans[p.Name] = p
	}
	for _, s := range due {
		if p := plans[s.Workflow]; p != nil && p.Meta.Enabled {
			t.fire(ctx, p, s)
			continue
		}
		s.State, s.Reason = engine.SlotMissed, "the workflow is gone, disabled or invalid"
		if err := t.cfg.Ledger.Settle(ctx, s); err != nil {
			t.cfg.Logger.Error("slot not settled", "workflow", s.Workflow, "slot", s.Slot, "err", err)
		}
	}
}
