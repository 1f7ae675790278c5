package bedrock

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// wireName is the format's name, and what the tables of limits and capabilities call the service.
const wireName = "bedrock"

// Config is wire.Config and whose account is asked. Who asks is proved by the first that is there: APIKey (of Bedrock, sent
// as a bearer token), Keys, Profile. BaseURL is needed for private endpoints alone.
type Config struct {
	wire.Config
	Region  string // us-east-1; the address and signatures need it
	Keys    Keys
	Profile string // of the machine's AWS configuration: "default", or a name
}

// Provider answers through ConverseStream. It is safe for concurrent use.
type Provider struct{ endpoint *wire.Endpoint }

// New makes a provider. It reads nothing: a profile is looked up at the first request.
func New(c Config) *Provider {
	if c.APIKey == "" && c.Auth == nil {
		c.Auth = newSigner(c)
	}
	endpoint := c.Endpoint(wireName, Address(c.Region), "")
	endpoint.SetDefault("Accept", frameType)
	return &Provider{endpoint: endpoint}
}

// Address is the public address in a region. From the endpoint rules beside the service model.
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

// segment is a model's id or ARN as a part of the path, escaped as AWS's SDKs do: signatures cover the escaped form.
func segment(model string) string { return strings.ReplaceAll(url.PathEscape(model), ":", "%3A") }

// repeatable knows the status for a model that failed while it answered: the service model says that such a request may
// be sent again.
func repeatable(err error) error {
	if failure, ok := llm.AsError(err); ok && failure.Class == llm.ClassOther && failure.Status == http.StatusFailedDependency {
		failure.Class = llm.ClassOverloaded
	}
	return err
}
