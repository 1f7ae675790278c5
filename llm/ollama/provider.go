package ollama

import (
	"context"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

const (
	wireName       = "ollama"
	defaultBaseURL = "http://localhost:11434"
)

// Config is wire.Config; Kind is not used, APIKey only by hosted servers.
type Config = wire.Config

// Provider answers through /api/chat. It is safe for concurrent use.
type Provider struct {
	endpoint *wire.Endpoint
}

// New makes a provider. BaseURL is the server's address without "/api".
func New(c Config) *Provider {
	return &Provider{c.Endpoint(wireName, defaultBaseURL, map[string]string{"Authorization": "Bearer " + string(c.APIKey)})}
}

// Generate implements llm.Provider. Request.ContextWindow, when given, is reserved as num_ctx: Ollama's own default is a
// few thousand tokens, whatever the model could take.
func (p *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(request)
	if err != nil {
		return nil, err
	}
	answer, err := p.endpoint.Post(ctx, "/api/chat", body)
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
