package wire

import (
	"slices"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// Draw plans a request for the service and starts its drawing.
func (e *Endpoint) Draw(r llm.Request, form Form) ([]llm.Turn, *Drawing, error) {
	return Draw(r, e.provider, e.kind, form)
}

// Draw plans a request and starts its drawing. provider is the service's name in the settings, for errors; kind is its name
// in the tables, whose media types replace those of the form.
func Draw(r llm.Request, provider, kind string, form Form) ([]llm.Turn, *Drawing, error) {
	delivery := policy.DeliveryOf(kind, r.Model)
	if r.Delivery != nil {
		delivery = *r.Delivery
	}
	turns, err := r.Plan(provider, delivery)
	if err != nil {
		return nil, nil, err
	}
	form.Accept = mediaTypes(delivery.Formats[policy.Image])
	form.Documents = mediaTypes(delivery.Formats[policy.Document])
	form.Recordings = mediaTypes(slices.Concat(delivery.Formats[policy.Audio], delivery.Formats[policy.Video]))
	drawing := NewDrawing(r.Media, form)
	for _, t := range turns {
		drawing.omitted = append(drawing.omitted, t.Omitted...)
	}
	return turns, drawing, nil
}
