package settings

import (
	"maps"
	"net/url"
	"slices"
)

// Provider is a service or a server that runs models.
type Provider struct {
	Kind              string            `yaml:"kind" doc:"Its wire format: one of the kinds above. Without it: the provider's name, if that is a kind."`
	BaseURL           Address           `yaml:"base_url" doc:"Address, with /v1 if the service documents it so. Without it: the vendor's public one."`
	APIKeyEnv         string            `yaml:"api_key_env" doc:"Environment variable (or line of .env) with the key. The vendor's usual variable is used only at the vendor's own address."`
	APIKey            Secret            `yaml:"api_key" doc:"The key itself, with a warning. Better: keep keys out of the vault and use api_key_env."`
	Headers           map[string]Secret `yaml:"headers" doc:"Further HTTP headers."`
	Timeout           Duration          `yaml:"timeout" min:"0s" max:"1d" doc:"Time for a whole call. 0s: 30m."`
	IdleTimeout       Duration          `yaml:"idle_timeout" min:"0s" max:"1d" doc:"Time without a byte sent or received. 0s: 10m."`
	ConnectTimeout    Duration          `yaml:"connect_timeout" min:"0s" max:"10m" doc:"Time to connect, for each stage. 0s: 30s."`
	Proxy             Secret            `yaml:"proxy" doc:"Address of a proxy (http, https, socks5), or direct for none. Empty: HTTPS_PROXY and NO_PROXY in the environment."`
	MaxConcurrency    int               `yaml:"max_concurrency" min:"0" max:"256" doc:"Most calls at the same time. 0: 4."`
	RequestsPerMinute int               `yaml:"requests_per_minute" min:"0" max:"1000000" doc:"Most requests started within 60 seconds by all runs and imports; more of them wait. 0: no limit on our side."`
	TokensPerMinute   int               `yaml:"tokens_per_minute" min:"0" max:"1000000000" doc:"Most input and output tokens of these requests: estimated before each, corrected after it. A larger request goes alone. 0: no limit on our side."`
	Region            string            `yaml:"region" doc:"Bedrock only: AWS region, such as eu-central-1. Empty: AWS_REGION."`
	Profile           string            `yaml:"profile" doc:"Bedrock only: profile in this machine's AWS configuration to take keys from if none are set here or in the environment (single sign-on, roles)."`
	AccessKeyID       Secret            `yaml:"access_key_id" doc:"Bedrock only: access key of an AWS account, with a warning. Better: AWS_ACCESS_KEY_ID in the environment."`
	SecretAccessKey   Secret            `yaml:"secret_access_key" doc:"Bedrock only: its secret. Better: AWS_SECRET_ACCESS_KEY."`
	SessionToken      Secret            `yaml:"session_token" doc:"Bedrock only: its token, for keys that expire. Better: AWS_SESSION_TOKEN."`
	Project           string            `yaml:"project" doc:"Vertex only: Google Cloud project. Empty: GOOGLE_CLOUD_PROJECT."`
	Location          string            `yaml:"location" doc:"Vertex only: global, us, eu, or a region such as europe-west4. Empty: GOOGLE_CLOUD_LOCATION, else global."`
	CredentialsFile   string            `yaml:"credentials_file" doc:"Vertex only: path of a service account's key. Empty: GOOGLE_APPLICATION_CREDENTIALS, else this machine's credentials (gcloud auth application-default login)."`
	NumCtx            int               `yaml:"num_ctx" min:"0" max:"100000000" doc:"Ollama only: context size in tokens. 0: the server's default."`

	Key     Secret `yaml:"-"` // the key in use
	KeyFrom string `yaml:"-"` // "environment variable NAME", the path of an .env file, "settings", or "" without a key
}

// kind describes a wire format.
type kind struct {
	baseURL   Address // the vendor's; empty: the user's own server, or no server
	keyEnv    string
	available bool // supported by this version
	local     bool // needs no key

	transcribes bool // has /audio/transcriptions
}

var kinds = map[string]kind{
	"anthropic":         {"https://api.anthropic.com", "ANTHROPIC_API_KEY", true, false, false},
	"openai_chat":       {"https://api.openai.com/v1", "OPENAI_API_KEY", true, false, true},
	"openai_compatible": {"", "", true, true, true},
	"openai_responses":  {"https://api.openai.com/v1", "OPENAI_API_KEY", true, false, true},
	"google":            {"https://generativelanguage.googleapis.com", "GEMINI_API_KEY", true, false, false},
	"vertex":            {"", "", true, true, false}, // the machine's own credentials do
	"bedrock":           {"", "AWS_BEARER_TOKEN_BEDROCK", true, false, false},
	"ollama":            {"http://127.0.0.1:11434", "", true, true, false},
	"lmstudio":          {"http://localhost:1234/v1", "", true, true, true},
	"llamacpp":          {"http://localhost:8080/v1", "", true, true, true},
	"vllm":              {"http://localhost:8000/v1", "", true, true, true},
	"mistral":           {"https://api.mistral.ai/v1", "MISTRAL_API_KEY", true, false, true},
	"xai":               {"https://api.x.ai/v1", "XAI_API_KEY", true, false, false},
	"groq":              {"https://api.groq.com/openai/v1", "GROQ_API_KEY", true, false, true},
	"openrouter":        {"https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", true, false, false},
	"deepseek":          {"https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", true, false, false},
	"offline":           {"", "", true, true, false},
}

// Kinds lists the kinds of providers, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Available reports whether this version supports a kind.
func Available(kind string) bool { return kinds[kind].available }

// Transcribes reports whether the provider can be asked for the text of recordings.
func (p Provider) Transcribes() bool { return kinds[p.Kind].transcribes }

// OnThisMachine reports whether the provider's address leads nowhere else.
func (p Provider) OnThisMachine() bool {
	u, err := url.Parse(string(p.BaseURL))
	return err == nil && loopback(u.Hostname())
}

// NeedsKey reports whether the provider requires a key.
func (p Provider) NeedsKey() bool {
	return !kinds[p.Kind].local && p.Profile == "" && p.AccessKeyID == ""
}
