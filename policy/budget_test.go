package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/policy"
)

func merged(t *testing.T, overs ...policy.Overlay) policy.Budget {
	t.Helper()
	b := policy.DefaultBudget()
	for _, o := range overs {
		next, err := b.Merge(o)
		if err != nil {
			t.Fatal(err)
		}
		b = next
	}
	return b
}

func TestMerge_laterGoesBefore(t *testing.T) {
	t.Parallel()
	b := merged(
		t,
		policy.Overlay{From: "settings", Limits: map[string]float64{"max_images": 30, "max_total_mb": 50, "max_cost_usd": 1.5}},
		policy.Overlay{From: "workflow", Limits: map[string]float64{"max_images": 8}, WhenExceeded: "fail"},
		policy.Overlay{From: "step", Limits: map[string]float64{"max_image_mb": 0.5}},
	)
	want := policy.DefaultBudget()
	want.MaxImages, want.MaxTotalMB, want.MaxImageMB, want.MaxCostUSD, want.WhenExceeded = 8, 50, 0.5, 1.5, policy.Fail
	want.Origins = map[string]string{
		"max_images": "workflow", "max_total_mb": "settings", "max_image_mb": "step", "max_cost_usd": "settings", "when_exceeded": "workflow",
	}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWidened(t *testing.T) {
	t.Parallel()
	b := merged(t, policy.Overlay{From: "settings", Limits: map[string]float64{"max_images": 8}})
	wide := b.Widened(30)
	if wide.MaxImages != 8 || wide.MaxPages != 30 || wide.Origins["max_pages"] != "window" || b.Origins["max_pages"] != "" {
		t.Errorf("got %+v, and %v of the one before", wide, b.Origins)
	}
	if few := policy.DefaultBudget().Widened(1); !cmp.Equal(few, policy.DefaultBudget()) {
		t.Errorf("one page: %+v", few)
	}
}

func TestMerge_takesEveryKeyOfTheLanguage(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"max_images", "max_image_mb", "max_total_mb", "max_image_pixels", "min_image_side", "max_decode_pixels", "max_pages",
		"max_prompt_tokens", "max_tool_images", "max_step_images", "max_cost_usd",
	} {
		b := merged(t, policy.Overlay{From: "step", Limits: map[string]float64{key: 7}})
		if cmp.Equal(b, policy.DefaultBudget()) || b.Origins[key] != "step" {
			t.Errorf("%s changed nothing", key)
		}
	}
	for _, bad := range []policy.Overlay{
		{Limits: map[string]float64{"max_image": 1}}, {Limits: map[string]float64{"max_images": -1}}, {WhenExceeded: "explode"},
	} {
		if b, err := policy.DefaultBudget().Merge(bad); err == nil {
			t.Errorf("%v: got %v, want an error", bad, b)
		}
	}
}

func TestBound_smallerWinsAndSaysWho(t *testing.T) {
	t.Parallel()
	b := policy.DefaultBudget().Bound(policy.Limits("anthropic", "claude-sonnet-4-5"))
	if b.MaxImages != 20 || b.From["max_images"] != "default" {
		t.Errorf("max_images %d from %s", b.MaxImages, b.From["max_images"])
	}
	if b.MaxImageBytes != 3_932_160 || b.From["max_image_mb"] != "default" {
		t.Errorf("max_image_mb: %d bytes from %s, want 5 MB of base64", b.MaxImageBytes, b.From["max_image_mb"])
	}
	if b.MaxTotalBytes >= 24<<20 || b.MaxTotalBytes < 20<<20 || b.From["max_total_mb"] != "anthropic" {
		t.Errorf("max_total_mb: %d bytes from %s, want below 24 MB raw by anthropic", b.MaxTotalBytes, b.From["max_total_mb"])
	}
	if b.MaxPromptTokens != 160_000 || b.From["max_prompt_tokens"] != "anthropic" {
		t.Errorf("max_prompt_tokens %d from %s", b.MaxPromptTokens, b.From["max_prompt_tokens"])
	}

	groq := policy.DefaultBudget().Bound(policy.Limits("groq", "llama-4-scout"))
	if groq.MaxImages != 5 || groq.From["max_images"] != "groq" {
		t.Errorf("groq: max_images %d from %s", groq.MaxImages, groq.From["max_images"])
	}

	window := policy.DefaultBudget().Bound(policy.Limits("ollama", "llava").WithWindow(10_000))
	if window.MaxPromptTokens != 8000 || window.From["max_prompt_tokens"] != "context window" {
		t.Errorf("window: %d from %s", window.MaxPromptTokens, window.From["max_prompt_tokens"])
	}
	if window.MaxTotalBytes != 100<<20 || window.MaxImageBytes != 5<<20 {
		t.Errorf("ollama publishes nothing: %d, %d", window.MaxTotalBytes, window.MaxImageBytes)
	}
}

