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
	return &Provider{c.Endpoint(kind, d.baseURL, ""), d}
}

// Generate implements llm.Provider.
func (p *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(request)
	if err != nil {
		return nil, err
	}
	return p.endpoint.Ask(ctx, "/chat/completions", body, func(answer *wire.Answer) (*llm.Response, error) {
		return p.read(answer, request, progress)
	})
}
