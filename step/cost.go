package step

import (
	"maps"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/metered"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/parts"
)

// Pricing returns the model's price.
func (m Model) Pricing() metered.Pricing { return metered.Pricing{Own: m.Price, Dearest: m.Dearest} }

// Budgets calculates what steps may send and spend.
type Budgets struct {
	Budget policy.Budget // of the settings
	Zone   string        // of the vault
	Ledger cost.Ledger
	Now    func() time.Time
}

// Of returns the step's budget: its own on top of the workflow's on top of the settings'. A cap that bounds a step elsewhere
// bounds the whole run in the frontmatter. Parts of documents fit by default.
func (b Budgets) Of(s Context) (policy.Budget, CallLimits, error) {
	limits := maps.Clone(s.Plan.Meta.Budget.Limits)
	for _, key := range []string{"max_cost_usd", "max_total_tokens"} {
		if v, set := limits[key]; set {
			limits[key+"_per_run"] = v
			delete(limits, key)
		}
	}
	budget, err := b.Budget.Merge(policy.Overlay{From: "workflow", Limits: limits, WhenExceeded: s.Plan.Meta.Budget.WhenExceeded})
	if own := s.Step.Budget; own != nil && err == nil {
		budget, err = budget.Merge(policy.Overlay{From: "step", Limits: own.Limits, WhenExceeded: own.WhenExceeded})
	}
	if err != nil {
		return budget, CallLimits{}, failure.New(failure.InvalidWorkflow, "", "%s: budget: %v", s.Plan.File, err)
	}
	if each := s.Step.ForEach; each != nil && each.Parts != "" {
		budget = budget.Widened(parts.Longest(each.Size()))
	}
	return budget, CallLimits{ToolImages: budget.MaxToolImages, StepImages: budget.MaxStepImages}, nil
}

// whose returns the reservation of a step's calls, without an estimate. Its caps are those of the pinned plan and of the current
// settings.
func (b Budgets) whose(s Context, ref engine.StepRef, model Model) (cost.Reservation, error) {
	budget, _, err := b.Of(s)
	day := b.Zone
	if zone := s.Plan.Meta.Location(nil); zone != nil {
		day = zone.String()
	}
	caps := budget.Caps(b.Zone)
	caps.DayZone = day
	return cost.Reservation{Run: ref.Run, Workflow: s.Plan.Name, Step: ref.Index, Model: model.Alias, Caps: caps}, err
}

// metered returns a model's client that pays for its requests from the step's budgets. The cost of its answers is settled with
// the record of the call.
func (b Budgets) metered(s Context, ref engine.StepRef, model Model, stored Prompt) (*metered.Provider, error) {
	whose, err := b.whose(s, ref, model)
	return &metered.Provider{
		Client: model.Client, Ledger: b.Ledger, Whose: whose, Price: model.Pricing(), Now: b.Now, Later: true, Meter: meterOf(model, stored),
	}, err
}

// meterOf returns the meter that estimates requests to a model.
func meterOf(model Model, stored Prompt) llm.Meter {
	m := model.Meter()
	m.MaxSide = stored.Media.MaxSide
	return m
}

// Meter returns the meter of requests whose pictures are sent as they are.
func (m Model) Meter() llm.Meter { return llm.Meter{Formula: m.RequestLimits().Tokens} }
