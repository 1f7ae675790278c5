package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/policy/trust"
)

func newList(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List workflows with their triggers, next fire times and last runs", Aliases: []string{"workflows"}, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			var rows []engine.WorkflowStatus
			err = a.Reading(cmd.Context(), func(j *journal.Journal) error {
				rows, err = a.Workflows.Statuses(cmd.Context(), j)
				return err
			})
			if errors.Is(err, daemon.ErrNothingRun) {
				rows, err = a.Workflows.Statuses(cmd.Context(), nil)
			}
			if err != nil {
				return err
			}
			return table(g, "WORKFLOW\tSTATE\tTRIGGERS\tNEXT\tLAST", rows, workflowRow)
		},
	}
}

func workflowRow(s engine.WorkflowStatus) string {
	state := "by hand"
	switch {
	case !s.Valid:
		state = "invalid"
	case s.Waits != "":
		state = words.Shorten(trust.Plain(s.Waits), 100)
	case s.Paused != "":
		state = words.Shorten(s.Paused, 100)
	case s.Enabled:
		state = "enabled"
	}
	next, last := "-", "-"
	if len(s.Next) > 0 {
		next = s.Next[0].Format("2006-01-02 15:04 MST")
	}
	if s.Last != nil {
		last = fmt.Sprintf("%s %s", s.Last.Status, s.Last.Created.Local().Format("2006-01-02 15:04"))
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", s.Name, state, strings.Join(s.Triggers, "; "), next, last)
}
