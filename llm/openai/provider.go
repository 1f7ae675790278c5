package openai

import (
	"context"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// Config is wire.Config; Kind names the dialect, one of Kinds.
type Config = wire.Config

// Provider answers through Chat Completions. It is safe for concurrent use.
type Provider struct {
	endpoint *wire.Endpoint
	dialect  dialect
	wire     string // the kind: turns go back unchanged only to where they came from
}

// New makes a provider. BaseURL is with "/v1", as the services print it; empty is the dialect's public address.
func New(c Config) *Provider {
	kind := c.Kind
	d, known := dialects[kind]
	if !known {
		kind, d = Compatible, dialects[Compatible]
	}
	if d.callID == nil {
		d.callID = anyCallID
	}
	return &Provider{
		endpoint: c.Endpoint(kind, d.baseURL, map[string]string{"Authorization": "Bearer " + string(c.APIKey)}),
		dialect:  d,
		wire:     kind,
	}
}

// Generate implements llm.Provider.
func (p *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(request)
	if err != nil {
		return nil, err
	}
	answer, err := p.endpoint.Post(ctx, "/chat/completions", body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	response, err := p.read(answer, request, progress)
	if err != nil {
		return nil, err
	}
	response.Omitted = body.Omitted()
	return response, nil
}
