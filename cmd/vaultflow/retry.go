package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

func newRetry(g *globals) *cobra.Command {
	var from engine.RetryFrom
	var current bool
	cmd := &cobra.Command{
		Use: "retry RUN", Short: "Retry a failed or cancelled run from the step that failed", Args: args(cobra.ExactArgs(1)),
		Long: "Retry a run that failed, was refused or was cancelled. It continues where it failed: completed steps are not repeated, and\n" +
			"answers that were paid for are used. An interrupted run resumes too, if no serve is running. The run keeps the plan with\n" +
			"which it started. After you have corrected the workflow, --current runs it again about the same files.",
		RunE: func(cmd *cobra.Command, ids []string) error {
			a, err := g.open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			found, err := knownRun(cmd.Context(), a, ids[0])
			if err != nil {
				return err
			}
			if current {
				if from != (engine.RetryFrom{}) {
					return usagef("--current starts a new run: leave --step and --failed out")
				}
				return runAgain(cmd, a, g, found)
			}
			return retryRun(cmd.Context(), a, g, found, from)
		},
	}
	cmd.Flags().StringVar(&from.Step, "step", "", "rerun this step and all later ones, whatever the run's outcome; what they wrote before stays")
	cmd.Flags().BoolVar(&current, "current", false, "start new runs of the workflow as it is now, about the files of this run; its --var values are not used")
	cmd.Flags().BoolVar(&from.Failed, "failed", false, "rerun only the batches that failed or were skipped (@for_each on_error=skip)")
	return detachable(g, cmd)
}

// runAgain runs the workflow of a run as it is now, about the same files, and waits for it.
func runAgain(cmd *cobra.Command, a *daemon.Workspace, g *globals, r engine.RunRecord) error {
	orders, gone, err := a.Workflows.Again(r)
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		fmt.Fprintf(g.err, "left out, because they are gone: %s\n", strings.Join(gone, ", "))
	}
	if err := allowByHand(cmd.Context(), g, cmd.InOrStdin(), a, r.Workflow); err != nil {
		return err
	}
	return runOrders(cmd.Context(), a, g, orders)
}

// knownRun finds a run by its id, or by the beginning of one.
func knownRun(ctx context.Context, a *daemon.Workspace, id string) (engine.RunRecord, error) {
	return findRun(ctx, a, id, "no run %q; `vaultflow runs` lists them")
}

// findRun is knownRun with other words, which have a place for the id, when there is none.
func findRun(ctx context.Context, a *daemon.Workspace, id, none string) (engine.RunRecord, error) {
	var found engine.RunRecord
	err := a.Reading(ctx, func(j *journal.Journal) (err error) {
		found, err = j.Runs.Run(ctx, id)
		return err
	})
	if errors.Is(err, engine.ErrNotFound) || errors.Is(err, daemon.ErrNothingRun) {
		err = usagef(none, id)
	}
	return found, err
}

// retryRun retries a run and waits for it.
func retryRun(ctx context.Context, a *daemon.Workspace, g *globals, r engine.RunRecord, from engine.RetryFrom) error {
	if r.Kind == engine.KindWorkflow {
		err := a.Reading(ctx, func(j *journal.Journal) error {
			if text := a.Workflows.ChangedSince(ctx, j, r); text != "" {
				fmt.Fprintln(g.err, text)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return runNow(ctx, a, g, control.Order{Retry: r.ID, From: from, Passwords: a.Passwords.Given()}, func(ctx context.Context, w *daemon.Process) (string, error) {
		return w.Runs.Retry(ctx, r.ID, from)
	})
}