func TestBound_manyImagesAreSmaller(t *testing.T) {
	t.Parallel()
	big := map[string]float64{"max_image_pixels": 4000}
	l := policy.Limits("anthropic", "claude-sonnet-4-5")
	few := merged(t, policy.Overlay{From: "settings", Limits: big}).Bound(l)
	if few.MaxSide != 4000 {
		t.Errorf("20 images: side %d, want 4000", few.MaxSide)
	}
	big["max_images"] = 21
	many := merged(t, policy.Overlay{From: "settings", Limits: big}).Bound(l)
	if many.MaxSide != 2000 || many.From["max_image_pixels"] != "anthropic" {
		t.Errorf("21 images: side %d from %s, want 2000 from anthropic", many.MaxSide, many.From["max_image_pixels"])
	}
}

// The tokenizer of later Claude models makes more tokens of the same text: both the window and the user's own bound hold.
func TestBound_denserTokens(t *testing.T) {
	t.Parallel()
	l := policy.Limits("anthropic", "claude-sonnet-5-5")
	if l.ContextWindow != 1_000_000 || l.MaxPDFPages != 600 {
		t.Errorf("window %d, %d pages", l.ContextWindow, l.MaxPDFPages)
	}
	own := merged(t, policy.Overlay{From: "settings", Limits: map[string]float64{"max_prompt_tokens": 13_000}})
	for name, c := range map[string]struct{ got, most int }{
		"window": {policy.DefaultBudget().Bound(l).MaxPromptTokens, 800_000}, "settings": {own.Bound(l).MaxPromptTokens, 13_000},
	} {
		if n := l.Tokens.Text(c.got); n > c.most || n < c.most-13 {
			t.Errorf("%s: %d common tokens are %d of the model's, want at most %d", name, c.got, n, c.most)
		}
	}
	if n, m := policy.FormulaAnthropic.Text(100), policy.FormulaAnthropicLarge.Text(100); n != 100 || m != 130 {
		t.Errorf("an earlier model counts %d, a later one %d", n, m)
	}
}

func TestImageTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f          policy.Formula
		w, h, want int
	}{
		{policy.FormulaAnthropic, 750, 100, 100},
		{policy.FormulaAnthropic, 4032, 3024, 1600},
		{policy.FormulaAnthropicLarge, 4032, 3024, 4784},
		{policy.FormulaOpenAITiles, 512, 512, 255},
		{policy.FormulaOpenAITiles, 1024, 1024, 765},
		{policy.FormulaOpenAITiles, 4096, 2048, 1105},
		{policy.FormulaOpenAIPatches, 1024, 1024, 1024},
		{policy.FormulaOpenAIPatches, 4000, 4000, 1536},
		{policy.FormulaGemini, 300, 200, 258},
		{policy.FormulaGemini, 1536, 768, 516},
		{policy.FormulaDefault, 0, 0, 1399},
	} {
		if got := c.f.ImageTokens(c.w, c.h); got != c.want {
			t.Errorf("%s %dx%d: got %d, want %d", c.f, c.w, c.h, got, c.want)
		}
	}
}

// Every key of the language has its bound, and says who bound it.
func TestBound_everyKey(t *testing.T) {
	t.Parallel()
	over := policy.Overlay{From: "step", Limits: map[string]float64{
		"max_images": 200, "max_image_mb": 50, "max_total_mb": 900, "max_image_pixels": 9000, "min_image_side": 9, "max_decode_pixels": 5e6, "max_pages": 500,
		"max_prompt_tokens": 9e6, "max_tool_images": 300, "max_step_images": 7, "max_cost_usd": 0.5,
	}, WhenExceeded: "fail"}
	b := merged(t, over).Bound(policy.Limits("anthropic", "claude-sonnet-4-5"))
	want := map[string]string{
		"max_images": "anthropic", "max_image_mb": "anthropic", "max_total_mb": "anthropic", "max_image_pixels": "anthropic", "min_image_side": "step",
		"max_decode_pixels": "step", "max_pages": "anthropic", "max_prompt_tokens": "anthropic", "max_tool_images": "anthropic", "max_step_images": "step",
		"max_cost_usd": "step", "when_exceeded": "step",
	}
	for key, from := range want {
		if b.From[key] != from {
			t.Errorf("%s is bound by %q, want %q", key, b.From[key], from)
		}
	}
	if b.MaxPages != 100 || b.MaxToolImages != 100 || b.MaxStepImages != 7 || b.MaxCostUSD != 0.5 || b.RequestImages != 100 || b.MaxFileBytes == 0 {
		t.Errorf("bounds %+v", b)
	}
	none := merged(t, policy.Overlay{From: "settings", Limits: map[string]float64{"max_pages": 0, "max_tool_images": 0}}).Bound(policy.Limits("anthropic", "claude-sonnet-4-5"))
	if none.MaxPages != 0 || none.MaxToolImages != 0 {
		t.Errorf("zero pages became %d, zero images of tools %d", none.MaxPages, none.MaxToolImages)
	}
}
