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
type Provider struct{ endpoint *wire.Endpoint }

// New returns a provider. BaseURL is the server's address without "/api".
func New(c Config) *Provider {
	return &Provider{c.Endpoint(wireName, defaultBaseURL, "")}
}

// Generate implements llm.Provider. A Request.ContextWindow is reserved as num_ctx: Ollama's own default is a few
// thousand tokens, whatever the model supports.
func (p *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(request)
	if err != nil {
		return nil, err
	}
	return p.endpoint.Ask(ctx, "/api/chat", body, func(answer *wire.Answer) (*llm.Response, error) {
		return p.read(answer, request, progress)
	})
}
