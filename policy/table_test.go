package policy

import (
	"slices"
	"testing"
	"time"
)

// Every row says where it comes from, in a form that a person can check again, and can be reached.
func TestTables_areDatedAndReachable(t *testing.T) {
	t.Parallel()
	check := func(i int, m match) {
		if err := m.check(); err != nil {
			t.Errorf("row %d: %v", i, err)
		}
		if _, err := time.Parse("2006-01", m.Checked); err != nil {
			t.Errorf("row %d %v: checked: %v", i, m.Model, err)
		}
	}
	all := AllCapabilities()
	for i, row := range modelRows() {
		check(i, row.match)
		for _, f := range row.Flags {
			if !slices.Contains(all, f) {
				t.Errorf("row %d %v: unknown flag %q", i, row.Model, f)
			}
		}
	}
	formulas := []Formula{FormulaAnthropic, FormulaAnthropicLarge, FormulaOpenAITiles, FormulaOpenAIPatches, FormulaGemini, FormulaDefault}
	for i, row := range limitRows() {
		check(i, row.match)
		if !slices.Contains(formulas, row.Tokens) {
			t.Errorf("row %d %v: unknown formula %q", i, row.Provider, row.Tokens)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider, model string
		images          int
		imageBytes      int64
		tokens          Formula
	}{
		{"anthropic", "claude-sonnet-4-5", 100, 7_864_320, FormulaAnthropic},
		{"anthropic", "claude-3-5-sonnet-20241022", 100, 7_864_320, FormulaAnthropic},
		{"anthropic", "claude-opus-4-7", 100, 7_864_320, FormulaAnthropicLarge},
		{"vertex", "claude-sonnet-4@20250514", 100, 3_932_160, FormulaAnthropic},
		{"bedrock", "anthropic.claude-3-sonnet", 20, 3_932_160, FormulaAnthropic},
		{"openai", "gpt-4o", 500, 15_728_640, FormulaOpenAITiles},
		{"openai", "gpt-5-mini", 500, 15_728_640, FormulaOpenAIPatches},
		{"google", "gemini-2.5-pro", 3000, 0, FormulaGemini},
		{"groq", "llama-4-scout", 5, 3_145_728, FormulaDefault},
		{"mistral", "pixtral-12b", 8, 10_485_760, FormulaDefault},
		{"ollama", "llava", 0, 0, FormulaDefault},
		{"nobody", "x", 0, 0, FormulaDefault},
	} {
		l := Limits(c.provider, c.model)
		if l.MaxImages != c.images || l.MaxImageBytes != c.imageBytes || l.Tokens != c.tokens {
			t.Errorf("%s %s: got %d images of %d bytes by %s, want %d of %d by %s", c.provider, c.model, l.MaxImages, l.MaxImageBytes, l.Tokens, c.images, c.imageBytes, c.tokens)
		}
	}
}
