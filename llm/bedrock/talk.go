package bedrock

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

type message struct {
	Role    llm.Role `json:"role"`
	Content []any    `json:"content"`
}

type resultBlock struct {
	Result toolResult `json:"toolResult"`
}

type toolResult struct {
	ToolUseID string `json:"toolUseId"`
	Content   []any  `json:"content"`
	Status    string `json:"status,omitempty"`
}

type jsonBlock struct {
	JSON json.RawMessage `json:"json"`
}

// nothing is the text of a user's turn that is required but missing.
const nothing = "."

// talk writes the turns of one request.
type talk struct {
	model   string
	family  family
	json    bool // a result's text goes as a JSON value
	drawing *wire.Drawing
	ids     map[string]string // of other services' calls: under which they go
}

// messages returns the turns, a user's first, with neighbours of one role merged: the roles must alternate.
func (t *talk) messages(turns []llm.Turn) []message {
	var out []message
	for _, turn := range turns {
		parts := t.turn(turn)
		if len(parts) == 0 {
			continue
		}
		if len(out) == 0 && turn.Role == llm.Assistant {
			out = append(out, message{llm.User, []any{textBlock{nothing}}})
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == turn.Role {
			out[last].Content = append(out[last].Content, parts...)
			continue
		}
		out = append(out, message{turn.Role, parts})
	}
	return out
}

func (t *talk) turn(turn llm.Turn) []any {
	if raw, ok := wire.UnpackRaw(turn.Raw, wireName, t.model); ok && turn.Role == llm.Assistant {
		return t.echo(raw, t.family.takesReasoning() && !(turn.Stale && llm.ClaudeBindsThinking(t.model)))
	}
	var parts []any
	for _, r := range turn.Results {
		parts = append(parts, resultBlock{t.result(r)})
	}
	return append(parts, t.said(turn.Blocks)...)
}

// echo returns the service's own turn, block by block, with its reasoning or without.
func (t *talk) echo(raw json.RawMessage, reasoning bool) []any {
	var blocks []json.RawMessage
	_ = json.Unmarshal(raw, &blocks) // only lists were stored
	var parts []any
	for _, b := range blocks {
		var kind struct {
			Reasoning json.RawMessage `json:"reasoningContent"`
		}
		_ = json.Unmarshal(b, &kind) // a block is an object
		if len(kind.Reasoning) == 0 || reasoning {
			parts = append(parts, b)
		}
	}
	return parts
}

// said returns texts, calls and media. A document always has a text beside it.
func (t *talk) said(blocks []content.Block) []any {
	var parts []any
	texts := 0
	var alone content.Block
	for _, b := range blocks {
		if call, ok := b.(content.ToolCall); ok {
			parts = append(parts, toolUseBlock{t.call(call)})
			continue
		}
		if medium, ok := t.drawing.Media(b); ok {
			parts = append(parts, medium)
			if b.Type() == content.TypeDocument && alone == nil {
				alone = b
			}
			continue
		}
		texts++
		parts = append(parts, textBlock{b.Text()})
	}
	if alone != nil && texts == 0 {
		parts = append([]any{textBlock{fmt.Sprintf("This is file %s:", llm.MediaID(alone))}}, parts...)
	}
	return parts
}

// call is another service's call.
func (t *talk) call(c content.ToolCall) map[string]json.RawMessage {
	if !acceptedID.MatchString(c.ID) {
		t.ids[c.ID] = wire.ForeignCallID(c.ID, 24)
	}
	id, _ := json.Marshal(t.id(c.ID)) // a string always has a JSON form
	name, _ := json.Marshal(c.Name)
	return map[string]json.RawMessage{"toolUseId": id, "name": name, "input": wire.CallObject(c.Input)}
}

func (t *talk) id(id string) string {
	if mapped, ok := t.ids[id]; ok {
		return mapped
	}
	return id
}

// result returns a tool's result, media in place.
func (t *talk) result(r llm.Result) toolResult {
	out := toolResult{ToolUseID: t.id(r.CallID)}
	if t.family.saysStatus() {
		out.Status = "success"
		if r.Failed {
			out.Status = "error"
		}
	}
	switch {
	case len(r.Media()) == 0 && !t.json:
		out.Content = []any{textBlock{r.Text()}}
	case !t.json:
		out.Content = t.said(r.Parts)
	default:
		if text := r.Text(); text != "" {
			out.Content = append(out.Content, jsonBlock{object(text)})
		}
		for _, b := range r.Media() {
			if medium, ok := t.drawing.Media(b); ok {
				out.Content = append(out.Content, medium)
			}
		}
	}
	return out
}

// object returns a result's text as the JSON object that the service requires: the text itself if it is one.
func object(text string) json.RawMessage {
	var members map[string]json.RawMessage
	if trimmed := strings.TrimSpace(text); json.Unmarshal([]byte(trimmed), &members) == nil && members != nil {
		return json.RawMessage(trimmed)
	}
	data, _ := json.Marshal(map[string]string{"output": text}) // texts always have a JSON form
	return data
}
