package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/settings"
)

const (
	// overviewMost bounds each list of an overview.
	overviewMost = 20
	// overviewSlots is how many slots it shows, past and next.
	overviewSlots = 5
	// failuresFor is how long failed imports, and runs that left something out, are shown.
	failuresFor = 7 * 24 * time.Hour
)

// Overviews sum up the state of a vault for people.
type Overviews struct {
	settings  *settings.Settings
	offers    *consent.Offers
	workflows *Workflows
	zone      *time.Location
}

// At returns the overview of a moment. Without a journal nothing has run yet.
func (v *Overviews) At(ctx context.Context, j *journal.Journal, now time.Time) (engine.Overview, error) {
	var o engine.Overview
	now = now.In(v.zone)
	y, m, d := now.Date()
	o.Day.Since, o.Month.Since = time.Date(y, m, d, 0, 0, 0, 0, v.zone), time.Date(y, m, 1, 0, 0, 0, 0, v.zone)
	budget := v.settings.Policy.Budget
	o.Month.Limit = cost.Amount{USD: budget.MaxCostUSDPerMonth, Tokens: budget.MaxTotalTokensPerMonth}
	offer, err := v.offers.Look()
	if err != nil {
		return o, err
	}
	brief := offer.Brief()
	o.Trust = &brief
	if err := v.addWorkflows(ctx, j, &o, now); err != nil || j == nil {
		return o, err
	}
	for _, p := range []*engine.Period{&o.Day, &o.Month} {
		if err := period(ctx, j, p); err != nil {
			return o, err
		}
	}
	if err := overviewRuns(ctx, j, &o); err != nil {
		return o, err
	}
	if err := v.addHeld(ctx, j, &o, now); err != nil {
		return o, err
	}
	if o.Last, err = j.Slots.List(ctx, "", overviewSlots); err != nil {
		return o, err
	}
	return o, overviewImports(ctx, j, &o, now)
}

// addWorkflows looks at the workflows: how many, when they fire next, which are paused, which runs ended badly.
func (v *Overviews) addWorkflows(ctx context.Context, j *journal.Journal, o *engine.Overview, now time.Time) error {
	all, err := v.workflows.Statuses(ctx, j)
	if err != nil {
		return err
	}
	o.Workflows.All = len(all)
	for _, s := range all {
		switch {
		case !s.Valid:
			o.Workflows.Invalid++
		case s.Enabled:
			o.Workflows.Enabled++
		}
		if len(s.Next) > 0 {
			o.Next = append(o.Next, engine.SlotRecord{Workflow: s.Name, Slot: s.Next[0], Schedule: scheduled(s.Triggers), State: engine.SlotNext})
		}
		if s.Paused != "" {
			o.Paused = append(o.Paused, engine.PauseBrief{Workflow: s.Name, Reason: s.Paused})
		}
		if j == nil {
			continue
		}
		unsettled, err := j.Runs.Unsettled(ctx, s.Name, now.Add(-failuresFor))
		if err != nil {
			return err
		}
		for _, r := range unsettled {
			if r.Status.Failed() {
				o.Failures = append(o.Failures, r)
			} else {
				o.Omissions = append(o.Omissions, r)
			}
		}
	}
	slices.SortStableFunc(o.Next, func(a, b engine.SlotRecord) int { return a.Slot.Compare(b.Slot) })
	o.Next = o.Next[:min(len(o.Next), overviewSlots)]
	return nil
}

// scheduled are the schedules among a workflow's triggers, as written.
func scheduled(triggers []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(triggers), func(t string) bool {
		return strings.HasPrefix(t, "watch:") || strings.HasPrefix(t, "on_import")
	}), "; ")
}

func period(ctx context.Context, j *journal.Journal, p *engine.Period) error {
	counts, err := j.Runs.Counts(ctx, p.Since)
	if err != nil {
		return err
	}
	for status, n := range counts {
		p.Runs += n
		if status.Failed() {
			p.Failed += n
		}
	}
	p.Skipped = counts[engine.Skipped]
	p.Spending, err = j.Spending.Since(ctx, "", p.Since)
	return err
}

func overviewRuns(ctx context.Context, j *journal.Journal, o *engine.Overview) error {
	for status, list := range map[engine.Status]*[]engine.RunBrief{engine.AwaitingApproval: &o.Approvals, engine.Running: &o.Running} {
		runs, err := j.Runs.List(ctx, journal.RunFilter{Kind: engine.KindWorkflow, Status: status, Limit: overviewMost})
		if err != nil {
			return err
		}
		for _, r := range runs {
			brief := r.Brief()
			brief.Interrupted = status == engine.Running && !j.Held()
			*list = append(*list, brief)
		}
	}
	return nil
}

// overviewImports adds files that wait, and failed imports that no later one made good.
func overviewImports(ctx context.Context, j *journal.Journal, o *engine.Overview, now time.Time) error {
	waiting, err := j.Imports.List(ctx, journal.ImportFilter{Waiting: true, Limit: overviewMost})
	if err != nil {
		return err
	}
	for _, state := range []engine.ImportState{engine.ImportNeedsPassword, engine.ImportFailed, engine.ImportWaiting} {
		ended, err := j.Imports.List(ctx, journal.ImportFilter{State: state, Limit: overviewMost})
		if err != nil {
			return err
		}
		for _, r := range ended {
			latest, _, err := j.Imports.Latest(ctx, r.Source, r.SHA256)
			if err != nil {
				return err
			}
			run, err := j.Runs.Run(ctx, r.ID)
			if err != nil {
				return err
			}
			switch {
			case latest.ID != r.ID || !run.Dismissed.IsZero() || now.Sub(r.Finished) > failuresFor:
			case state != engine.ImportFailed:
				waiting = append(waiting, r)
			default:
				o.Failures = append(o.Failures, engine.RunBrief{
					Run: r.ID, Kind: engine.KindImport, Subject: r.Source, Status: engine.Failed, Reason: r.Reason, Since: r.Finished,
				})
			}
		}
	}
	for _, r := range waiting {
		o.Waiting = append(o.Waiting, engine.FileBrief{Name: r.Source, State: r.State, Reason: r.Reason, Since: r.Created, Again: r.Again})
	}
	o.Failures, o.Omissions = newest(o.Failures, &o.Unlisted), newest(o.Omissions, &o.Unlisted)
	return nil
}

// newest returns the newest of a list first, and adds to more how many it leaves out.
func newest(list []engine.RunBrief, more *int) []engine.RunBrief {
	slices.SortStableFunc(list, func(a, b engine.RunBrief) int { return b.Since.Compare(a.Since) })
	*more += max(len(list)-overviewMost, 0)
	return list[:min(len(list), overviewMost)]
}

// serving returns the overview of a running serve.
func serving(ctx context.Context, w *Process, url string) (engine.Overview, error) {
	o, err := w.Workspace.Overviews.At(ctx, w.Journal, time.Now())
	o.Serving, o.URL, o.Reload, o.Trouble = true, url, w.changes.State(), w.trouble()
	return o, err
}

// trouble returns why runs wait although they have begun, or "".
func (w *Process) trouble() string {
	switch runs, why := local.Postponed(w.Exec); runs {
	case 0:
		return ""
	case 1:
		return "1 run or import waits, and continues by itself: " + why
	default:
		return fmt.Sprintf("%d runs and imports wait, and continue by themselves: %s", runs, why)
	}
}
