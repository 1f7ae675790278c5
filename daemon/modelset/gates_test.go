package modelset

import (
	"testing"

	"github.com/vaultflow/vaultflow/settings"
)

func TestServiceOf(t *testing.T) {
	t.Parallel()
	one := settings.Provider{Kind: "openai_chat", BaseURL: "https://one.example/v1", Key: "k"}
	for name, tt := range map[string]struct {
		change func(p *settings.Provider)
		same   bool
	}{
		"limits":         {func(p *settings.Provider) { p.MaxConcurrency, p.RequestsPerMinute = 3, 9 }, true},
		"another format": {func(p *settings.Provider) { p.Kind = "openai_responses" }, true},
		"key":            {func(p *settings.Provider) { p.Key = "l" }, false},
		"address":        {func(p *settings.Provider) { p.BaseURL = "https://two.example/v1" }, false},
		"header":         {func(p *settings.Provider) { p.Headers = map[string]settings.Secret{"Account": "2"} }, false},
	} {
		other := one
		tt.change(&other)
		if got := serviceOf(other) == serviceOf(one); got != tt.same {
			t.Errorf("%s: the same service %v, want %v", name, got, tt.same)
		}
	}
}
