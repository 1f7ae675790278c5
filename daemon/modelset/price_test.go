package modelset

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/settings"
)

func TestPriceOf(t *testing.T) {
	t.Parallel()
	of := func(v float64) *float64 { return &v }
	at := func(kind, address string) settings.Provider {
		return settings.Provider{Kind: kind, BaseURL: settings.Address(address)}
	}
	sonnet, gpt := settings.Alias{Model: "claude-sonnet-5-5"}, settings.Alias{Model: "gpt-4.1"}
	own := sonnet
	own.Price = settings.Price{Input: of(1), Output: of(2), Cached: of(0.3), CacheWrite: of(3.75)}
	anthropic := at("anthropic", "https://api.anthropic.com")
	for name, c := range map[string]struct {
		alias settings.Alias
		at    settings.Provider
		want  *cost.Price
		from  string
	}{
		"another model":       {settings.Alias{Model: "claude-opus-9"}, anthropic, nil, ""},
		"another address":     {sonnet, at("anthropic", "https://api.anthropic.com.example"), nil, ""},
		"another service":     {sonnet, at("openrouter", "https://openrouter.ai/api/v1"), nil, ""},
		"a server of its own": {settings.Alias{Model: "qwen2.5vl:7b"}, at("ollama", "http://127.0.0.1:11434"), nil, ""},
		"the offline model":   {settings.Alias{Model: "offline"}, at("offline", ""), &cost.Price{}, "built in"},
		"sonnet":              {sonnet, anthropic, &cost.Price{Input: 2, Output: 10, Cached: 0.1, CacheWrite: 2.5}, "platform.claude.com, page of Claude Sonnet 5.5 2026-11"},
		"the former sonnet":   {settings.Alias{Model: "claude-sonnet-4-5"}, anthropic, &cost.Price{Input: 3, Output: 15, Cached: 0.3, CacheWrite: 3.75}, "platform.claude.com, pricing page 2026-11"},
		"gpt":                 {gpt, at("openai_chat", "https://api.openai.com/v1"), &cost.Price{Input: 2, Output: 8, Cached: 0.5}, "developers.openai.com, pricing page, as others quote it 2026-11"},
		"gpt of Responses":    {gpt, at("openai_responses", "https://api.openai.com/v1"), &cost.Price{Input: 2, Output: 8, Cached: 0.5}, "developers.openai.com, pricing page, as others quote it 2026-11"},
		"the user's":          {own, anthropic, &cost.Price{Input: 1, Output: 2, Cached: 0.3, CacheWrite: 3.75}, "settings"},
	} {
		got := priceOf(c.alias, c.at)
		if diff := cmp.Diff(c.want, got.Amounts); diff != "" || strings.TrimSpace(got.Source+" "+got.Checked) != c.from {
			t.Errorf("%s, from %s %s (-want +got):\n%s", name, got.Source, got.Checked, diff)
		}
	}
}

// The built-in aliases have the prices that ship; they say nothing about models of which none is known.
func TestPrice_ofBuiltInAliases(t *testing.T) {
	t.Parallel()
	m := New(settings.Defaults(), slog.New(slog.DiscardHandler), t.TempDir(), NewServices(), func(string) error { return nil })
	for alias, priced := range map[string]bool{"sonnet": true, "gpt": true, "local": false, "offline": true} {
		model, _ := m.Model(t.Context(), alias)
		if p := m.Price(alias); (p.Amounts != nil) != priced || !cmp.Equal(p.Amounts, model.Price) || priced && p.Source == "" {
			t.Errorf("%s: %+v, calls have %+v", alias, p, model.Price)
		}
	}
	if top := m.Dearest(); top != nil {
		t.Errorf("an unknown price counts as %+v", top)
	}
}
