package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/workflow"
)

// addHeld lists the files that wait for a run of a workflow: those that no run was asked for yet, and those of queued runs.
func (v *Overviews) addHeld(ctx context.Context, j *journal.Journal, o *engine.Overview, now time.Time) error {
	news, err := j.Watches.Noticed(ctx)
	if err != nil {
		return err
	}
	queued, err := j.Runs.List(ctx, journal.RunFilter{Kind: engine.KindWorkflow, Status: engine.Queued, Limit: overviewMost})
	if err != nil || len(news)+len(queued) == 0 {
		return err
	}
	all, err := v.workflows.All()
	if err != nil {
		return err
	}
	held := j.Held()
	for _, n := range news {
		i := slices.IndexFunc(o.Held, func(h engine.HeldBrief) bool { return h.Workflow == n.Workflow })
		if i < 0 {
			i = len(o.Held)
			one := engine.HeldBrief{Workflow: n.Workflow, Since: n.Time}
			if !held {
				one.Reason = "serve is not running"
			} else if err := v.whyHeld(ctx, j, o, &one, n, all, now); err != nil {
				return err
			}
			o.Held = append(o.Held, one)
		}
		if files := &o.Held[i].Files; !slices.Contains(*files, n.File.Name) {
			*files = append(*files, n.File.Name)
		}
	}
	for _, r := range queued {
		if len(r.Trigger.Files) == 0 {
			continue
		}
		one := engine.HeldBrief{Workflow: r.Workflow, Files: r.Trigger.Files, Run: r.ID, Since: r.Created, Reason: "serve is not running"}
		if held {
			one.Reason = "for a free place (engine.max_parallel_runs)"
			if before := running(o, r.Workflow); before != "" {
				one.Reason = "for the end of run " + before
			}
		}
		o.Held = append(o.Held, one)
	}
	return nil
}

// whyHeld sets the reason why files wait, and until when.
func (v *Overviews) whyHeld(ctx context.Context, j *journal.Journal, o *engine.Overview, h *engine.HeldBrief, n engine.Notice, all []workflow.Loaded, now time.Time) error {
	i := slices.IndexFunc(all, func(l workflow.Loaded) bool { return l.Plan.Name == h.Workflow })
	if i < 0 || !all[i].Valid() {
		h.Reason = "the workflow is gone or has a mistake; the files are dropped after a day"
		return nil
	}
	p := all[i].Plan
	why, err := trigger.Barred(ctx, j.Runs, p, now, v.zone)
	switch {
	case err != nil:
		return err
	case why != "":
		h.Reason = why
		if paused, err := trigger.Paused(ctx, j.Runs, p.Name); err != nil || paused != "" {
			return err
		}
		y, m, d := now.In(p.Meta.Location(v.zone)).Date()
		h.Due = time.Date(y, m, d+1, 0, 0, 0, 0, p.Meta.Location(v.zone))
		return nil
	}
	before := running(o, p.Name)
	switch {
	case n.Import == "" && before != "":
		h.Reason = "for the end of run " + before
	case n.Import != "" && !p.Meta.Each(true):
		h.Reason = "until no import is running"
	default:
		h.Reason, h.Due = "until the files are quiet (watch.debounce)", n.Time.Add(v.settings.Watch.Debounce.Std())
	}
	return nil
}

// running returns the run of a workflow that has not ended, "" if there is none.
func running(o *engine.Overview, workflow string) string {
	for _, r := range o.Running {
		if r.Subject == workflow {
			return r.Run
		}
	}
	return ""
}
