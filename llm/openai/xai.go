package openai

import (
	"regexp"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
)

// xai is the kind of xAI, which calls Chat Completions deprecated: only Responses gives its models' reasoning back. Nothing was
// sent to the service itself: what it takes was read on its pages in November 2026.
const (
	xai        = "xai"
	xaiBaseURL = "https://api.x.ai/v1"
)

// grokEffort matches the models that take an effort, grokReasons those whose reasoning can be had, encrypted.
var (
	grokEffort  = regexp.MustCompile(`^grok-3-mini`)
	grokReasons = regexp.MustCompile(`^grok-(?:3-mini|[4-9]|\d\d)`)
)

// forXAI makes a body what xAI takes: the system prompt as the first message, no key of a cache, tools without strictness.
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
