package web

import (
	"context"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
)

// runRow is a run in a list.
type runRow struct {
	ID, Workflow string
	URL          string
	Pill         pill
	Reason       string
	Trigger      string
	Began        stamp
	Took         string
	Since        string // when it runs: the time since which, for the script to count
	Model        string
	Tokens, Cost string
	Outputs      []string
	Running      bool
	Finished     bool
}

func (s runPages) runRow(r engine.RunRecord) runRow {
	row := runRow{
		ID: r.ID, Workflow: r.Title(), URL: "/runs/" + r.ID, Pill: statusPill(r.Status), Reason: r.Reason, Trigger: triggerText(r.Trigger),
		Tokens: tokens(r.Usage), Cost: costText(r.Usage), Running: r.Status == engine.Running, Finished: r.Status.Finished(),
	}
	began := r.Started
	if began.IsZero() {
		began = r.Created
	}
	row.Began = when(began, s.site.cfg.Now(), s.site.cfg.Zone)
	switch {
	case !r.Finished.IsZero() && !r.Started.IsZero():
		row.Took = span(r.Finished.Sub(r.Started))
	case row.Running && !r.Started.IsZero():
		row.Since = r.Started.UTC().Format("2006-01-02T15:04:05Z")
	}
	var models []string
	for _, step := range r.Steps {
		if step.Model != "" && !slices.Contains(models, step.Model) {
			models = append(models, step.Model)
		}
	}
	row.Model = strings.Join(models, ", ")
	for _, o := range r.Outputs {
		if o.Kind == "file" && !slices.Contains(row.Outputs, o.Name) {
			row.Outputs = append(row.Outputs, o.Name)
		}
	}
	for _, c := range r.Changes {
		if !slices.Contains(row.Outputs, c.Name) {
			row.Outputs = append(row.Outputs, c.Name)
		}
	}
	return row
}

func (s runPages) runParts(ctx context.Context) ([]part, error) {
	list, err := s.site.cfg.Runs.Runs(ctx, shownRuns)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, r := range list {
		p, err := s.site.pages.part("runs", r.ID, "card", "run", s.runRow(r))
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}
