package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/trust"
	"github.com/vaultflow/vaultflow/workflow"
)

func newList(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List workflows with their triggers, next fire times and last runs", Aliases: []string{"workflows"}, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			var rows []engine.WorkflowStatus
			err = a.reading(cmd.Context(), func(j *journal.Journal) error {
				rows, err = a.statuses(cmd.Context(), j)
				return err
			})
			if errors.Is(err, errNoState) {
				rows, err = a.statuses(cmd.Context(), nil)
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
		state = shorten(trust.Plain(s.Waits), 100)
	case s.Paused != "":
		state = shorten(s.Paused, 100)
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

// statuses are the vault's workflows as people see them. Without a journal nothing has run yet.
func (a *app) statuses(ctx context.Context, j *journal.Journal) ([]engine.WorkflowStatus, error) {
	all, err := a.workflows()
	if err != nil {
		return nil, err
	}
	rows := make([]engine.WorkflowStatus, 0, len(all))
	now := a.trust.now()
	for _, loaded := range all {
		row := statusOf(loaded, a.zone)
		if row.Valid {
			row.Waits = a.trust.waits(now, loaded.Plan)
		}
		if row.Waits != "" {
			row.Next = nil
		}
		if j != nil {
			runs, err := j.Runs.List(ctx, journal.RunFilter{Workflow: row.Name, Kind: engine.KindWorkflow, Limit: 1})
			if err != nil {
				return nil, err
			}
			if len(runs) > 0 {
				row.Last = &runs[0]
			}
			if row.Paused, err = trigger.Paused(ctx, j.Runs, row.Name); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func statusOf(loaded workflow.Loaded, zone *time.Location) engine.WorkflowStatus {
	p := loaded.Plan
	row := engine.WorkflowStatus{
		Name: p.Name, File: p.File, Description: p.Meta.Description, Valid: loaded.Valid(), Enabled: p.Meta.Enabled, Triggers: triggersOf(p),
	}
	for _, s := range p.Steps {
		row.Steps = append(row.Steps, s.Name)
	}
	if row.Valid {
		row.Next = trigger.Next(p, time.Now(), 3, zone)
	}
	for _, d := range loaded.Diagnostics {
		row.Diagnostics = append(row.Diagnostics, engine.Diagnostic{
			File: d.File, Line: d.Line, Column: d.Column, Severity: d.Severity, Code: d.Code, Message: d.Message, Suggestion: d.Suggestion,
		})
	}
	return row
}

func triggersOf(p *workflow.Plan) []string {
	var out []string
	for _, s := range p.Meta.Schedules {
		out = append(out, s.String())
	}
	for _, glob := range p.Meta.Watch {
		out = append(out, "watch: "+glob)
	}
	if p.Meta.OnImport != nil {
		out = append(out, strings.TrimSpace("on_import "+strings.Join(p.Meta.OnImport.Globs, ", ")))
	}
	return out
}

// schedules are a plan's schedules as written.
func schedules(p *workflow.Plan) string {
	out := make([]string, len(p.Meta.Schedules))
	for i, s := range p.Meta.Schedules {
		out[i] = s.String()
	}
	return strings.Join(out, "; ")
}
