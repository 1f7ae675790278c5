package trigger

import (
	"fmt"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

const (
	// catchUpMost is how many missed slots catch_up: all runs.
	catchUpMost = 24
	// rowsMost is how many slots of one downtime get a row each, besides those of rowsAtLeast; the ones before share one.
	rowsMost = 200
	// rowsAtLeast is how far back each slot has a row of its own: a clock that was set back by less makes none of them
	// two slots.
	rowsAtLeast = 48 * time.Hour
	// lateAfter is how old a slot may be and still count as on time.
	lateAfter = time.Minute
)

// Next returns the next n fire times of a plan after a time, in its own zone; loc is for plans that name none. A plan
// that is not enabled has none.
func Next(p *workflow.Plan, after time.Time, n int, loc *time.Location) []time.Time {
	var times []time.Time
	for len(times) < n && p.Meta.Enabled {
		after, _ = nextOf(p, after, p.Meta.Location(loc))
		if after.IsZero() {
			break
		}
		times = append(times, after)
	}
	return times
}

// nextOf is the earliest next fire time over all schedules, with the first schedule that has it; zero means never.
func nextOf(p *workflow.Plan, after time.Time, loc *time.Location) (next time.Time, by workflow.Schedule) {
	for _, s := range p.Meta.Schedules {
		if t := s.Next(after, loc); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next, by = t, s
		}
	}
	return next, by
}

// between returns the slots after one time up to another, oldest first, each time once and without those that have a row.
// Of very many the oldest are one row.
func between(p *workflow.Plan, after, until time.Time, loc *time.Location, kept map[int64]bool) []engine.SlotRecord {
	var slots []engine.SlotRecord
	var oldest engine.SlotRecord
	for {
		at, by := nextOf(p, after, loc)
		if at.IsZero() || at.After(until) {
			break
		}
		after = at
		if kept[at.UnixMicro()] {
			continue
		}
		slots = append(slots, engine.SlotRecord{Workflow: p.Name, Slot: at, Schedule: by.String(), Count: 1})
		if more := len(slots) - rowsMost; more > rowsMost && slots[more-1].Slot.Before(until.Add(-rowsAtLeast)) {
			if oldest.Count == 0 { // in blocks, so that years of minutes cost no more memory than a few days
				oldest = slots[0]
				oldest.Count = 0
			}
			oldest.Count += more
			slots = slices.Delete(slots, 0, more)
		}
	}
	if oldest.Count > 0 {
		slots = slices.Insert(slots, 0, oldest)
	}
	return slots
}

// decide sets the state of slots that have passed, oldest first. Those on time run; catch_up decides about the others.
func decide(slots []engine.SlotRecord, now time.Time, catchUp string) []engine.SlotRecord {
	late := slices.IndexFunc(slots, func(s engine.SlotRecord) bool { return onTime(s, now) })
	if late < 0 {
		late = len(slots)
	}
	newest := min(late, len(slots)-1) // the one that runs for all late ones
	for i := range slots {
		s := &slots[i]
		switch {
		case i >= late, catchUp == "latest" && i == newest, catchUp == "all" && i >= len(slots)-catchUpMost && s.Count == 1:
			s.State = engine.SlotDue
		case catchUp == "latest":
			s.State, s.Reason = engine.SlotMerged, "the slot of "+slots[newest].Slot.Format(time.RFC3339)+" runs instead"
		case catchUp == "all":
			s.State, s.Reason = engine.SlotMissed, fmt.Sprintf("catch_up: all goes back %d slots", catchUpMost)
		default:
			s.State, s.Reason = engine.SlotMissed, "at that time vaultflow was not running, or the machine was asleep (catch_up: none)"
		}
	}
	return slots
}

func onTime(s engine.SlotRecord, now time.Time) bool { return now.Sub(s.Slot) <= lateAfter }
