package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/workflow"
)

func newUnpause(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "unpause WORKFLOW", Short: "Resume a workflow that was paused after failures", Args: args(cobra.ExactArgs(1)),
		Long: "A workflow that fails three times in a row is paused: no schedule, watch or import starts it; `vaultflow run` still does.\n" +
			"This command ends the pause, and so does a successful manual run. Skipped times are not made up for; `vaultflow slots`\n" +
			"and `vaultflow runs --status skipped` list them.",
		RunE: func(cmd *cobra.Command, names []string) error {
			a, err := g.openDespiteFaults(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			return unpauseWorkflow(cmd.Context(), a, g, names[0])
		},
	}
}

// unpauseLine is what unpause says. Its type in machine output is "unpause".
type unpauseLine struct {
	Type     string `json:"type"`
	Workflow string `json:"workflow"`
	Was      string `json:"was"` // why it was paused; empty when it was not
}

func unpauseWorkflow(ctx context.Context, a *daemon.Workspace, g *globals, name string) error {
	all, err := a.Workflows.All()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(l workflow.Loaded) bool { return a.Workflows.Is(l.Plan, name) })
	if i < 0 {
		return a.Workflows.Unknown(name, all)
	}
	line := unpauseLine{Type: "unpause", Workflow: all[i].Plan.Name}
	w, err := a.Work(ctx)
	if isLocked(err) {
		var r control.Reply
		r, err = a.Ask(ctx, control.Order{Unpause: line.Workflow})
		line.Was = r.Was
	} else if err == nil {
		defer w.Close()
		line.Was, err = w.Runs.Unpause(ctx, line.Workflow)
	}
	if err != nil {
		return fmt.Errorf("unpause %s: %w", line.Workflow, err)
	}
	return g.print(line, func(out io.Writer) {
		if line.Was == "" {
			fmt.Fprintf(out, "%s was not paused\n", line.Workflow)
			return
		}
		paused, _, _ := strings.Cut(line.Was, "; `vaultflow unpause") // the advice has just been followed
		fmt.Fprintf(out, "%s is resumed; it was %s\n", line.Workflow, paused)
	})
}
