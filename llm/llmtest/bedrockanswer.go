package llmtest

import (
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/vaultflow/vaultflow/llm"
)

// Answer implements Wire.
func (Bedrock) Answer(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	index := 0
	event := func(name string, v map[string]any) {
		v["p"] = "abcdefgh" // padding, which the service adds to hide lengths
		BedrockFrame(w, "event", name, toJSON(v))
	}
	delta := func(v map[string]any) {
		event("contentBlockDelta", map[string]any{"contentBlockIndex": index, "delta": v})
	}
	stop := func() {
		event("contentBlockStop", map[string]any{"contentBlockIndex": index})
		index++
	}
	event("messageStart", map[string]any{"role": "assistant"})
	if a.Thinking != "" {
		half := len(a.Thinking) / 2
		delta(map[string]any{"reasoningContent": map[string]any{"text": a.Thinking[:half]}})
		delta(map[string]any{"reasoningContent": map[string]any{"text": a.Thinking[half:]}})
		delta(map[string]any{"reasoningContent": map[string]any{"signature": a.signature()}})
		stop()
	}
	if a.Redacted {
		delta(map[string]any{"reasoningContent": map[string]any{"redactedContent": Signature(-a.turn)}})
		stop()
	}
	deltas := a.pieces()
	if a.Refusal != "" {
		deltas = []string{a.Refusal}
	}
	if len(deltas) > 0 {
		for _, d := range deltas {
			delta(map[string]any{"text": d})
			between(a)
		}
		for _, p := range a.Passages {
			delta(map[string]any{"citation": map[string]any{
				"title": "a document", "sourceContent": []any{map[string]any{"text": p.Text}},
				"location": map[string]any{"documentPage": map[string]any{"documentIndex": p.Document, "start": p.Page, "end": p.Page + 1}},
			}})
		}
		if a.Broken {
			return
		}
		stop()
	}
	for i, c := range a.ToolCalls {
		event("contentBlockStart", map[string]any{"contentBlockIndex": index, "start": map[string]any{
			"toolUse": map[string]any{"toolUseId": c.id(a, i, "tooluse_%d-%d"), "name": c.Name},
		}})
		for _, piece := range c.pieces() {
			delta(map[string]any{"toolUse": map[string]any{"input": piece}})
		}
		stop()
	}
	reason := map[llm.Stop]string{llm.StopLength: "max_tokens", llm.StopRefusal: "guardrail_intervened", llm.StopToolUse: "tool_use"}[a.stop()]
	if reason == "" {
		reason = "end_turn"
	}
	event("messageStop", map[string]any{"stopReason": reason})
	event("metadata", map[string]any{"metrics": map[string]any{"latencyMs": 7}, "usage": map[string]any{
		"inputTokens": a.Input - a.Cached, "outputTokens": a.Output, "totalTokens": a.Input + a.Output,
		"cacheReadInputTokens": a.Cached, "cacheWriteInputTokens": 0,
	}})
}

// BedrockFrame writes one message of an event stream: kind is "event" or "exception", name its type, payload JSON.
func BedrockFrame(w http.ResponseWriter, kind, name, payload string) {
	message := eventstream.Message{Payload: []byte(payload)}
	message.Headers.Set(":message-type", eventstream.StringValue(kind))
	message.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
	message.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	_ = eventstream.NewEncoder().Encode(w, message) // the client went away
	send(w, "")
}

// Fail implements Wire.
func (Bedrock) Fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Amzn-Errortype", code)
	fail(w, status, map[string]any{"message": message})
}
