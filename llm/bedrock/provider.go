package bedrock

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// wireName is the format's name, and the service's in the tables of limits and capabilities.
const wireName = "bedrock"

// Config is wire.Config and an account. The first of these that is set authenticates requests: APIKey (of Bedrock, sent as a
// bearer token), Keys, Profile. BaseURL is for private endpoints only.
type Config struct {
	wire.Config
	Region  string // us-east-1; the address and signatures need it
	Keys    Keys
	Profile string // of the machine's AWS configuration: "default", or a name
}

// Provider answers through ConverseStream. It is safe for concurrent use.
type Provider struct{ endpoint *wire.Endpoint }

// New returns a provider. A profile is read at the first request.
func New(c Config) *Provider {
	if c.APIKey == "" && c.Auth == nil {
		c.Auth = newSigner(c)
	}
	endpoint := c.Endpoint(wireName, Address(c.Region), "")
	endpoint.SetDefault("Accept", frameType)
	return &Provider{endpoint: endpoint}
}

// Address returns the public address in a region. From the endpoint rules beside the service model.
func Address(region string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return "https://bedrock-runtime." + region + "." + domain
}

// Generate implements llm.Provider.
func (p *Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(request)
	if err != nil {
		return nil, err
	}
	response, err := p.endpoint.Ask(ctx, "/model/"+segment(request.Model)+"/converse-stream", body, func(answer *wire.Answer) (*llm.Response, error) {
		return read(answer, body, request, progress)
	})
	return response, repeatable(err)
}

// segment returns a model's id or ARN as a path segment, escaped as AWS's SDKs do: signatures cover the escaped form.
func segment(model string) string { return strings.ReplaceAll(url.PathEscape(model), ":", "%3A") }

// repeatable makes the status of a model that failed while answering retryable, as documented in the service model.
func repeatable(err error) error {
	if failure, ok := llm.AsError(err); ok && failure.Class == llm.ClassOther && failure.Status == http.StatusFailedDependency {
		failure.Class = llm.ClassOverloaded
	}
	return err
}
