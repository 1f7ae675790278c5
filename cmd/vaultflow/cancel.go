package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// cancelWait is how long `cancel` waits for the run to notice. The wish is stored by then; it holds after a kill too.
const cancelWait = 10 * time.Second

func newCancel(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "cancel RUN", Short: "Cancel a run; what it has written stays, and `retry` resumes it", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, ids []string) error {
			a, err := g.openDespiteFaults(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			found, err := knownRun(cmd.Context(), a, ids[0])
			if err != nil {
				return err
			}
			if err := cancelRun(cmd.Context(), a, found); err != nil {
				return err
			}
			return showEnded(cmd.Context(), a, g, found.ID)
		},
	}
}

// cancelRun ends a run: in the process that works on the vault, or here when it waits for the next one.
func cancelRun(ctx context.Context, a *daemon.Workspace, r engine.RunRecord) error {
	if r.Status.Finished() {
		return usagef("%s (%s) has ended: %s", r.ID, r.Workflow, r.Status)
	}
	w, err := a.Work(ctx)
	if isLocked(err) {
		_, err = a.Ask(ctx, control.Order{Cancel: r.ID})
	} else if err == nil {
		defer w.Close()
		err = w.Runs.Cancel(ctx, r.ID)
	}
	if err != nil {
		return fmt.Errorf("cancel %s: %w", r.ID, err)
	}
	return nil
}

// showEnded prints a run when it has ended, or as it is when that takes long: an activity may have to be waited for.
func showEnded(ctx context.Context, a *daemon.Workspace, g *globals, id string) error {
	ctx, stop := context.WithTimeout(ctx, cancelWait)
	defer stop()
	return a.Reading(ctx, func(j *journal.Journal) error {
		for {
			r, err := j.Runs.Run(ctx, id)
			if err != nil {
				return err
			}
			if r.Status.Finished() {
				return g.print(r, func(w io.Writer) { writeRun(w, r) })
			}
			select {
			case <-ctx.Done():
				fmt.Fprintf(g.err, "run %s is being cancelled; its activity (%s) has not returned yet\n", id, r.Activity)
				return nil
			case <-time.After(followEvery):
			}
		}
	})
}
