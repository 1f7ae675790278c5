package llmtest

import (
	"net/http"

	"github.com/vaultflow/vaultflow/llm"
)

// Answer implements Wire.
func (Anthropic) Answer(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	event := func(name string, v map[string]any) {
		v["type"] = name
		send(w, "event: %s\ndata: %s\n\n", name, toJSON(v))
	}
	event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test-1", "content": []any{},
		"usage": map[string]any{"input_tokens": a.Input - a.Cached, "cache_read_input_tokens": a.Cached, "cache_creation_input_tokens": 0, "output_tokens": 1},
	}})
	event("ping", map[string]any{})
	index := 0
	if a.Thinking != "" {
		event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "thinking", "thinking": "", "signature": ""}})
		event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "thinking_delta", "thinking": a.Thinking}})
		event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "signature_delta", "signature": a.signature()}})
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	if a.Redacted {
		event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "redacted_thinking", "data": Signature(-a.turn)}})
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	deltas := a.pieces()
	if a.Refusal != "" {
		deltas = []string{a.Refusal}
	}
	if len(deltas) > 0 {
		event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "text", "text": ""}})
		for _, d := range deltas {
			event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "text_delta", "text": d}})
			between(a)
		}
		for _, p := range a.Passages {
			event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "citations_delta", "citation": map[string]any{
				"type": "page_location", "cited_text": p.Text, "document_index": p.Document, "document_title": nil,
				"start_page_number": p.Page, "end_page_number": p.Page + 1, "file_id": nil,
			}}})
		}
		if a.Broken {
			return
		}
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	for i, c := range a.ToolCalls {
		event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{
			"type": "tool_use", "id": c.id(a, i, "toolu_%d_%d"), "name": c.Name, "input": map[string]any{}, "caller": map[string]any{"type": "direct"},
		}})
		for _, piece := range c.pieces() {
			event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "input_json_delta", "partial_json": piece}})
		}
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	stop := map[llm.Stop]string{llm.StopLength: "max_tokens", llm.StopRefusal: "refusal", llm.StopToolUse: "tool_use"}[a.stop()]
	if stop == "" {
		stop = "end_turn"
	}
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": a.Output}})
	event("message_stop", map[string]any{})
}

// Fail implements Wire.
func (Anthropic) Fail(w http.ResponseWriter, status int, code, message string) {
	fail(w, status, map[string]any{"type": "error", "error": map[string]any{"type": code, "message": message}, "request_id": "req_1"})
}

func between(a Answer) {
	if a.Between != nil {
		a.Between()
	}
}
