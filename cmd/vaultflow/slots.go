package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

func newSlots(g *globals) *cobra.Command {
	limit := 20
	cmd := &cobra.Command{
		Use: "slots [WORKFLOW]", Short: "Show scheduled times: the next ones, and the outcome of past ones", Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			name := ""
			if len(names) > 0 {
				name = strings.TrimSuffix(names[0], ".md")
			}
			return listSlots(cmd.Context(), g, name, limit)
		},
	}
	counted(cmd.Flags(), &limit, "limit", "n", "how many past times")
	return cmd
}

// listSlots prints the next fire times of enabled workflows, then the ledger of past ones when there is one.
func listSlots(ctx context.Context, g *globals, name string, limit int) error {
	a, err := g.openDespiteFaults(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	name, unknown := a.Workflows.Known(name)
	rows, err := a.Workflows.NextSlots(name)
	if err != nil {
		return err
	}
	err = a.Reading(ctx, func(j *journal.Journal) error {
		past, err := j.Slots.List(ctx, name, limit)
		rows = append(rows, past...)
		return err
	})
	if err != nil && !errors.Is(err, daemon.ErrNothingRun) {
		return err
	}
	if len(rows) == 0 && unknown != nil {
		return unknown
	}
	return table(g, "WORKFLOW\tSLOT\tSTATE\tSCHEDULE\tREASON\tRUN", rows, func(s engine.SlotRecord) string {
		state := string(s.State)
		if s.Count > 1 {
			state = fmt.Sprintf("%s, with the %d after it", state, s.Count-1)
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", s.Workflow, s.Slot.Format("2006-01-02 15:04 MST"), state, s.Schedule, words.Shorten(s.Reason, 100), s.Run)
	})
}
