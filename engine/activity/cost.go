package activity

import (
	"strconv"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// boundedOutput is the length of an answer, in tokens, that a call under max_cost_usd may have when nothing says how long
// it may be: without a bound there would be no cost to promise.
const boundedOutput = 8192

// bill is what a call may cost under a bound; nil bounds nothing.
type bill struct {
	call    float64 // the most that it should cost
	guessed bool    // the model's own price is not known
}

// afford refuses a call that might pass max_cost_usd of its step or run, before any money is spent: the estimate of the
// prompt and the longest answer, on top of what was spent and what batches beside this one spend. It bounds the answer's
// length when nothing else does. What it reserves is to be settled after the call.
func (w *Workflow) afford(model Model, request *llm.Request, stored storedPrompt, in engine.GenerateIn, parallel int) (*bill, error) {
	b, err := billOf(model, request, stored)
	if b == nil || err != nil {
		return nil, err
	}
	spent := in.SpentUSD
	if b.guessed { // what earlier calls have cost is not known either: none was dearer than this one
		spent = max(spent, b.call*float64(len(in.Turns)))
	}
	limits := stored.Limits
	err = w.spending.reserve(in.StepRef, parallel, b.call, func(others float64) error {
		before := spent + others
		switch {
		case limits.StepUSD > 0 && before+b.call > limits.StepUSD:
			return tooDear("step", before, b.call, limits.StepUSD)
		case limits.RunUSD > 0 && in.RunUSD+before+b.call > limits.RunUSD:
			return tooDear("run", in.RunUSD+before, b.call, limits.RunUSD)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// settle counts what a call has cost, and says it. A failed one counts what its provider said that it charged: nil is
// nothing.
func (w *Workflow) settle(ref engine.StepRef, b *bill, usage *llm.Usage) float64 {
	if b == nil {
		return 0
	}
	cost := 0.0
	if usage != nil {
		cost = usage.CostUSD
		if b.guessed || usage.CostUnknown {
			cost = b.call
		}
	}
	w.spending.settle(ref, b.call, cost)
	return cost
}

// billOf estimates a call. It is nil when nothing bounds the costs, and an error when no price is known at all.
func billOf(model Model, request *llm.Request, stored storedPrompt) (*bill, error) {
	if stored.Limits.StepUSD == 0 && stored.Limits.RunUSD == 0 {
		return nil, nil //nolint:nilnil // no bound, no bill
	}
	price := model.Price
	if price == nil {
		price = model.Dearest
	}
	if price == nil {
		return nil, engine.Fail(engine.CodeBudget, "give the alias a price in the settings, price: {input: 3, output: 15}; zeros for a model that costs nothing",
			"max_cost_usd is set, and no price is known for the model %s", model.Alias)
	}
	if request.MaxOutputTokens == 0 {
		request.MaxOutputTokens = boundedOutput
	}
	return &bill{call: callCost(*price, *request, stored.Tokens), guessed: model.Price == nil}, nil
}

func tooDear(whose string, spent, call, limit float64) error {
	return engine.Fail(engine.CodeBudget, "raise max_cost_usd, send less, or bound the answer with max_output_tokens",
		"the call may cost up to $%s; with $%s spent before, the %s would pass its max_cost_usd of $%s", usd(call), usd(spent), whose, usd(limit))
}

func usd(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// callCost is the most that a call should cost, in US dollars.
func callCost(price llm.Price, request llm.Request, promptTokens int) float64 {
	input, output := promptTokens, request.MaxOutputTokens+thinkingTokens(request.Thinking)
	for _, m := range request.Messages[1:] {
		for _, b := range m.Blocks {
			input += blockTokens(b)
		}
	}
	return (float64(input)*max(price.Input, price.CacheWrite) + float64(output)*price.Output) / 1e6
}

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

func blockTokens(b content.Block) int {
	switch b := b.(type) {
	case content.Image:
		return policy.FormulaAnthropicLarge.ImageTokens(b.Width, b.Height)
	case content.Document:
		return max(b.Pages, 1) * policy.PageTokens
	case content.ToolResult:
		tokens := policy.TextTokens(b.Output) + policy.TextTokens(b.Error)
		for _, inner := range b.Blocks {
			tokens += blockTokens(inner)
		}
		return tokens
	}
	return policy.TextTokens(b.Text())
}
