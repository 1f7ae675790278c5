package bedrock

import (
	"strings"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// family tells what its makers' models take beyond what all do. It is read off the model's id; an application's own
// inference profile has an ARN that does not tell, and gets what every model takes.
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

// saysStatus tells whether a tool's result may say that it failed. From the service model.
func (f family) saysStatus() bool { return f == claude || f == nova }

// takesReasoning tells whether reasoning may go back.
func (f family) takesReasoning() bool { return f != deepSeek }

// cites tells whether citations can be enabled for the documents of a request.
func cites(r llm.Request) bool {
	return policy.Lookup(wireName, r.Model, nil, nil).Has(policy.Citations)
}

// think sets what the request says about reasoning. What cannot be asked of a family is not: it reasons as it does. From
// AWS's pages on Claude's extended and adaptive thinking, Nova 2 and gpt-oss, read in November 2026.
func (b *converseBody) think(r llm.Request) {
	level := r.Thinking
	if level == "" || level == "off" {
		return // off is what the service does when nothing is said
	}
	tokens, effort := llm.ClaudeThinking(r.Model, level)
	if tokens == 0 && effort == "" {
		return
	}
	switch familyOf(r.Model) {
	case claude:
		b.claudeThinks(tokens, effort)
	case nova:
		if !strings.Contains(r.Model, "nova-2") {
			return // the first generation does not reason
		}
		b.Additional = map[string]any{"reasoningConfig": map[string]any{"type": "enabled", "maxReasoningEffort": effort}}
		if effort == "high" { // which the service refuses beside bounds of its own
			b.Inference = nil
		}
	case gptOSS:
		b.Additional = map[string]any{"reasoning_effort": effort}
	}
}

// claudeThinks asks Claude for reasoning. Its tokens come on top of those for the answer; a temperature other than the
// default is refused with it.
func (b *converseBody) claudeThinks(tokens int, effort string) {
	thinking := map[string]any{"type": "adaptive"}
	set := b.inference()
	switch {
	case effort != "":
		b.output().Effort = effort
	default:
		thinking = map[string]any{"type": "enabled", "budget_tokens": tokens}
		if set.MaxTokens == 0 {
			set.MaxTokens = claudeTokens
		}
		set.MaxTokens += tokens
	}
	b.Additional, set.Temperature = map[string]any{"thinking": thinking}, nil
}

// claudeTokens bound an answer that names no bound, when one is needed: it must be above the tokens for reasoning.
const claudeTokens = 8192
