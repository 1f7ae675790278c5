package workflow

import (
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Plan is a workflow, ready to run if its diagnostics contain no error.
type Plan struct {
	Name         string `json:"name"`                   // path below the workflows folder without .md, such as daily/plan
	File         string `json:"file"`                   // name of the note in the vault
	SHA256       string `json:"sha256"`                 // of the note's bytes, lower-case hex
	Meta         Meta   `json:"meta"`                   // frontmatter
	Instructions string `json:"instructions,omitempty"` // all instructions sections, joined by blank lines
	Steps        []Step `json:"steps"`

	// Fresh runs the workflow as if for the first time: without cached answers, and with nothing counted as processed. It
	// belongs to one run, not to the file.
	Fresh bool `json:"fresh,omitempty"`
}

// Meta is the frontmatter.
type Meta struct {
	Description   string        `json:"description,omitempty"`
	Enabled       bool          `json:"enabled"` // whether schedule, watch and on_import fire
	Schedules     []Schedule    `json:"schedules,omitempty"`
	Watch         []string      `json:"watch,omitempty"`     // globs
	OnImport      *OnImport     `json:"on_import,omitempty"` // nil: does not fire
	Timezone      string        `json:"timezone,omitempty"`  // IANA name; empty: the engine's
	WeekStart     string        `json:"week_start_day"`      // lower-case day name
	Model         string        `json:"model,omitempty"`     // alias for steps without @model; empty: the default
	ModelAt       Position      `json:"model_at,omitzero"`
	Overlap       string        `json:"overlap"`                    // skip, queue or replace
	CatchUp       string        `json:"catch_up"`                   // none, latest or all
	Timeout       time.Duration `json:"timeout,omitempty"`          // for the whole run; 0: the engine's
	MaxRunsPerDay int           `json:"max_runs_per_day,omitempty"` // 0: no limit
	Permissions   Permissions   `json:"permissions,omitzero"`
	Budget        Budget        `json:"budget,omitzero"`
}

// Position is a place in the workflow's note.
type Position = diag.Position

// Location returns the workflow's time zone, or the fallback if it names none.
func (m Meta) Location(fallback *time.Location) *time.Location {
	if loc, err := loadZone(m.Timezone); err == nil {
		return loc
	}
	return fallback
}

// WeekStartDay returns the first day of a week.
func (m Meta) WeekStartDay() time.Weekday {
	if day, ok := directives.Weekday(m.WeekStart); ok {
		return day
	}
	return time.Monday
}

// Triggered reports whether the workflow has any trigger, enabled or not.
func (m Meta) Triggered() bool { return len(m.Schedules) > 0 || len(m.Watch) > 0 || m.OnImport != nil }

// OnImport selects the finished imports that fire the workflow. Without globs each one does.
type OnImport struct {
	Globs []string `json:"globs,omitempty"` // of source names
}

// Fires reports whether importing a source fires the workflow. The globs are matched against the whole name and its last
// part, so `*.pdf` means PDFs in any folder.
func (o *OnImport) Fires(source string) bool {
	return o != nil && (len(o.Globs) == 0 || matchAny(o.Globs, source) || matchAny(o.Globs, lastPart(source)))
}

// Watches reports whether a change of a file fires the workflow.
func (m Meta) Watches(name string) bool { return matchAny(m.Watch, name) }

// Step is one section that is not instructions.
type Step struct {
	Name       string `json:"name"`
	Line       int    `json:"line"`        // of the heading
	PromptLine int    `json:"prompt_line"` // of the first line of the prompt text; 0 without one
	Prompt     string `json:"prompt"`      // without blank lines at its ends, with \n line ends
	directives.Set
}

// Alias returns the model alias of a step: its own, the workflow's, or the default. It is empty with `@model none`.
func (p Plan) Alias(s Step, standard string) string {
	switch {
	case s.Model != nil:
		return s.Model.Alias
	case p.Meta.Model != "":
		return p.Meta.Model
	}
	return standard
}

// Step returns the step with this name, ignoring case.
func (p Plan) Step(name string) (Step, bool) {
	for _, s := range p.Steps {
		if sameName(s.Name, name) {
			return s, true
		}
	}
	return Step{}, false
}
