package modelset

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/bedrock"
	"github.com/vaultflow/vaultflow/llm/gemini"
	"github.com/vaultflow/vaultflow/llm/offline"
	"github.com/vaultflow/vaultflow/llm/ollama"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/vertex"
	"github.com/vaultflow/vaultflow/llm/wire"
	"github.com/vaultflow/vaultflow/settings"
)

// ConfigOf returns how a provider is reached.
func ConfigOf(name string, p settings.Provider) (wire.Config, error) {
	headers := map[string]string{}
	for key, value := range p.Headers {
		headers[key] = string(value)
	}
	client, err := wire.NewClient(string(p.Proxy), p.ConnectTimeout.Std())
	if err != nil {
		return wire.Config{}, failure.New(failure.InvalidSettings, "change providers."+name+".proxy", "provider %s: %v", name, err)
	}
	return wire.Config{
		Name: name, Kind: p.Kind, BaseURL: string(p.BaseURL), APIKey: llm.Secret(p.Key), Headers: headers, Client: client,
		Timeout: p.Timeout.Std(), IdleTimeout: p.IdleTimeout.Std(),
	}, nil
}

// newProvider makes the client of a provider. It is the one place that knows every adapter.
func newProvider(name string, p settings.Provider) (llm.Provider, error) {
	c, err := ConfigOf(name, p)
	if err != nil {
		return nil, err
	}
	if p.Key == "" && p.NeedsKey() && settings.Available(p.Kind) {
		return nil, missingKey(name, p)
	}
	switch p.Kind {
	case "offline":
		return offline.New(), nil
	case "anthropic":
		return anthropic.New(c), nil
	case "google":
		return gemini.New(c), nil
	case "bedrock":
		return bedrockModels(name, p, c)
	case "vertex":
		return newVertex(name, p, c)
	case "openai_responses", "xai":
		return openai.NewResponses(c), nil
	case "ollama":
		return ollama.New(c), nil
	}
	if slices.Contains(openai.Kinds(), p.Kind) {
		return openai.New(c), nil
	}
	return nil, failure.New(failure.InvalidSettings, "openai_chat speaks to most services", "provider %s: kind %q is not available in this version", name, p.Kind)
}

func missingKey(name string, p settings.Provider) error {
	hint := "set " + p.APIKeyEnv + " in the environment or in the .env file of the state directory; `vaultflow doctor` shows where it looks"
	if p.Kind == "bedrock" {
		hint = "name a profile, or " + hint
	}
	return failure.New(failure.InvalidSettings, hint, "provider %s has no key", name)
}

// bedrockModels returns the models of Amazon Bedrock in a region.
func bedrockModels(name string, p settings.Provider, c wire.Config) (llm.Provider, error) {
	if p.Region == "" {
		return nil, failure.New(failure.InvalidSettings, "add region:, or set AWS_REGION", "provider %s names no region", name)
	}
	return bedrock.New(bedrock.Config{
		Config: c, Region: p.Region, Profile: p.Profile,
		Keys: bedrock.Keys{AccessKeyID: llm.Secret(p.AccessKeyID), SecretAccessKey: llm.Secret(p.SecretAccessKey), SessionToken: llm.Secret(p.SessionToken)},
	}), nil
}

// vertexModels is the models of a Google Cloud project, each in its publisher's wire format.
type vertexModels struct{ google, anthropic llm.Provider }

var _ llm.Provider = vertexModels{}

func newVertex(name string, p settings.Provider, c wire.Config) (llm.Provider, error) {
	if p.Project == "" {
		return nil, failure.New(failure.InvalidSettings, "add project:, or set GOOGLE_CLOUD_PROJECT", "provider %s names no project", name)
	}
	account := vertex.Account{Project: p.Project, Location: p.Location, CredentialsFile: p.CredentialsFile}
	return vertexModels{gemini.New(account.Config(c, vertex.Google)), anthropic.New(account.Config(c, vertex.Anthropic))}, nil
}

// Generate implements llm.Provider.
func (m vertexModels) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	if strings.Contains(request.Model, "claude") {
		return m.anthropic.Generate(ctx, request, progress)
	}
	return m.google.Generate(ctx, request, progress)
}

// AddressOf returns the address of a provider, or "" when it is unknown.
func AddressOf(p settings.Provider) string {
	switch {
	case p.BaseURL != "":
		return string(p.BaseURL)
	case p.Kind == "bedrock" && p.Region != "":
		return bedrock.Address(p.Region)
	case p.Kind == "vertex":
		return vertex.Address(p.Location)
	}
	return ""
}

// placeOf is an address without what may be secret in it, or "".
func placeOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// HostOf is an address without what may be secret in it.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "its address"
	}
	return u.Scheme + "://" + u.Host
}
