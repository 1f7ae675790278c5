package gemini

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

const (
	wireName       = "google"
	defaultBaseURL = "https://generativelanguage.googleapis.com"
	version        = "/v1beta" // of the Developer API: thoughts, JSON Schemas and ids of calls are not in v1
)

// vertexKind is the wire.Config.Kind of Vertex AI, and its name in the tables.
const vertexKind = "vertex"

// Config is wire.Config. Kind "vertex" is Vertex AI: BaseURL includes everything before "/models" (package vertex makes it),
// and the key is a token. Its API has no call ids, and none are sent.
type Config = wire.Config

// Provider answers through streamGenerateContent. It is safe for concurrent use.
type Provider struct{ endpoint *wire.Endpoint }

// New returns a provider. BaseURL is the service's host, or everything before "/models".
func New(c Config) *Provider {
	kind, keyHeader := wireName, "X-Goog-Api-Key"
	if c.Kind == vertexKind {
		kind, keyHeader = vertexKind, ""
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	if address, err := url.Parse(c.BaseURL); err != nil || strings.Trim(address.Path, "/") == "" {
		c.BaseURL = strings.TrimRight(c.BaseURL, "/") + version
	}
	return &Provider{c.Endpoint(kind, defaultBaseURL, keyHeader)}
}

// Generate implements llm.Provider.
func (p *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(request)
	if err != nil {
		return nil, err
	}
	model := url.PathEscape(strings.TrimPrefix(request.Model, "models/"))
	return p.endpoint.Ask(ctx, "/models/"+model+":streamGenerateContent?alt=sse", body, func(answer *wire.Answer) (*llm.Response, error) {
		return read(answer, request, progress)
	})
}

var generationForm = regexp.MustCompile(`gemini-(\d+)`)

// generation returns the model's major version. Names without one, of tuned models and aliases such as gemini-flash-latest,
// count as the third: the first with today's wire format.
func generation(model string) int {
	m := generationForm.FindStringSubmatch(model)
	if m == nil {
		return 3
	}
	n, err := strconv.Atoi(m[1])
	if err != nil { // more digits than a number has
		return 3
	}
	return n
}
