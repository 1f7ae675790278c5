package modelset

import (
	"strings"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/settings"
)

// Price is what a model costs, who says so, and when that was. Amounts are nil if no price is known.
type Price struct {
	Amounts *cost.Price
	Source  string
	Checked string // a month or a day; empty for prices of the settings
}

// vendor is a maker of models at its own address: what is published for it says nothing about servers with another address.
type vendor struct{ provider, address string }

var (
	anthropicAPI = vendor{"anthropic", "https://api.anthropic.com/"}
	openaiAPI    = vendor{"openai", "https://api.openai.com/"}
)

// is reports whether a provider of the settings is the vendor.
func (v vendor) is(p settings.Provider) bool {
	return strings.TrimSuffix(limitsOf(p), "_responses") == v.provider && strings.HasPrefix(string(p.BaseURL)+"/", v.address)
}

// listed are the prices of the built-in aliases, and of those that were, as their services publish them for their own addresses.
var listed = []struct {
	vendor
	model           string
	price           cost.Price
	source, checked string
}{
	{
		anthropicAPI, "claude-sonnet-5-5",
		cost.Price{Input: 2, Output: 10, Cached: 0.1, CacheWrite: 2.5},
		"platform.claude.com, page of Claude Sonnet 5.5", "2026-11",
	},
	{
		anthropicAPI, "claude-sonnet-4-5",
		cost.Price{Input: 3, Output: 15, Cached: 0.3, CacheWrite: 3.75},
		"platform.claude.com, pricing page", "2026-11",
	},
	{
		openaiAPI, "gpt-4.1",
		cost.Price{Input: 2, Output: 8, Cached: 0.5},
		"developers.openai.com, pricing page, as others quote it", "2026-11",
	},
}

// priceOf returns the price of an alias: that of the settings, zero for the built-in model, or the one that ships with vaultflow. A
// server with another address may have other prices.
func priceOf(a settings.Alias, p settings.Provider) Price {
	if own := ownPrice(a); own != nil {
		return Price{Amounts: own, Source: "settings"}
	}
	if p.Kind == settings.Offline {
		return Price{Amounts: &cost.Price{}, Source: "built in"}
	}
	for _, row := range listed {
		if row.is(p) && a.Model == row.model {
			price := row.price
			return Price{&price, row.source, row.checked}
		}
	}
	return Price{}
}

// ownPrice returns the price in the settings, or nil.
func ownPrice(a settings.Alias) *cost.Price {
	if !a.Price.Known() {
		return nil
	}
	price := &cost.Price{Input: *a.Price.Input, Output: *a.Price.Output}
	if a.Price.Cached != nil {
		price.Cached = *a.Price.Cached
	}
	if a.Price.CacheWrite != nil {
		price.CacheWrite = *a.Price.CacheWrite
	}
	return price
}

// Price returns what an alias costs, also one that waits: the settings decide, then what ships, then what its service said.
func (m *Set) Price(alias string) Price {
	a, p, _ := m.settings.Meant(alias)
	price := priceOf(a, p)
	if known := m.Known(alias); price.Amounts == nil && known != nil && known.Price != nil {
		price = Price{known.Price, known.Source, known.Checked}
	}
	return price
}
