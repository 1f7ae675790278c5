package activity

import (
	"context"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
)

// asking is one call of a model while it is at work.
type asking struct {
	*Workflow
	in       engine.GenerateIn
	model    Model
	stored   storedPrompt
	parallel int      // batches at work at once
	bill     *bill    // what was reserved; nil: nothing bounds the costs
	warnings []string // for the step
}

// sighted is a client that looks whether the model can have seen the media that it was sent, by the tokens that were counted.
// When not, the step warns, and their words are sent once where the costs allow it.
func (a *asking) sighted(ctx context.Context, client llm.Provider) llm.Provider {
	return llm.Sighted(client, llm.SightPolicy{
		Suspected: func(u llm.Unseen) {
			a.warnings = append(a.warnings, u.String())
			engine.Report(ctx, engine.Event{Kind: engine.EventUnseen, Message: u.String()})
		},
		Again: a.reserve,
	})
}

// reserve asks whether a further request of the same call fits the costs, and reserves them on top.
func (a *asking) reserve(next llm.Request, spent llm.Usage) error {
	if a.bill == nil {
		return nil
	}
	in, first := a.in, spent.CostUSD
	if a.bill.guessed || spent.CostUnknown {
		first = a.bill.call
	}
	in.SpentUSD += first
	more, err := a.afford(a.model, &next, a.stored, in, a.parallel)
	if err != nil {
		a.warnings = append(a.warnings, "its words were not sent: "+err.Error())
		return err
	}
	a.bill = &bill{call: a.bill.call + more.call, guessed: a.bill.guessed || more.guessed}
	return nil
}
