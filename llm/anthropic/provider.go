package anthropic

import (
	"context"
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

const (
	wireName       = "anthropic"
	version        = "2023-06-01" // of the API; the only one there is
	defaultBaseURL = "https://api.anthropic.com"
)

// vertexKind is the wire.Config.Kind of Vertex AI and its name in the tables; vertexVersion is its version of this API.
const (
	vertexKind    = "vertex"
	vertexVersion = "vertex-2023-10-16"
)

// Config is wire.Config. Kind "vertex" is Claude on Vertex AI: BaseURL includes everything before "/models" (package vertex
// makes it), the key is a token, and the model is part of the address.
type Config = wire.Config

// Provider answers through the Messages API. It is safe for concurrent use.
type Provider struct{ endpoint *wire.Endpoint }

// New returns a provider. BaseURL is without "/v1"; New removes one at its end.
func New(c Config) *Provider {
	if c.Kind == vertexKind {
		return &Provider{c.Endpoint(vertexKind, "", "")}
	}
	c.BaseURL = strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")
	endpoint := c.Endpoint(wireName, defaultBaseURL, "X-Api-Key")
	endpoint.SetDefault("Anthropic-Version", version)
	return &Provider{endpoint}
}

// Generate implements llm.Provider.
func (p *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(request)
	if err != nil {
		return nil, err
	}
	return p.endpoint.Ask(ctx, p.path(request.Model), body, func(answer *wire.Answer) (*llm.Response, error) {
		return read(answer, body, request, progress)
	})
}

// path returns the path of a model.
func (p *Provider) path(model string) string {
	if p.endpoint.Kind() == vertexKind {
		return "/models/" + url.PathEscape(model) + ":streamRawPredict"
	}
	return "/v1/messages"
}
