package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

// failuresInARow pause a workflow.
const failuresInARow = 3

// launcher starts runs, unless a workflow may not run now.
type launcher struct{ cfg *Config }

// start asks for a run. A slot whose workflow may not fire now is skipped: the answer has the reason, which goes into its row. Files
// wait instead; see [watching.barred].
//
// Overlap applies to workflows that repeat by the clock. Changes, imports and the slots of `catch_up: all` each bring
// something new, so they wait for another run and are never skipped. Files that start one run each are never replaced either.
func (l launcher) start(ctx context.Context, p *workflow.Plan, key string, trigger engine.Trigger, at time.Time) (engine.Started, error) {
	slot := !trigger.Slot.IsZero()
	if slot {
		why, err := Barred(ctx, l.cfg.History, p, l.cfg.Now(), l.cfg.Location)
		if err != nil {
			return engine.Started{}, err
		}
		if why != "" {
			l.cfg.Logger.Warn("workflow not started", "workflow", p.Name, "trigger", trigger.Kind, "reason", why)
			return engine.Started{Status: engine.Skipped, Reason: why}, nil
		}
	}
	r, err := request(p, key, trigger, at)
	if err != nil {
		return engine.Started{}, err
	}
	goesBack := trigger.Late && p.Meta.CatchUp == "all"
	imported := trigger.Kind == engine.TriggerOnImport
	if goesBack || !slot && (r.Overlap != engine.OverlapReplace || imported || p.Meta.Each(false)) {
		r.Overlap = engine.OverlapQueue
	}
	return l.cfg.Starter.Start(ctx, r)
}

// request makes the request of a trigger.
func request(p *workflow.Plan, key string, trigger engine.Trigger, at time.Time) (engine.Request, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return engine.Request{}, fmt.Errorf("pin workflow %q: %w", p.Name, err)
	}
	return engine.Request{
		Key: key, Kind: engine.KindWorkflow, Subject: p.Name, Trigger: trigger, At: at, Overlap: engine.Overlap(p.Meta.Overlap), Plan: raw,
	}, nil
}

// refuse stores a run that may not begin as skipped, with the reason: one an hour for a workflow and a reason, so that a
// folder that is written to all day does not fill the list.
func (l launcher) refuse(ctx context.Context, p *workflow.Plan, trigger engine.Trigger, why string) (engine.Started, error) {
	l.cfg.Logger.Warn("workflow not started", "workflow", p.Name, "trigger", trigger.Kind, "reason", why)
	now := l.cfg.Now()
	r, err := request(p, fmt.Sprintf("refused:%s:%s:%s", p.Name, now.UTC().Format("2006-01-02T15"), why), trigger, now)
	if err != nil {
		return engine.Started{}, err
	}
	r.Refused = why
	return l.cfg.Starter.Start(ctx, r)
}

// Barred returns why an unattended run of a workflow may not begin now: it failed too often in a row, or has run
// max_runs_per_day times on the day of now in its zone. Empty if it may.
func Barred(ctx context.Context, h History, p *workflow.Plan, now time.Time, zone *time.Location) (string, error) {
	if why, err := Paused(ctx, h, p.Name); err != nil || why != "" {
		return why, err
	}
	limit := p.Meta.MaxRunsPerDay
	if limit <= 0 {
		return "", nil
	}
	zone = p.Meta.Location(zone)
	y, m, d := now.In(zone).Date()
	n, err := h.Count(ctx, p.Name, time.Date(y, m, d, 0, 0, 0, 0, zone))
	if err != nil || n < limit {
		return "", err
	}
	return fmt.Sprintf("max_runs_per_day: %d runs today", n), nil
}

// Paused returns why a workflow does not fire by itself for now: it failed three times in a row. Empty if it does fire.
// A run that succeeds ends the pause, and so does journal.Runs.Unpause.
func Paused(ctx context.Context, h History, name string) (string, error) {
	failed, err := h.Failures(ctx, name, failuresInARow)
	if err != nil || len(failed) < failuresInARow {
		return "", err
	}
	return fmt.Sprintf("paused after %d failures in a row; `vaultflow unpause %q` or a successful manual run resumes it (last failure: %s)",
		len(failed), name, failed[0].Reason), nil
}
