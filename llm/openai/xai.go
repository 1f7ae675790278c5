package openai

import (
	"regexp"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
)

// xai is the kind of xAI, which deprecates Chat Completions: only Responses returns its models' reasoning. It follows the
// service's pages of November 2026 and was never tried against the service itself.
const (
	xai        = "xai"
	xaiBaseURL = "https://api.x.ai/v1"
)

// grokEffort matches the models that accept an effort, grokReasons those that return encrypted reasoning.
var (
	grokEffort  = regexp.MustCompile(`^grok-3-mini`)
	grokReasons = regexp.MustCompile(`^grok-(?:3-mini|[4-9]|\d\d)`)
)

// forXAI adapts a body to xAI: the system prompt as the first message, no cache key, tools without strict.
func (b *itemsBody) forXAI(r llm.Request) {
	if b.Instructions != "" {
		b.Input = append([]any{itemMessage{"message", "system", b.Instructions}}, b.Input...)
	}
	b.Instructions, b.CacheKey = "", ""
	for i := range b.Tools {
		b.Tools[i].Strict = nil
	}
	if effort := r.Thinking; grokEffort.MatchString(r.Model) && (effort == "low" || effort == "medium" || effort == "high") {
		b.Reasoning = &reasoning{Effort: effort}
	}
	if grokReasons.MatchString(r.Model) && !strings.Contains(r.Model, "non-reasoning") {
		b.Include = []string{"reasoning.encrypted_content"}
	}
}
