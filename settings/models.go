package settings

import "github.com/vaultflow/vaultflow/policy"

// Models names the models that workflows use.
type Models struct {
	Default string           `yaml:"default" doc:"Alias for steps that name no model. Without it: your only alias, or offline if you configured none."`
	Aliases map[string]Alias `yaml:"aliases" doc:"Your names for models. An alias of yours replaces the built-in one of the same name (sonnet, gpt, local, offline)."`
}

// Alias is a model under the name that workflows use.
type Alias struct {
	Provider        string           `yaml:"provider" doc:"Name of an entry of providers, or a kind of provider."`
	Model           string           `yaml:"model" doc:"The provider's own name for the model."`
	Capabilities    Capabilities     `yaml:"capabilities" doc:"A list is the exact set; a map turns single ones on or off; without it they are detected. Names: text vision pdf thinking citations audio_input video_input tools structured_output prompt_caching."`
	ContextWindow   int              `yaml:"context_window" min:"0" max:"100000000" doc:"Tokens. 0: detected."`
	MaxOutputTokens int              `yaml:"max_output_tokens" min:"0" max:"10000000" doc:"Most tokens of an answer. 0: the provider's limit."`
	Price           Price            `yaml:"price" doc:"US dollars per million tokens. Without it the cost is unknown."`
	Temperature     *float64         `yaml:"temperature" min:"0" max:"2" doc:"Without it: the provider's default."`
	Limits          policy.OwnLimits `yaml:"limits" doc:"Limits of one request, if you know them better than vaultflow's built-in table."`
	Thinking        string           `yaml:"thinking" doc:"off, low, medium, high, or a number of tokens. Without it: the provider's default."`
	Citations       bool             `yaml:"citations" doc:"Answers in Markdown cite passages of PDF files in footnotes. For models with the capability citations."`
}

// Price is what a million tokens cost. Input and Output are both nil if the price is unknown.
type Price struct {
	Input      *float64 `yaml:"input" min:"0" max:"100000" doc:"Of the prompt."`
	Output     *float64 `yaml:"output" min:"0" max:"100000" doc:"Of the answer."`
	Cached     *float64 `yaml:"cached" min:"0" max:"100000" doc:"Of the part of the prompt that was read from the service's cache. Without it: as input."`
	CacheWrite *float64 `yaml:"cache_write" min:"0" max:"100000" doc:"Of the part that is written to the cache. Without it: as input."`
}

// Known reports whether both prices are set.
func (p Price) Known() bool { return p.Input != nil && p.Output != nil }

// Capabilities are a model's abilities according to the settings. The zero value leaves them to detection.
type Capabilities struct {
	Exact   []string        // the whole set, if IsExact
	IsExact bool            // the value was a list, perhaps an empty one; text is always included
	Flags   map[string]bool // single ones, if the value was a map
}

// IsZero reports whether nothing is set.
func (c Capabilities) IsZero() bool { return !c.IsExact && len(c.Flags) == 0 }

// capabilityNames must equal those of package policy; a test compares them.
var capabilityNames = []string{
	"text", "vision", "pdf", "thinking", "citations", "audio_input", "video_input", "tools", "structured_output", "prompt_caching",
}
