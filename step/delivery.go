package step

import (
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// MediumPlace is where a medium goes, and why.
type MediumPlace struct {
	Name   string        `json:"name,omitempty"` // of the file; empty: any of its kind
	Medium policy.Medium `json:"medium"`
	Place  policy.Place  `json:"place"`
	Why    string        `json:"why"`
}

// limits are those of one request to the model: published, or set for it, and its window.
func (m Model) limits() policy.ProviderLimits {
	return policy.Limits(m.Kind, m.ID).With(m.Limits).WithWindow(m.ContextWindow)
}

// delivery is where media go to a model.
func (m Model) delivery() policy.Delivery {
	return policy.DeliveryOf(m.Kind, m.ID).For(m.Capabilities)
}

// places tells where the media of a prompt go, in order, and where those go that tools give, by kind.
func (m Model) places(blocks []content.Block) (prompt, tools []MediumPlace) {
	d := m.delivery()
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
