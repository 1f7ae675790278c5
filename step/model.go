package step

import (
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// Model is an alias with its client, ready for calls.
type Model struct {
	Alias         string
	ID            string // the provider's name of the model
	ProviderName  string // as in the settings
	Kind          string // provider kind, such as anthropic
	Service       string // address where requests go, without secrets; empty: the usual one of the kind
	Capabilities  policy.Capabilities
	Limits        policy.OwnLimits
	ContextWindow int    // tokens; 0: not known
	WindowGuess   string // why ContextWindow is only a guess; empty: it is none
	MaxOutput     int    // tokens; 0: the adapter's default
	Temperature   *float64
	Thinking      string
	Citations     bool            // answers cite passages, if the model supports it
	Price         *cost.Price     // nil: not known
	Dearest       *cost.Price     // the highest known price of any model, used while Price is unknown; may be nil
	Retry         llm.RetryPolicy // for failed calls, unless the step sets its own
	Client        llm.Provider    // does not retry
}

// MediumPlace is where a medium goes, and why.
type MediumPlace struct {
	Name   string        `json:"name,omitempty"` // of the file; empty: any of its kind
	Medium policy.Medium `json:"medium"`
	Place  policy.Place  `json:"place"`
	Why    string        `json:"why"`
}

// RequestLimits returns the limits of one request: published or configured ones, and the window.
func (m Model) RequestLimits() policy.ProviderLimits {
	limits := policy.Limits(m.Kind, m.ID).With(m.Limits).WithWindow(m.ContextWindow)
	limits.WindowGuess = m.WindowGuess
	return limits
}

// Delivery returns where media go in requests to the model.
func (m Model) Delivery() policy.Delivery {
	return policy.DeliveryOf(m.Kind, m.ID).For(m.Capabilities)
}

// places returns where the media of a prompt go, in order, and where media of tool results go, by kind.
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

// Warnings lists settings of the alias that have no effect.
func (m Model) Warnings() []string {
	if !m.Citations || m.Capabilities.Has(policy.Citations) {
		return nil
	}
	return []string{fmt.Sprintf("models.aliases.%s.citations has no effect: the model %s does not support citations", m.Alias, m.ID)}
}
