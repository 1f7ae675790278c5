package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/directives"
)

// World is what [Check] needs to know about the world outside the file. Zero fields switch their checks off.
type World struct {
	Now       time.Time
	Zone      *time.Location // of workflows that name none
	Models    []string       // aliases in the settings
	ImportDir string         // the inbox, where no output may go
}

// Check reports what depends on the world: dates that have passed or that the clock skips, unknown models, and outputs
// that the settings or the workflow's permissions refuse.
func Check(p *Plan, w World) []directives.Diagnostic {
	c := checker{plan: p, world: w}
	c.dates()
	c.models()
	c.outputs()
	return directives.Sort(c.list)
}

type checker struct {
	plan  *Plan
	world World
	list  []directives.Diagnostic
}

func (c *checker) dates() {
	loc := c.plan.Meta.Location(c.world.Zone)
	if loc == nil {
		return
	}
	if c.plan.Meta.Timezone == "" {
		c.list = append(c.list, noSuchTimes(c.plan.Meta.Schedules, loc)...)
	}
	for _, s := range c.plan.Meta.Schedules {
		at, err := s.Moment(loc)
		if s.Kind == KindOnce && err == nil && !c.world.Now.IsZero() && !at.After(c.world.Now) {
			c.list = append(c.list, directives.At(s.Pos, directives.CodeOncePast, "set a later date, or run it by hand",
				"%s has passed: the schedule does not fire any more", at.Format("2006-01-02 15:04 MST")))
		}
	}
}

func (c *checker) models() {
	if c.world.Models == nil {
		return
	}
	c.model(c.plan.Meta.Model, c.plan.Meta.ModelAt)
	for _, s := range c.plan.Steps {
		if s.Model != nil {
			c.model(s.Model.Alias, s.Model.At)
			c.model(s.Model.Fallback, s.Model.FallbackAt)
		}
	}
}

func (c *checker) model(alias string, at Position) {
	known := slices.ContainsFunc(c.world.Models, func(m string) bool { return strings.EqualFold(m, alias) })
	if alias == "" || known {
		return
	}
	suggestion := hint(alias, c.world.Models)
	if suggestion == "" && len(c.world.Models) > 0 {
		suggestion = "known are " + strings.Join(c.world.Models, ", ")
	}
	c.list = append(c.list, directives.At(at, directives.CodeUnknownModel, suggestion, "the model %q is not in the settings", alias))
}

// outputs tries every file output with the facts of a made-up run.
func (c *checker) outputs() {
	now := c.world.Now
	if now.IsZero() {
		now = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	}
	for _, s := range c.plan.Steps {
		env := directives.OutputEnv{
			Facts:     directives.Facts{Now: now, WeekStart: c.plan.Meta.WeekStartDay(), Workflow: c.plan.Name, Step: s.Name, Run: "run"},
			ImportDir: c.world.ImportDir, MayWrite: c.plan.Meta.Permissions.MayWrite,
		}
		for _, out := range s.fileOutputs() {
			if _, err := out.Name(env); err != nil && !out.Target.Link {
				c.list = append(c.list, asDiagnostic(err, out.Target.At))
			}
		}
	}
}

// fileOutputs lists what a step writes to files, routed inputs included.
func (s Step) fileOutputs() []directives.Output {
	var list []directives.Output
	for _, out := range s.Outputs {
		if out.Target.Scheme == directives.SchemeFile {
			list = append(list, out)
		}
	}
	for _, in := range s.Inputs {
		if in.Route != nil && in.Route.To == directives.RouteFile {
			list = append(list, in.Route.Output(in.At))
		}
	}
	return list
}

func asDiagnostic(err error, at Position) directives.Diagnostic {
	if d, ok := err.(directives.Diagnostic); ok { //nolint:errorlint // Name returns it unwrapped
		return d
	}
	return directives.At(at, directives.CodeDirectiveValue, "", "%s", fmt.Sprint(err))
}
