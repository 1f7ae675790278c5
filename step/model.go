package step

import (
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// Model is an alias made ready to be asked.
type Model struct {
	Alias         string
	ID            string // the provider's name of the model
	ProviderName  string // as in the settings
	Kind          string // provider kind, such as anthropic
	Capabilities  policy.Capabilities
	Limits        policy.OwnLimits
	ContextWindow int // tokens; 0: not known
	MaxOutput     int // tokens; 0: the adapter's default
	Temperature   *float64
	Thinking      string
	Citations     bool            // answers name the passages that they rest on, when the model is able to
	Price         *cost.Price     // nil: not known
	Dearest       *cost.Price     // the highest prices known of any model, for bounds on costs while Price is not known; may be nil
	Retry         llm.RetryPolicy // how failed calls are repeated when the step does not say
	Client        llm.Provider    // does not repeat calls itself
}

// MediumPlace is where a medium goes, and why.
type MediumPlace struct {
	Name   string        `json:"name,omitempty"` // of the file; empty: any of its kind
	Medium policy.Medium `json:"medium"`
	Place  policy.Place  `json:"place"`
	Why    string        `json:"why"`
}

// RequestLimits are those of one request to the model: published, or set for it, and its window.
func (m Model) RequestLimits() policy.ProviderLimits {
	return policy.Limits(m.Kind, m.ID).With(m.Limits).WithWindow(m.ContextWindow)
}

// Delivery is where media go to a model.
func (m Model) Delivery() policy.Delivery {
	return policy.DeliveryOf(m.Kind, m.ID).For(m.Capabilities)
}

// places tells where the media of a prompt go, in order, and where those go that tools give, by kind.
func (m Model) places(blocks []content.Block) (prompt, tools []MediumPlace) {
	d := m.Delivery()
	for _, b := range blocks {
		medium := policy.Medium(b.Type())
		if !slices.Contains(policy.Media(), medium) {
			continue
		}
		place, why := d.Place(medium, false)
		prompt = append(prompt, MediumPlace{content.NameOf(b), medium, place, why})
	}
	for _, medium := range policy.Media() {
		place, why := d.Place(medium, true)
		tools = append(tools, MediumPlace{Medium: medium, Place: place, Why: why})
	}
	return prompt, tools
}

// Warnings say which of its settings do nothing.
func (m Model) Warnings() []string {
	if !m.Citations || m.Capabilities.Has(policy.Citations) {
		return nil
	}
	return []string{fmt.Sprintf("models.aliases.%s.citations does nothing: the model %s gives no citations", m.Alias, m.ID)}
}
