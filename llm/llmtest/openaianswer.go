package llmtest

import (
	"net/http"

	"github.com/vaultflow/vaultflow/llm"
)

// begin is the first delta of an answer.
func (o OpenAI) begin() map[string]any {
	delta := map[string]any{"role": "assistant", "content": ""}
	if o.schema() == "openai_chat" {
		delta["refusal"] = nil
	}
	return delta
}

// thought is a delta of reasoning as the dialect sends it. OpenAI's own keeps it to itself.
func (o OpenAI) thought(text, signature string) map[string]any {
	switch o.schema() {
	case "openai_chat":
		return map[string]any{}
	case "mistral":
		return map[string]any{"content": []any{map[string]any{"type": "thinking", "thinking": []any{map[string]any{"type": "text", "text": text}}}}}
	case "groq":
		return map[string]any{"reasoning": text}
	case "openrouter":
		return map[string]any{"reasoning": text, "reasoning_details": []any{
			map[string]any{"type": "reasoning.text", "text": text, "signature": signature, "id": "r1", "format": "anthropic-claude-v1", "index": 0},
		}}
	}
	return map[string]any{"reasoning_content": text}
}

// Answer implements Wire.
func (o OpenAI) Answer(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, finish any) {
		send(w, "data: %s\n\n", toJSON(map[string]any{
			"id": "c1", "object": "chat.completion.chunk", "model": "gpt-test-1", "usage": nil,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		}))
	}
	chunk(o.begin(), nil)
	if a.Thinking != "" {
		chunk(o.thought(a.Thinking, a.signature()), nil)
	}
	if a.Refusal != "" {
		chunk(map[string]any{"refusal": a.Refusal}, nil)
	}
	for _, d := range a.pieces() {
		chunk(map[string]any{"content": d}, nil)
		between(a)
	}
	if a.Broken {
		return
	}
	form := "call_%d_%d"
	if o.Kind == "mistral" {
		form = "call%d%04d" // nine letters and digits
	}
	for i, c := range a.ToolCalls {
		pieces := c.pieces()
		chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.id(a, i, form), "type": "function", "function": map[string]any{"name": c.Name, "arguments": pieces[0]},
		}}}, nil)
		chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": pieces[1]}}}}, nil)
	}
	finish := map[llm.Stop]string{llm.StopLength: "length", llm.StopRefusal: "content_filter", llm.StopToolUse: "tool_calls"}[a.stop()]
	if finish == "" || a.Refusal != "" {
		finish = "stop"
	}
	chunk(map[string]any{}, finish)
	reasoned := 0
	if a.Thinking != "" {
		reasoned = a.Output
	}
	send(w, "data: %s\n\ndata: [DONE]\n\n", toJSON(map[string]any{
		"id": "c1", "model": "gpt-test-1", "choices": []any{},
		"usage": map[string]any{"prompt_tokens": a.Input, "completion_tokens": a.Output, "total_tokens": a.Input + a.Output, "prompt_tokens_details": map[string]any{"cached_tokens": a.Cached}, "completion_tokens_details": map[string]any{"reasoning_tokens": reasoned}},
	}))
}

// Fail implements Wire.
func (OpenAI) Fail(w http.ResponseWriter, status int, code, message string) {
	fail(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": code}})
}
