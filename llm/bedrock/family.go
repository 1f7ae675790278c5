package bedrock

import (
	"strings"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// family is a maker's line of models, with what it accepts beyond the others. It follows from the model's id. An application
// inference profile has an ARN without it, and gets what every model accepts.
type family string

const (
	claude   family = "claude"
	nova     family = "nova"
	deepSeek family = "deepseek"
	gptOSS   family = "gpt-oss"
	other    family = ""
)

func familyOf(model string) family {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, f := range []family{claude, nova, deepSeek, gptOSS} {
		if strings.Contains(name, string(f)) {
			return f
		}
	}
	return other
}

// saysStatus reports whether tool results may have a failure status. From the service model.
func (f family) saysStatus() bool { return f == claude || f == nova }

// takesReasoning reports whether reasoning may be echoed.
func (f family) takesReasoning() bool { return f != deepSeek }

// cites reports whether citations can be enabled for the documents of a request.
func cites(r llm.Request) bool {
	return policy.Lookup(wireName, r.Model, nil, nil).Has(policy.Citations)
}

// think requests reasoning, as far as the family accepts such requests. From
// AWS's pages on Claude's extended and adaptive thinking, Nova 2 and gpt-oss, read in November 2026.
func (b *converseBody) think(r llm.Request) {
	level, family := r.Thinking, familyOf(r.Model)
	if family == claude {
		b.claudeThinks(r.Model, level)
		return
	}
	if level == "" || level == "off" {
		return // off is the default
	}
	_, effort := llm.ClaudeThinking(r.Model, level)
	if effort == "" {
		return
	}
	switch family {
	case nova:
		if !strings.Contains(r.Model, "nova-2") {
			return // the first generation does not reason
		}
		b.Additional = map[string]any{"reasoningConfig": map[string]any{"type": "enabled", "maxReasoningEffort": effort}}
		if effort == "high" { // refused by the service together with its own limits
			b.Inference = nil
		}
	case gptOSS:
		b.Additional = map[string]any{"reasoning_effort": effort}
	}
}

// claudeThinks requests reasoning from Claude, or none where it is the default. Its tokens are added to those for the answer. With it,
// the service refuses any temperature but the default.
func (b *converseBody) claudeThinks(model, level string) {
	tokens, effort := llm.ClaudeThinking(model, level)
	kind := ""
	if level == "off" && llm.ClaudeThinksUnasked(model) {
		kind, effort = llm.ClaudeOff(model)
	}
	set := b.inference()
	switch {
	case kind != "":
		b.Additional = map[string]any{"thinking": map[string]any{"type": kind}}
	case effort != "":
		b.output().Effort = effort
		b.Additional, set.Temperature = map[string]any{"thinking": map[string]any{"type": "adaptive"}}, nil
	case tokens > 0:
		if set.MaxTokens == 0 {
			set.MaxTokens = claudeTokens
		}
		b.Additional, set.Temperature = map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": tokens}}, nil
	}
	if set.MaxTokens > 0 {
		set.MaxTokens += llm.ThinkingRoom(model, level)
	}
}

// claudeTokens limits answers of requests without a limit, when one is required: it must exceed the tokens for reasoning.
const claudeTokens = 8192
