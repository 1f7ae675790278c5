package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Retry repeats what failed in a run; see engine.Executor.
func (x *Executor) Retry(ctx context.Context, run string, from engine.RetryFrom) error {
	x.starting.Lock()
	defer x.starting.Unlock()
	e, records, err := x.cfg.Journal.Load(ctx, run)
	if err != nil {
		return err
	}
	if !e.Run.Status.Finished() {
		return x.adopt(ctx, e, from)
	}
	var cuts []engine.Cut
	if !x.cfg.mendable(&e) {
		if cuts, err = retryOf(e, records, from); err != nil {
			return err
		}
	}
	if e.Import != nil {
		changed, err := x.cfg.renew(&e)
		if err != nil {
			return fmt.Errorf("retry import %s: %w", run, err)
		}
		if changed {
			cuts = []engine.Cut{{}}
		}
	}
	reset(&e)
	if err := x.cfg.Journal.Reopen(ctx, e, cuts); err != nil {
		return err
	}
	return x.takeUp(ctx, e)
}

// adopt resumes a run that an earlier process left unfinished.
func (x *Executor) adopt(ctx context.Context, e engine.Entry, from engine.RetryFrom) error {
	switch {
	case x.queue.job(e.Run.ID) != nil:
		return noRetry("run %s is running; cancel it first", e.Run.ID)
	case e.Run.Status == engine.AwaitingApproval:
		return noRetry("run %s waits for approval; approve or reject what it proposes, or cancel it first", e.Run.ID)
	case from != engine.RetryFrom{}:
		return noRetry("run %s was interrupted and has not ended: retry it without --step and --failed to resume it", e.Run.ID)
	}
	e.Cancelled = false // it was to end, and is wanted after all
	return x.takeUp(ctx, e)
}

// takeUp queues an unfinished run together with the unfinished runs that its tools started, because it waits for them.
func (x *Executor) takeUp(ctx context.Context, e engine.Entry) error {
	left, err := x.cfg.Journal.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, family := 0, []engine.Entry{e}; len(family) > 0; family = family[1:] {
		j, err := newJob(family[0])
		if err != nil {
			return fmt.Errorf("read run %s: %w", family[0].Run.ID, err)
		}
		x.queue.add(j)
		for _, other := range left {
			if other.Run.Trigger.Parent == j.id && other.Run.Status != engine.AwaitingApproval && x.queue.job(other.Run.ID) == nil {
				family = append(family, other)
			}
		}
	}
	return nil
}

// noRetry returns the reason why a run cannot be retried.
func noRetry(format string, args ...any) error {
	return failure.New(failure.Retry, "", format, args...)
}

// retryOf returns the records that a retry forgets or frees.
func retryOf(e engine.Entry, records []engine.Record, from engine.RetryFrom) ([]engine.Cut, error) {
	r, pinned := e.Run, pinnedOf(e)
	switch {
	case pinned == nil && from != engine.RetryFrom{}:
		return nil, noRetry("%s is not a workflow run: it has no steps or batches to choose", r.ID)
	case from.Step != "" && from.Failed:
		return nil, noRetry("choose a step or the failed batches, not both")
	case from.Step != "":
		return stepCuts(r, pinned, records, from.Step)
	case !from.Failed && !r.Status.Incomplete():
		return nil, noRetry("run %s is %s; only a failed or cancelled run can be retried; use --step to rerun a step, or --failed to repeat batches that were left out",
			r.ID, strings.ReplaceAll(string(r.Status), "_", " "))
	}
	var cuts []engine.Cut
	if from.Failed {
		if cuts = lostCuts(r, pinned, records); len(cuts) == 0 {
			return nil, noRetry("no batch of run %s failed or was skipped in a step that continued", r.ID)
		}
	}
	if !r.Status.Incomplete() {
		return cuts, nil
	}
	cuts = append(cuts, retryCuts(r, records)...)
	if pinned != nil {
		cuts = append(cuts, batchCuts(r, pinned.Steps, records)...)
	}
	return cuts, nil
}

// pinnedOf returns what a workflow run was started with; nil for imports.
func pinnedOf(e engine.Entry) *engine.Pinned {
	var s spec
	if json.Unmarshal(e.Spec, &s) != nil {
		return nil
	}
	return s.Pinned
}

// stepCuts returns the cuts that make a run begin again at a step.
func stepCuts(r engine.RunRecord, pinned *engine.Pinned, records []engine.Record, name string) ([]engine.Cut, error) {
	at := slices.IndexFunc(r.Steps, func(s engine.StepRecord) bool { return strings.EqualFold(s.Step, name) })
	if at < 0 {
		var names []string
		for _, s := range r.Steps {
			names = append(names, s.Step)
		}
		return nil, noRetry("run %s has no step %q; its steps are: %s", r.ID, name, strings.Join(names, ", "))
	}
	for _, s := range r.Steps[:at] {
		if s.Status.Incomplete() {
			return nil, noRetry("the earlier step %q ended as %s: retry the run without --step", s.Step, s.Status)
		}
	}
	index := r.Steps[at].Index
	seen := map[int]bool{}
	var cuts []engine.Cut
	for _, rec := range records {
		if rec.Step >= index && !seen[rec.Branch] {
			seen[rec.Branch] = true
			cuts = append(cuts, engine.Cut{Branch: rec.Branch, Seq: rec.Seq})
		}
	}
	return cuts, nil
}

// renew makes an import begin again where its original was put, with the present settings: the advice for its failure may
// have been to change them. It reports whether anything differs.
func (c Config) renew(e *engine.Entry) (changed bool, err error) {
	var s spec
	if err := json.Unmarshal(e.Spec, &s); err != nil {
		return false, err
	}
	if filed := e.Import.Filed; filed != "" {
		s.Import.Where, changed = filed, true
	}
	if c.mendable(e) {
		s.Import.Mend, changed = e.Import.Bundle, true
	}
	if c.Renew != nil {
		if options := c.Renew(*s.Import); !bytes.Equal(options, s.Import.Options) {
			s.Import.Options, changed = options, true
		}
	}
	e.Spec, err = json.Marshal(s)
	return changed, err
}

// ImportPlan returns what an import was started with.
func ImportPlan(e engine.Entry) (engine.ImportPlan, error) {
	var s spec
	if err := json.Unmarshal(e.Spec, &s); err != nil || s.Import == nil {
		return engine.ImportPlan{}, fmt.Errorf("run %s is no import: %w", e.Run.ID, err)
	}
	return *s.Import, nil
}

// mendable reports whether an import has a bundle that lacks something, and its original to make it of.
func (c Config) mendable(e *engine.Entry) bool {
	i := e.Import
	if i == nil || i.Bundle == "" || i.Filed == "" {
		return false
	}
	return i.State == engine.ImportPartial || i.State == engine.ImportDone && (len(i.NotSeen) > 0 || c.Lacks != nil && c.Lacks(i.Bundle))
}

// reset removes the end from a run's views. The body reports the steps again.
func reset(e *engine.Entry) {
	r := &e.Run
	r.Status, r.Reason, r.Failure, r.Finished, r.Dismissed, r.Steps = engine.Queued, "", nil, time.Time{}, time.Time{}, nil
	e.Cancelled = false
	if i := e.Import; i != nil {
		*i = engine.ImportRecord{ID: i.ID, Source: i.Source, State: engine.ImportQueued, SHA256: i.SHA256, Size: i.Size, Created: i.Created}
	}
}
