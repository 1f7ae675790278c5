package web

import (
	"context"
	"net/http"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// How much the first page shows.
const (
	shownRuns    = 30
	shownImports = 24
	shownNext    = 3
)

// frontPage is the page that the dashboard begins with.
type frontPage struct{ site *site }

// today is the first page: health, workflows, runs, imports.
func (s frontPage) today(*http.Request) (view, error) {
	return view{page: "today", title: "Today", live: "view=today", load: s.loadToday}, nil
}

func (s frontPage) loadToday(ctx context.Context, only map[string]bool) ([]group, error) {
	loaders := []struct {
		name string
		load func(ctx context.Context) ([]part, error)
	}{
		{"health", s.healthParts}, {"totals", s.totalParts}, {"workflows", s.workflowParts}, {"runs", runPages(s).runParts}, {"imports", importPages(s).importParts},
	}
	var groups []group
	for _, l := range loaders {
		if len(only) > 0 && !only[l.name] {
			continue
		}
		parts, err := l.load(ctx)
		if err != nil {
			return nil, err
		}
		groups = append(groups, group{l.name, parts})
	}
	return groups, nil
}

func (s frontPage) healthParts(ctx context.Context) ([]part, error) {
	if s.site.cfg.Health == nil {
		return nil, nil
	}
	var parts []part
	for _, c := range s.site.cfg.Health(ctx) {
		sign := map[State]pill{StateOK: {"good", "✓", "fine"}, StateWarning: {"warn", "!", "degraded"}, StateProblem: {"bad", "✕", "problem"}}[c.State]
		p, err := s.site.pages.part("health", c.Name, "check "+sign.Class, "health", map[string]any{"Check": c, "Pill": sign})
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// workflowRow is a workflow on the first page.
type workflowRow struct {
	Name, Description, File string
	Mode                    pill // on, off, by hand, paused, invalid
	Paused                  string
	Triggers                []string
	Next                    []stamp
	Zone                    string
	Last                    *runRow
	Diagnostics             []diag.Diagnostic
	Errors, Warnings        int
	CanRun, NeedsFile       bool
}

func (s frontPage) workflowParts(ctx context.Context) ([]part, error) {
	list, err := s.site.cfg.Workflows(ctx)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, w := range list {
		p, err := s.site.pages.part("workflows", w.Name, "card", "workflow", s.workflowRow(w))
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func (s frontPage) workflowRow(w engine.WorkflowStatus) workflowRow {
	row := workflowRow{
		Name: w.Name, Description: w.Description, File: w.File, Paused: w.Paused, Triggers: w.Triggers,
		Diagnostics: w.Diagnostics, CanRun: s.site.cfg.Starter != nil && w.Valid, NeedsFile: w.NeedsFile,
	}
	switch {
	case !w.Valid:
		row.Mode = pill{"bad", "✕", "cannot run"}
	case w.Paused != "":
		row.Mode = pill{"warn", "‖", "paused"}
	case len(w.Triggers) == 0:
		row.Mode = pill{"quiet", "○", "by hand"}
	case w.Enabled:
		row.Mode = pill{"good", "●", "on"}
	default:
		row.Mode = pill{"quiet", "○", "off"}
	}
	for _, d := range w.Diagnostics {
		switch d.Severity {
		case "error":
			row.Errors++
		case "warning":
			row.Warnings++
		}
	}
	for _, at := range w.Next[:min(len(w.Next), shownNext)] {
		row.Next = append(row.Next, when(at, s.site.cfg.Now(), at.Location()))
	}
	if len(w.Next) > 0 {
		row.Zone = zoneName(w.Next[0], s.site.cfg.Zone)
	}
	if w.Last != nil {
		last := runPages(s).runRow(*w.Last)
		row.Last = &last
	}
	return row
}

// zoneName names the zone of a time when it is not the page's own.
func zoneName(t time.Time, own *time.Location) string {
	name := t.Location().String()
	_, theirs := t.Zone()
	_, ours := t.In(own).Zone()
	if theirs == ours || name == "Local" {
		return ""
	}
	return name
}
