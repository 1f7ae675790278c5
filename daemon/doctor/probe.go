package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/metered"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step"
)

// The call that tests a provider. A few services refuse a limit on the answer below 16 tokens.
const (
	probeText   = "Reply with the word ok."
	probeTokens = 16
	probeTime   = 30 * time.Second
)

// probe sends a provider one tiny call, to the cheapest of its models, unless something forbids it. found is what is known without. sent
// reports whether the call was sent.
func probe(ctx context.Context, a *daemon.Workspace, name string, found Finding) (_ Finding, sent bool) {
	if found.State != "ok" {
		found.Message += "; nothing was sent"
		return found, false
	}
	alias := cheapest(a, name)
	model, err := a.Models.Model(ctx, alias)
	if err == nil {
		err = refusal(ctx, a, model, probeRequest(model))
	}
	if err != nil {
		return Finding{Subject: name, State: "warning", Message: "nothing was sent: " + err.Error()}, false
	}
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	answer, err := model.Client.Generate(limited, probeRequest(model), nil)
	if err != nil && ctx.Err() != nil {
		return Finding{Subject: name, State: "warning", Message: fmt.Sprintf("%s (%s) was asked, and had not answered when you stopped; the call may be paid", alias, model.ID)}, true
	}
	if err != nil {
		return Finding{
			Subject: name, State: "problem", Message: fmt.Sprintf("%s (%s) did not answer: %v", alias, model.ID, err),
			Fix: "correct the key, the address or the model of the alias " + alias,
		}, true
	}
	found.Message += fmt.Sprintf("; %s (%s) answered, %s", alias, cmp.Or(answer.Model, model.ID), costOf(answer.Usage))
	return found, true
}

func probeRequest(m step.Model) llm.Request {
	return llm.Request{
		Model: m.ID, ContextWindow: m.ContextWindow, MaxOutputTokens: probeTokens,
		Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Text{Value: probeText}}}},
	}
}

func costOf(u cost.Usage) string {
	tokens := fmt.Sprintf("%d tokens in, %d out", u.InputTokens, u.OutputTokens)
	if u.CostUnknown {
		return tokens + ", at an unknown price"
	}
	return fmt.Sprintf("%s, $%.6f", tokens, u.CostUSD)
}

// cheapest returns the alias of a provider's model with the lowest price. One without a known price comes last.
func cheapest(a *daemon.Workspace, provider string) string {
	names := slices.DeleteFunc(a.Settings.AliasNames(), func(name string) bool {
		alias, _, _ := a.Settings.Alias(name)
		return alias.Provider != provider
	})
	price := func(alias string) float64 {
		if p := a.Models.Price(alias).Amounts; p != nil {
			return p.Input + p.Output
		}
		return 1e9
	}
	return slices.MinFunc(names, func(x, y string) int { return cmp.Compare(price(x), price(y)) })
}

// refusal returns why a cap forbids a request, or nil. Nothing is reserved: a doctor does not write.
func refusal(ctx context.Context, a *daemon.Workspace, model step.Model, request llm.Request) error {
	limits, exceeded := a.Settings.BudgetOverlay()
	budget, err := policy.DefaultBudget().Merge(policy.Overlay{From: "settings", Limits: limits, WhenExceeded: exceeded})
	if err != nil {
		return err
	}
	caps := budget.Caps(a.Zone.String())
	caps.Day = cost.Amount{} // of a workflow
	paid := metered.Provider{Whose: cost.Reservation{Run: "doctor", Step: -1, Model: model.Alias, Caps: caps}, Price: model.Pricing(), Meter: model.Meter()}
	whose := paid.Reservation(request)
	states, err := caps.States(time.Now())
	if err != nil {
		return err
	}
	err = a.Reading(ctx, func(j *journal.Journal) (err error) {
		states, err = j.Spending.CapStates(ctx, whose, time.Now())
		return err
	})
	if err != nil && !errors.Is(err, daemon.ErrNothingRun) {
		return err
	}
	for _, c := range states {
		if over := c.Refuses(whose); over != nil {
			return over
		}
	}
	return nil
}
