package settings

import "github.com/vaultflow/vaultflow/policy"

// Models names the models that workflows use.
type Models struct {
	Default string           `yaml:"default" doc:"Alias for steps that name no model. Without it: your only alias, or offline when you configured none."`
	Aliases map[string]Alias `yaml:"aliases" doc:"Your names for models. An alias of yours replaces the built-in one of the same name (sonnet, gpt, local, offline)."`
}

// Alias is a model under the name that workflows use.
type Alias struct {
	Provider        string           `yaml:"provider" doc:"Name below providers, or a kind of provider."`
	Model           string           `yaml:"model" doc:"The provider's own name of the model."`
	Capabilities    Capabilities     `yaml:"capabilities" doc:"A list is the exact set, a map switches single ones; without it they are learned. Names: text vision pdf thinking citations audio_input video_input tools structured_output prompt_caching."`
	ContextWindow   int              `yaml:"context_window" min:"0" max:"100000000" doc:"Tokens. 0: learned."`
	MaxOutputTokens int              `yaml:"max_output_tokens" min:"0" max:"10000000" doc:"Bound of an answer. 0: the provider's."`
	Price           Price            `yaml:"price" doc:"US dollars for a million tokens. Without it the cost is unknown."`
	Temperature     *float64         `yaml:"temperature" min:"0" max:"2" doc:"Without it the provider's own."`
	Limits          policy.OwnLimits `yaml:"limits" doc:"Of one request, where you know them better than the table that vaultflow brings."`
	Thinking        string           `yaml:"thinking" doc:"off, low, medium, high, or a number of tokens. Without it the provider's own."`
	Citations       bool             `yaml:"citations" doc:"Answers in Markdown name the passages of PDF files that they rest on, in footnotes. For models with the capability citations."`
}

// Price is what a million tokens cost. Input and Output are both nil when the price is unknown.
type Price struct {
	Input      *float64 `yaml:"input" min:"0" max:"100000" doc:"Of the prompt."`
	Output     *float64 `yaml:"output" min:"0" max:"100000" doc:"Of the answer."`
	Cached     *float64 `yaml:"cached" min:"0" max:"100000" doc:"Of what the service had kept of the prompt. Without it as input."`
	CacheWrite *float64 `yaml:"cache_write" min:"0" max:"100000" doc:"Of what it keeps from now on. Without it as input."`
}

// Known says whether both prices are there.
func (p Price) Known() bool { return p.Input != nil && p.Output != nil }

// Capabilities is what settings say about a model's abilities. The zero value says nothing.
type Capabilities struct {
	Exact   []string        // the whole set, when IsExact
	IsExact bool            // a list was given, perhaps an empty one; text is always included
	Flags   map[string]bool // single ones, when a map was given
}

// IsZero says that nothing was said.
func (c Capabilities) IsZero() bool { return !c.IsExact && len(c.Flags) == 0 }

// capabilityNames are those of package policy; a test compares them.
var capabilityNames = []string{
	"text", "vision", "pdf", "thinking", "citations", "audio_input", "video_input", "tools", "structured_output", "prompt_caching",
}
