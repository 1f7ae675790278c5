package step

import (
	"maps"
	"strconv"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// boundedOutput is the length of an answer, in tokens, that a call under a cap may have when nothing says how long it may be.
const boundedOutput = 8192

// Pricing is what a model costs. Where its own price is not known, it counts as the dearest one that is.
type Pricing struct {
	Own     *cost.Price // nil: not known
	Dearest *cost.Price // nil: none is known
	PerCall float64     // US dollars that each request costs besides, as for a page of text recognition
}

// Unknown says that there is no price to count with.
func (p Pricing) Unknown() bool { return p.Own == nil && p.Dearest == nil && p.PerCall == 0 }

func (p Pricing) price() cost.Price {
	switch {
	case p.Own != nil:
		return *p.Own
	case p.Dearest != nil && p.PerCall == 0:
		return *p.Dearest
	}
	return cost.Price{}
}

// estimate is the most that a request should cost. What the answer may hold is bounded by its length and the reasoning
// that was asked for.
func (p Pricing) estimate(input int, request llm.Request) cost.Amount {
	output := request.MaxOutputTokens
	if output == 0 {
		output = boundedOutput
	}
	if output += thinkingTokens(request.Thinking); p.PerCall > 0 {
		output = 0 // the page is what is paid
	}
	price := p.price()
	usd := float64(input)*max(price.Input, price.CacheWrite) + float64(output)*price.Output
	return cost.Amount{USD: usd/1e6 + p.PerCall, Tokens: int64(input + output)}
}

// answered is what an answer has cost: what the service says, the tokens that it reports at the price that counts, or the
// estimate.
func (p Pricing) answered(held pledge, u cost.Usage) cost.Settlement {
	tokens, price := u.InputTokens+u.OutputTokens, p.price()
	s := cost.Settlement{ID: held.ID, Cost: cost.Amount{USD: u.CostUSD, Tokens: int64(tokens)}}
	if tokens == 0 {
		s.Cost.Tokens = held.estimate.Tokens
	}
	switch free := p.Own != nil && price == (cost.Price{}) && p.PerCall == 0; {
	case !u.CostUnknown && (tokens > 0 || u.CostUSD > 0 || free):
	case tokens > 0:
		s.Cost.USD = u.Cost(price) + p.PerCall
	default:
		s.Cost.USD, s.Presumed = held.estimate.USD, true
	}
	return s
}

// failed is what a request has cost that was not answered: what the service says that it charged, nothing when it was
// refused or did not reach the service, and else the estimate, since the money may be gone.
func (p Pricing) failed(held pledge, err error) cost.Settlement {
	if e, ok := llm.AsError(err); ok && (e.Usage.InputTokens+e.Usage.OutputTokens > 0 || e.Usage.CostUSD > 0) {
		return p.answered(held, e.Usage)
	}
	if free(err) {
		return cost.Settlement{ID: held.ID}
	}
	return cost.Settlement{ID: held.ID, Cost: held.estimate, Presumed: true}
}

// Pricing is what the model costs.
func (m Model) Pricing() Pricing { return Pricing{Own: m.Price, Dearest: m.Dearest} }

// Budgets bounds what steps may send and spend.
type Budgets struct {
	Budget policy.Budget // of the settings
	Zone   string        // of the vault
	Ledger Ledger
	Now    func() time.Time
}

// Of is the step's budget: the settings', the workflow's and its own, one on top of the other. The caps that bound a
// step elsewhere bound the run in the frontmatter.
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
	return budget, CallLimits{ToolImages: budget.MaxToolImages, StepImages: budget.MaxStepImages}, nil
}

// whose says for whom a step's calls are made, and under which caps: those of the pinned plan, and of the settings as
// they are now.
func (b Budgets) whose(s Context, ref engine.StepRef, model Model) (cost.Reservation, error) {
	budget, _, err := b.Of(s)
	day := b.Zone
	if zone := s.Plan.Meta.Location(nil); zone != nil {
		day = zone.String()
	}
	caps := CapsOf(budget, b.Zone)
	caps.DayZone = day
	return cost.Reservation{Run: ref.Run, Workflow: s.Plan.Name, Step: ref.Index, Model: model.Alias, Caps: caps}, err
}

// CapsOf are the caps of a budget, with days and months of a zone.
func CapsOf(b policy.Budget, zone string) cost.Caps {
	return cost.Caps{
		Step: cost.Amount{USD: b.MaxCostUSD, Tokens: b.MaxTotalTokens},
		Run:  b.PerRun, Day: b.PerDay, Month: b.PerMonth, DayZone: zone, MonthZone: zone,
	}
}

// metered is a model's client whose requests are paid from the budgets of a step. What its answers have cost is to be
// settled with the record of the call.
func (b Budgets) metered(s Context, ref engine.StepRef, model Model, stored Prompt) (*Metered, error) {
	whose, err := b.whose(s, ref, model)
	return &Metered{
		Client: model.Client, Ledger: b.Ledger, Whose: whose, Price: model.Pricing(), Now: b.Now, Later: true, Meter: meterOf(model, stored),
	}, err
}

// meterOf estimates requests to a model.
func meterOf(model Model, stored Prompt) llm.Meter {
	m := model.Meter()
	m.MaxSide = stored.Media.MaxSide
	return m
}

// Meter estimates requests to the model whose pictures are sent as they are.
func (m Model) Meter() llm.Meter { return llm.Meter{Formula: m.RequestLimits().Tokens} }

// thinkingTokens is how much reasoning a setting may add to an answer.
func thinkingTokens(thinking string) int {
	switch thinking {
	case "", "off":
		return 0
	case "low":
		return 4096
	case "medium", "on":
		return 10240
	case "high":
		return 24576
	}
	n, err := strconv.Atoi(thinking)
	if err != nil || n < 0 {
		return 24576
	}
	return n
}
