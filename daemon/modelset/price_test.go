package modelset

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/settings"
)

func TestPriceOf(t *testing.T) {
	t.Parallel()
	of := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		price settings.Price
		kind  string
		want  *cost.Price
	}{
		"unknown":            {settings.Price{}, "anthropic", nil},
		"built in":           {settings.Price{}, "offline", &cost.Price{}},
		"plain":              {settings.Price{Input: of(3), Output: of(15)}, "anthropic", &cost.Price{Input: 3, Output: 15}},
		"with what was kept": {settings.Price{Input: of(3), Output: of(15), Cached: of(0.3), CacheWrite: of(3.75)}, "anthropic", &cost.Price{Input: 3, Output: 15, Cached: 0.3, CacheWrite: 3.75}},
	} {
		if diff := cmp.Diff(c.want, priceOf(settings.Alias{Price: c.price}, settings.Provider{Kind: c.kind})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
