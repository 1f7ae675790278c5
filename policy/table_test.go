package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

func TestLimits_ownOnesStandInTheirPlace(t *testing.T) {
	t.Parallel()
	published := Limits("anthropic", "claude-sonnet-4-5")
	if diff := cmp.Diff(published, published.With(OwnLimits{})); diff != "" {
		t.Errorf("nothing was said, and changed (-want +got):\n%s", diff)
	}
	want := published
	want.MaxImages, want.MaxImageBytes, want.MaxSide, want.MaxPixels = 7, 6<<20, 3000, 1000 // 8 MB of base64
	want.MaxRequest, want.MaxPDFPages, want.MaxPDFBytes, want.ManyImages, want.ManySide = 48<<20, 600, 3<<20, 0, 0
	got := published.With(OwnLimits{MaxImages: 7, MaxImageMB: 8, MaxSide: 3000, MaxPixels: 1000, MaxRequestMB: 64, MaxPDFPages: 600, MaxPDFMB: 4})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("own limits (-want +got):\n%s", diff)
	}
	if own := published.With(OwnLimits{MaxImages: 50}); own.ManySide != published.ManySide {
		t.Error("the side that holds for many pictures went away with their number")
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
		{"anthropic", "claude-opus-4-7", 600, 7_864_320, FormulaAnthropicLarge},
		{"anthropic", "claude-sonnet-5-5", 600, 7_864_320, FormulaAnthropicLarge},
		{"vertex", "claude-sonnet-5-5", 100, 3_932_160, FormulaAnthropicLarge},
		{"bedrock", "us.anthropic.claude-sonnet-5-5", 20, 3_932_160, FormulaAnthropicLarge},
		{"openrouter", "anthropic/claude-sonnet-5.5", 20, 3_932_160, FormulaAnthropicLarge},
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
