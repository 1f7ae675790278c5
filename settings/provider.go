package settings

import (
	"maps"
	"slices"
)

// Provider is a service or a server that holds models.
type Provider struct {
	Kind              string            `yaml:"kind" doc:"Its wire format: one of the kinds above. Without it the provider's name, when that is a kind."`
	BaseURL           Address           `yaml:"base_url" doc:"Address, with /v1 where the service prints it. Without it the vendor's public one."`
	APIKeyEnv         string            `yaml:"api_key_env" doc:"Environment variable (or line of .env) that holds the key. The vendor's usual one is used only at the vendor's own address."`
	APIKey            Secret            `yaml:"api_key" doc:"The key itself. It works, with a warning: keep keys out of the vault and use api_key_env."`
	Headers           map[string]Secret `yaml:"headers" doc:"Further HTTP headers."`
	Timeout           Duration          `yaml:"timeout" min:"0s" max:"1d" doc:"A whole call. 0s: 30m."`
	IdleTimeout       Duration          `yaml:"idle_timeout" min:"0s" max:"1d" doc:"No byte sent or received. 0s: 10m."`
	ConnectTimeout    Duration          `yaml:"connect_timeout" min:"0s" max:"10m" doc:"For reaching the service, each step. 0s: 30s."`
	Proxy             Secret            `yaml:"proxy" doc:"Address of a proxy (http, https, socks5), or direct for none. Empty: HTTPS_PROXY and NO_PROXY of the environment."`
	MaxConcurrency    int               `yaml:"max_concurrency" min:"0" max:"256" doc:"Calls at the same time. 0: 4."`
	RequestsPerMinute int               `yaml:"requests_per_minute" min:"0" max:"1000000" doc:"Requests begun within any 60 seconds, over all runs and imports; others wait. 0: no limit of ours."`
	TokensPerMinute   int               `yaml:"tokens_per_minute" min:"0" max:"1000000000" doc:"Tokens of these requests, input and output: estimated before each, corrected after it. One that is larger goes alone. 0: no limit of ours."`
	Region            string            `yaml:"region" doc:"Bedrock only: region of AWS, such as eu-central-1. Empty: AWS_REGION."`
	Profile           string            `yaml:"profile" doc:"Bedrock only: profile of the machine's AWS configuration whose keys are used when there is no other one (single sign-on, roles)."`
	AccessKeyID       Secret            `yaml:"access_key_id" doc:"Bedrock only: key of an AWS account. It works, with a warning: AWS_ACCESS_KEY_ID in the environment is better."`
	SecretAccessKey   Secret            `yaml:"secret_access_key" doc:"Bedrock only: its secret. Better: AWS_SECRET_ACCESS_KEY."`
	SessionToken      Secret            `yaml:"session_token" doc:"Bedrock only: its token, for keys that expire. Better: AWS_SESSION_TOKEN."`
	Project           string            `yaml:"project" doc:"Vertex only: project of Google Cloud. Empty: GOOGLE_CLOUD_PROJECT."`
	Location          string            `yaml:"location" doc:"Vertex only: global, us, eu, or a region such as europe-west4. Empty: GOOGLE_CLOUD_LOCATION, else global."`
	CredentialsFile   string            `yaml:"credentials_file" doc:"Vertex only: path of a service account's key. Empty: GOOGLE_APPLICATION_CREDENTIALS, else what the machine has (gcloud auth application-default login)."`
	NumCtx            int               `yaml:"num_ctx" min:"0" max:"100000000" doc:"Ollama only: size of the context in tokens. 0: the server's."`

	Key     Secret `yaml:"-"` // what was found
	KeyFrom string `yaml:"-"` // where: "environment variable NAME", a path of an .env file, "settings"; empty when there is none
}

// kind is what is known about a wire format.
type kind struct {
	baseURL   Address // the vendor's; empty: a server of one's own, or no server
	keyEnv    string
	available bool // spoken by this version
	local     bool // needs no key
}

var kinds = map[string]kind{
	"anthropic":         {"https://api.anthropic.com", "ANTHROPIC_API_KEY", true, false},
	"openai_chat":       {"https://api.openai.com/v1", "OPENAI_API_KEY", true, false},
	"openai_compatible": {"", "", true, true},
	"openai_responses":  {"https://api.openai.com/v1", "OPENAI_API_KEY", true, false},
	"google":            {"https://generativelanguage.googleapis.com", "GEMINI_API_KEY", true, false},
	"vertex":            {"", "", true, true}, // the machine's own credentials do
	"bedrock":           {"", "AWS_BEARER_TOKEN_BEDROCK", true, false},
	"ollama":            {"http://127.0.0.1:11434", "", true, true},
	"lmstudio":          {"http://localhost:1234/v1", "", true, true},
	"llamacpp":          {"http://localhost:8080/v1", "", true, true},
	"vllm":              {"http://localhost:8000/v1", "", true, true},
	"mistral":           {"https://api.mistral.ai/v1", "MISTRAL_API_KEY", true, false},
	"xai":               {"https://api.x.ai/v1", "XAI_API_KEY", true, false},
	"groq":              {"https://api.groq.com/openai/v1", "GROQ_API_KEY", true, false},
	"openrouter":        {"https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", true, false},
	"deepseek":          {"https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", true, false},
	"offline":           {"", "", true, true},
}

// Kinds lists the kinds of providers, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Available says whether this version speaks a kind.
func Available(kind string) bool { return kinds[kind].available }

// NeedsKey says whether the provider answers nobody without a key.
func (p Provider) NeedsKey() bool {
	return !kinds[p.Kind].local && p.Profile == "" && p.AccessKeyID == ""
}
