package modelset

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/workflow"
)

func newSet(t *testing.T, s *settings.Settings) *Set {
	t.Helper()
	return New(s, slog.New(slog.DiscardHandler), t.TempDir(), NewServices(), func(string) error { return nil })
}

func TestRetirement_days(t *testing.T) {
	t.Parallel()
	for _, row := range retirements {
		if _, err := time.Parse(time.DateOnly, row.day); err != nil || row.successor == "" || row.source == "" || slices.Contains(row.models, row.successor) {
			t.Errorf("%v: %v", row, err)
		}
	}
	r := Retirement{"claude-sonnet-4-5", "2026-11-30", "claude-sonnet-5-5", "a page", "2026-11"}
	for day, want := range map[string]string{
		"2026-11-29": "claude-sonnet-4-5 is retired on 30 November 2026 (a page, 2026-11); the recommended successor is claude-sonnet-5-5",
		"2026-11-30": "claude-sonnet-4-5 was retired on 30 November 2026: its service answers no more (a page, 2026-11); the recommended successor is claude-sonnet-5-5",
	} {
		now, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Text(now); got != want {
			t.Errorf("on %s: %q, want %q", day, got, want)
		}
	}
}

// Nothing that ships is said to be retired without need: an alias counts if the user set it up, runs it by default, or names it in a workflow.
func TestRetiring(t *testing.T) {
	t.Parallel()
	with := func(models ...directives.Model) []workflow.Loaded {
		var plan workflow.Plan
		for _, m := range models {
			var step workflow.Step
			step.Model = &m
			plan.Steps = append(plan.Steps, step)
		}
		return []workflow.Loaded{{Plan: &plan}}
	}
	of := func(alias string) []workflow.Loaded { return with(directives.Model{Alias: alias}) }
	if got := newSet(t, settings.Defaults()).Retiring(of("sonnet")); len(got) != 0 {
		t.Errorf("built-in aliases that nobody uses, or whose model stays: %v", got)
	}
	if got := newSet(t, settings.Defaults()).Retiring(of("gpt")); !slices.Equal(got, []string{"gpt"}) {
		t.Errorf("a built-in alias that a workflow names: %v", got)
	}
	if got := newSet(t, settings.Defaults()).Retiring(with(directives.Model{Alias: "offline", Fallback: "gpt"})); !slices.Equal(got, []string{"gpt"}) {
		t.Errorf("a fallback: %v", got)
	}
	s := settings.Defaults()
	s.Models.Aliases["mine"] = settings.Alias{Provider: "anthropic", Model: "claude-sonnet-4-5-20250929"}
	s.Models.Aliases["cloud"] = settings.Alias{Provider: "bedrock", Model: "claude-sonnet-4-5"}
	s.Models.Default = "mine"
	m := newSet(t, s)
	if got := m.Retiring(of("cloud")); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("aliases of the user: %v", got)
	}
	want := &Retirement{"claude-sonnet-4-5-20250929", "2026-11-30", "claude-sonnet-5-5", anthropicRetires, "2026-11"}
	if diff := cmp.Diff(want, m.Retirement("mine")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
