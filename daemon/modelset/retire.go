package modelset

import (
	"fmt"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/workflow"
)

// Retirement is the day from which a service no longer answers for a model, and who says so.
type Retirement struct {
	Model     string
	Day       string // 2026-11-30
	Successor string // as the service recommends it
	Source    string
	Checked   string // the month when the source was read
}

const (
	anthropicRetires = "platform.claude.com, model deprecations page"
	openaiRetires    = "developers.openai.com, deprecations page"
	quoted           = ", as others quote it"
)

// retirements are announced for the services' own addresses; clouds have their own days.
var retirements = []struct {
	vendor
	models         []string // with their dated names
	day, successor string
	source         string
}{
	{anthropicAPI, []string{"claude-sonnet-4-5", "claude-sonnet-4-5-20250929"}, "2026-11-30", "claude-sonnet-5-5", anthropicRetires},
	{openaiAPI, []string{"gpt-5", "gpt-5-2025-08-07"}, "2026-12-11", "gpt-6.1-sol", openaiRetires},
	{openaiAPI, []string{"gpt-5-mini", "gpt-5-mini-2025-08-07"}, "2026-12-11", "gpt-6.1-terra", openaiRetires},
	{openaiAPI, []string{"gpt-4.1", "gpt-4.1-2025-04-14", "gpt-4.1-mini", "gpt-4.1-mini-2025-04-14"}, "2027-01-14", "gpt-6-luna", openaiRetires + quoted},
	{openaiAPI, []string{"gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20", "gpt-4o-mini", "gpt-4o-mini-2024-07-18"}, "2027-01-14", "gpt-6-luna", openaiRetires + quoted},
}

// Retirement returns what was announced for the model of an alias, also one that waits; nil if nothing is known.
func (m *Set) Retirement(alias string) *Retirement {
	a, p, _ := m.settings.Meant(alias)
	for _, row := range retirements {
		if row.is(p) && slices.Contains(row.models, a.Model) {
			return &Retirement{a.Model, row.day, row.successor, row.source, "2026-11"}
		}
	}
	return nil
}

// Text returns the announcement as of a moment, with what to do.
func (r Retirement) Text(now time.Time) string {
	day, err := time.Parse(time.DateOnly, r.Day)
	if err != nil { // cannot happen: a test reads all days
		return ""
	}
	says := fmt.Sprintf("%s is retired on %s", r.Model, day.Format("2 January 2006"))
	if now.UTC().Format(time.DateOnly) >= r.Day {
		says = fmt.Sprintf("%s was retired on %s: its service answers no more", r.Model, day.Format("2 January 2006"))
	}
	return fmt.Sprintf("%s (%s, %s); the recommended successor is %s", says, r.Source, r.Checked, r.Successor)
}

// Retiring returns the aliases that matter here and whose model has a day of retirement: the default, those that the user set up,
// and those that a workflow names.
func (m *Set) Retiring(workflows []workflow.Loaded) []string {
	standard, named := m.settings.Models.Default, map[string]bool{}
	for _, l := range workflows {
		for _, s := range l.Plan.Steps {
			named[l.Plan.Alias(s, standard)] = true
			if s.Model != nil {
				named[s.Model.Fallback] = true
			}
		}
	}
	return slices.DeleteFunc(m.settings.MeantNames(), func(alias string) bool {
		return !named[alias] && !m.IsWanted(alias) || m.Retirement(alias) == nil
	})
}

// IsWanted reports whether the user set an alias up or made it the default. A built-in one that nobody uses is not missed.
func (m *Set) IsWanted(alias string) bool {
	return alias == m.settings.Models.Default || m.settings.Origin("models.aliases."+alias).Source != settings.SourceDefault
}
