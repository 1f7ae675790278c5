package metered

import (
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// What is reserved covers the reasoning of models that reason unasked, and their denser tokens.
func TestReservation_ofClaude55(t *testing.T) {
	t.Parallel()
	for model, c := range map[string]struct {
		formula       policy.Formula
		input, output int64
	}{
		"claude-sonnet-4-5": {policy.FormulaAnthropic, 100, 8192}, "claude-sonnet-5-5": {policy.FormulaAnthropicLarge, 130, 8192 + 10240},
	} {
		m := Provider{Meter: llm.Meter{Formula: c.formula}, Price: Pricing{Own: &cost.Price{Input: 2, Output: 10, CacheWrite: 2.5}}}
		text := content.Text{Value: string(make([]byte, 300))}
		got := m.Reservation(llm.Request{Model: model, Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{text}}}}).Estimate
		if want := (cost.Amount{USD: (float64(c.input)*2.5 + float64(c.output)*10) / 1e6, Tokens: c.input + c.output}); got != want {
			t.Errorf("%s: %+v, want %+v", model, got, want)
		}
	}
}
