package gemini

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
)

const (
	wire           = "google"
	defaultBaseURL = "https://generativelanguage.googleapis.com"
	version        = "/v1beta" // of the Developer API: thoughts, JSON Schemas and ids of calls are not in v1
)

// Config is llm.Config; Kind is not used.
type Config = llm.Config

// Provider answers through streamGenerateContent. It is safe for concurrent use.
type Provider struct {
	endpoint *llm.Endpoint
}

// New makes a provider. BaseURL is the service's address alone, or with everything that stands before "/models": for Vertex
// AI https://aiplatform.googleapis.com/v1/projects/P/locations/L/publishers/google, with a token in Headers.
func New(c Config) *Provider {
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	if address, err := url.Parse(c.BaseURL); err != nil || strings.Trim(address.Path, "/") == "" {
		c.BaseURL = strings.TrimRight(c.BaseURL, "/") + version
	}
	return &Provider{endpoint: c.Endpoint(wire, defaultBaseURL, map[string]string{"X-Goog-Api-Key": string(c.APIKey)})}
}

// Generate implements llm.Provider.
func (p *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(request)
	if err != nil {
		return nil, err
	}
	model := url.PathEscape(strings.TrimPrefix(request.Model, "models/"))
	answer, err := p.endpoint.Post(ctx, "/models/"+model+":streamGenerateContent?alt=sse", body)
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

var generationForm = regexp.MustCompile(`gemini-(\d+)`)

// generation is the model's major version. Names that do not tell, of tuned models and aliases such as gemini-flash-latest,
// count as the third: the first of which the wire is as it is now.
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
