package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
)

func newDismiss(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "dismiss RUN...", Short: "Remove failed runs from the list of failures", Args: args(cobra.MinimumNArgs(1)),
		Long: "Remove runs that failed, or left something out, from the list of `vaultflow status`, the status note and the dashboard.\n" +
			"A failure leaves the list by itself when a later run of the workflow is about the same files.",
		RunE: func(cmd *cobra.Command, ids []string) error {
			a, err := g.openDespiteFaults(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			for _, id := range ids {
				if err := dismissRun(cmd.Context(), a, g, id); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// dismissLine is what dismiss says. Its type in machine output is "dismiss".
type dismissLine struct {
	Type string `json:"type"`
	Run  string `json:"run"`
}

func dismissRun(ctx context.Context, a *daemon.Workspace, g *globals, id string) error {
	found, err := knownRun(ctx, a, id)
	if err != nil {
		return err
	}
	w, err := a.Work(ctx)
	if isLocked(err) {
		_, err = a.Ask(ctx, control.Order{Dismiss: found.ID})
	} else if err == nil {
		err = w.Runs.Dismiss(ctx, found.ID)
		w.Close()
	}
	if err != nil {
		return fmt.Errorf("dismiss %s: %w", found.ID, err)
	}
	return g.print(dismissLine{"dismiss", found.ID}, func(out io.Writer) { fmt.Fprintf(out, "%s is not listed as a failure any more\n", found.ID) })
}
