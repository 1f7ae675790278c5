package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

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
	Runs          string        `json:"runs,omitempty"`             // each or together; empty: see [Meta.Each]
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

// What files that arrive together start.
const (
	RunsEach     = "each"     // one run each
	RunsTogether = "together" // one run about all of them
)

// Each reports whether files that arrive together start one run each. Without a word about it imports do, and changed files start
// one run.
func (m Meta) Each(imported bool) bool { return m.Runs == RunsEach || m.Runs == "" && imported }

// OnImport selects the finished imports that fire the workflow. Without globs each one does.
type OnImport struct {
	Globs []string `json:"globs,omitempty"` // of source names; or a word, which such a name has
}

// Fires reports whether importing a source fires the workflow. The globs are matched against the whole name and its last
// part, so `*.pdf` means PDFs in any folder. A word belongs to the last part. Case does not matter: nobody chooses it in
// the names of what they drop.
func (o *OnImport) Fires(source string) bool {
	if o == nil || len(o.Globs) == 0 {
		return o != nil
	}
	name := strings.ToLower(source)
	return slices.ContainsFunc(o.Globs, func(glob string) bool {
		if isWord(glob) && hasWord(lastPart(source), glob) {
			return true
		}
		glob = strings.ToLower(glob)
		return doublestar.MatchUnvalidated(glob, name) || doublestar.MatchUnvalidated(glob, lastPart(name))
	})
}

// isWord reports whether a glob is a word or several, such as `meeting` or `board meeting`.
func isWord(glob string) bool {
	return !strings.ContainsFunc(glob, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != ' ' })
}

// hasWord reports whether a name has a word in any case: not as a part of a longer word, as "greeting card" has "eeting". Digits and
// a capital behind a small letter end a word, so "TeamMeeting2" has "meeting".
func hasWord(name, word string) bool {
	in, of := []rune(norm.NFC.String(name)), []rune(norm.NFC.String(word))
	letter := func(i int) bool { return i >= 0 && i < len(in) && unicode.IsLetter(in[i]) }
	ends := func(i int) bool { // before the i-th letter
		return !letter(i-1) || !letter(i) || unicode.IsLower(in[i-1]) && unicode.IsUpper(in[i])
	}
	for i := range len(in) - len(of) + 1 {
		if strings.EqualFold(string(in[i:i+len(of)]), string(of)) && ends(i) && ends(i+len(of)) {
			return true
		}
	}
	return false
}

// Watches reports whether a change of a file fires the workflow. As in on_import, case does not matter: cameras and phones choose it.
func (m Meta) Watches(name string) bool {
	return slices.ContainsFunc(m.Watch, func(glob string) bool {
		return doublestar.MatchUnvalidated(glob, name) || doublestar.MatchUnvalidated(strings.ToLower(glob), strings.ToLower(name))
	})
}

// Step is one section that is not instructions.
type Step struct {
	Name       string `json:"name"`
	Line       int    `json:"line"`        // of the heading
	PromptLine int    `json:"prompt_line"` // of the first line of the prompt text; 0 without one
	Prompt     string `json:"prompt"`      // without blank lines at its ends, with \n line ends
	directives.Set
}

// none reports whether a step calls no model.
func (s Step) none() bool { return s.Model != nil && s.Model.None }

// NeedsFile reports whether a step is about the file that starts the run: it reads it, or says its name.
func (s Step) NeedsFile() bool {
	return s.NamesFile() || slices.ContainsFunc(s.targets(), func(t directives.Target) bool { return t.Scheme == directives.SchemeTrigger })
}

// NamesFile reports whether a step has a pattern such as {trigger-title}, which means one file.
func (s Step) NamesFile() bool {
	return directives.MentionsTrigger(s.Header) || directives.MentionsTrigger(s.Prompt) ||
		s.Move != nil && s.Move.Source.Scheme == directives.SchemeTrigger ||
		slices.ContainsFunc(s.targets(), func(t directives.Target) bool { return !t.Literal && directives.MentionsTrigger(t.Path) })
}

// targets lists everything that a step reads, tests or writes.
func (s Step) targets() []directives.Target {
	list := s.read()
	routed := func(r *directives.Route) {
		if r != nil && r.Target != nil {
			list = append(list, *r.Target)
		}
	}
	for _, in := range s.Inputs {
		routed(in.Route)
	}
	for _, out := range s.Outputs {
		list = append(list, out.Target)
	}
	for _, when := range s.When {
		list = append(list, when.Target)
	}
	if s.Move != nil {
		list = append(list, s.Move.Source, s.Move.To)
	}
	for _, use := range s.toolUses() {
		routed(use.Route)
	}
	return list
}

// NeedsFile reports whether one of the chosen steps is about the file that starts the run; no names mean all steps.
func (p Plan) NeedsFile(chosen []string) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		return s.chosen(chosen) && s.NeedsFile()
	})
}

// ReadsFile reports whether one of the chosen steps uses the file that starts the run, or has a model that can look at it.
func (p Plan) ReadsFile(chosen []string) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.chosen(chosen) && (s.NeedsFile() || s.looksAround()) })
}

// EachByHand reports whether several files named by hand start one run each.
func (p Plan) EachByHand() bool { return p.Meta.Each(p.Meta.OnImport != nil) }

// FileFault returns the reason why a run of the chosen steps cannot be about this number of files; empty if it can.
func (p Plan) FileFault(chosen []string, files int) string {
	switch {
	case files > 0 && !p.ReadsFile(chosen) && p.ReadsFile(nil):
		return fmt.Sprintf("the chosen steps of %s do not read the file that starts it: start them without a file", p.Name)
	case files > 0 && !p.ReadsFile(chosen):
		return fmt.Sprintf("%s does not read the file that starts it: add `@input trigger` to it, or start it without a file", p.Name)
	case files == 0 && p.NeedsFile(chosen):
		return fmt.Sprintf("%s works on a file: name the file that the run is to be about", p.Name)
	case files > 1 && p.EachByHand():
		return fmt.Sprintf("%s starts one run for each file: name one", p.Name)
	case files > 1 && slices.ContainsFunc(p.Steps, func(s Step) bool { return s.chosen(chosen) && s.NamesFile() }):
		return fmt.Sprintf("%s names one file, such as with {trigger}: name one, or write @for_each trigger in it", p.Name)
	}
	return ""
}

// chosen reports whether a step is among the chosen ones; no names mean all steps.
func (s Step) chosen(names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return sameName(s.Name, name) })
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

// RunsOthers reports whether a model may run other workflows.
func (p Plan) RunsOthers() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		return s.Tools != nil && (s.Tools.All || slices.ContainsFunc(s.Tools.Uses, func(u directives.ToolUse) bool { return u.Name == "run_workflow" }))
	})
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
