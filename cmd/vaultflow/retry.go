package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/workflow"
)

func newRetry(g *globals) *cobra.Command {
	var from engine.RetryFrom
	cmd := &cobra.Command{
		Use: "retry RUN", Short: "Take up a run again where it failed; what succeeded is not repeated", Args: args(cobra.ExactArgs(1)),
		Long: "Take up a run again that failed, was refused or was cancelled: at what made it fail, with the answers that were paid for.\n" +
			"A run that was interrupted while no serve was at work goes on where it was. The run keeps the plan that it was started with.",
		RunE: func(cmd *cobra.Command, ids []string) error {
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			found, err := a.knownRun(cmd.Context(), ids[0])
			if err != nil {
				return err
			}
			return a.retryRun(cmd.Context(), g, found, from)
		},
	}
	cmd.Flags().StringVar(&from.Step, "step", "", "begin again at this step, however the run ended: it and all steps behind it are done anew, on top of what they wrote")
	cmd.Flags().BoolVar(&from.Failed, "failed", false, "take up the batches that failed or were skipped while their step went on (@for_each on_error=skip); what else was done stays")
	return cmd
}

// knownRun finds a run by its id, or by the beginning of one.
func (a *app) knownRun(ctx context.Context, id string) (engine.RunRecord, error) {
	return a.findRun(ctx, id, "no run %q; `vaultflow runs` lists them")
}

// findRun is knownRun with other words, which have a place for the id, when there is none.
func (a *app) findRun(ctx context.Context, id, none string) (engine.RunRecord, error) {
	var found engine.RunRecord
	err := a.reading(ctx, func(j *journal.Journal) (err error) {
		found, err = j.Runs.Run(ctx, id)
		return err
	})
	if errors.Is(err, engine.ErrNotFound) || errors.Is(err, errNoState) {
		err = usagef(none, id)
	}
	return found, err
}

// retryRun takes up a run again and waits for it.
func (a *app) retryRun(ctx context.Context, g *globals, r engine.RunRecord, from engine.RetryFrom) error {
	if r.Kind == engine.KindWorkflow {
		err := a.reading(ctx, func(j *journal.Journal) error {
			if text := a.changedSince(ctx, j, r); text != "" {
				fmt.Fprintln(g.err, text)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return a.runNow(ctx, g, order{Retry: r.ID, From: from, Passwords: a.given.list()}, func(ctx context.Context, w *working) (string, error) {
		return r.ID, w.retry(ctx, r.ID, from)
	})
}

// retry takes up a run again, if its workflow may run as it was then.
func (w *working) retry(ctx context.Context, id string, from engine.RetryFrom) error {
	r, err := w.journal.Runs.Run(ctx, id)
	if err != nil {
		return err
	}
	if r.Kind == engine.KindWorkflow {
		if pinned, err := w.pinned(ctx, r); err == nil { // a run without a plan is refused by the executor
			if err := w.trust.mayRun(pinned); err != nil {
				return err
			}
		}
	}
	return w.exec.Retry(ctx, id, from)
}

// pinned is the plan that a run was started with.
func (w *working) pinned(ctx context.Context, r engine.RunRecord) (*workflow.Plan, error) {
	data, err := w.journal.Blobs.Get(ctx, r.Plan)
	if err != nil {
		return nil, err
	}
	return engine.ReadPlan(data)
}

// changedSince says that a run's workflow is another one now, and nothing when it is not, or is gone: the run has its own plan.
func (a *app) changedSince(ctx context.Context, j *journal.Journal, r engine.RunRecord) string {
	data, err := j.Blobs.Get(ctx, r.Plan)
	if err != nil {
		return ""
	}
	pinned, err := engine.ReadPlan(data)
	if err != nil {
		return ""
	}
	all, err := a.workflows()
	changed := func(l workflow.Loaded) bool { return l.Plan.Name == pinned.Name && l.Plan.SHA256 != pinned.SHA256 }
	if err != nil || !slices.ContainsFunc(all, changed) {
		return ""
	}
	return fmt.Sprintf("%s has changed since run %s was started, which goes on as it was; `vaultflow run %s` runs it as it is now", pinned.File, r.ID, r.Workflow)
}
