package anthropic

import (
	"context"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
)

const (
	wire           = "anthropic"
	version        = "2023-06-01" // of the API; the only one there is
	defaultBaseURL = "https://api.anthropic.com"
)

// Config is llm.Config; Kind is not used.
type Config = llm.Config

// Provider answers through the Messages API. It is safe for concurrent use.
type Provider struct {
	endpoint *llm.Endpoint
}

// New makes a provider. BaseURL stands without "/v1"; one at its end is taken off.
func New(c Config) *Provider {
	c.BaseURL = strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")
	endpoint := c.Endpoint(wire, defaultBaseURL, map[string]string{"X-Api-Key": string(c.APIKey)})
	endpoint.SetDefault("Anthropic-Version", version)
	return &Provider{endpoint: endpoint}
}

// Generate implements llm.Provider.
func (p *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := write(request)
	if err != nil {
		return nil, err
	}
	answer, err := p.endpoint.Post(ctx, "/v1/messages", body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	response, err := read(answer, request, progress)
	if err != nil {
		return nil, err
	}
	response.Omitted = body.Omitted()
	return response, nil
}
