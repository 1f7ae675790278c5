package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

var errNoItems = errors.New("the answer is not what Responses sends")

type itemEvent struct {
	Type     string          `json:"type"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response *itemResponse   `json:"response"`
}

type itemResponse struct {
	Status string            `json:"status"`
	Model  string            `json:"model"`
	Output []json.RawMessage `json:"output"`
	Error  json.RawMessage   `json:"error"`
	Why    struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *itemUsage `json:"usage"`
}

type itemUsage struct {
	Input        int `json:"input_tokens"`
	Output       int `json:"output_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *itemUsage) total() cost.Usage {
	if u == nil {
		return cost.Usage{CostUnknown: true}
	}
	return cost.Usage{
		InputTokens: max(u.Input, 0), OutputTokens: max(u.Output, 0), CachedTokens: max(u.InputDetails.Cached, 0),
		ThinkingTokens: max(u.OutputDetails.Reasoning, 0), CostUnknown: true,
	}
}

// itemReader collects one answer: the finished items, which are complete, and the last event, which holds the outcome.
type itemReader struct {
	items []json.RawMessage
	end   *itemResponse
}

func readItems(answer *wire.Answer, request llm.Request, progress func(string)) (*llm.Response, error) {
	answer.Tell(progress)
	r := &itemReader{}
	for e, err := range wire.ServerEvents(answer.Body) {
		if err != nil {
			return nil, answer.Broken(err)
		}
		if string(e.Data) == "[DONE]" { // some gateways send it here too
			break
		}
		if err := r.take(answer, e.Data); err != nil {
			return nil, err
		}
	}
	if r.end == nil {
		return nil, answer.Broken(io.ErrUnexpectedEOF)
	}
	return r.response(answer, request)
}

func (r *itemReader) take(answer *wire.Answer, data []byte) error {
	var e itemEvent
	if json.Unmarshal(data, &e) != nil {
		return answer.Broken(errNoItems)
	}
	switch e.Type {
	case "response.output_text.delta":
		answer.Say(e.Delta)
	case "response.output_item.done":
		r.items = append(r.items, e.Item)
	case "response.completed", "response.incomplete":
		r.end = e.Response
	case "response.failed":
		if e.Response == nil {
			return answer.Broken(errNoItems)
		}
		return answer.Failed(wire.ParseFailure([]byte(`{"error":` + string(orNull(e.Response.Error)) + `}`)))
	case "error":
		return answer.Failed(wire.ParseFailure(data))
	}
	return nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// item is the part of an answer's item that is read.
type item struct {
	Type    string `json:"type"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (r *itemReader) response(answer *wire.Answer, request llm.Request) (*llm.Response, error) {
	out := &llm.Response{Stop: llm.StopEnd, Usage: r.end.Usage.total(), Model: r.end.Model, Text: answer.Text()}
	calls := map[string]bool{}
	for i, raw := range r.items {
		var it item
		if json.Unmarshal(raw, &it) != nil {
			return nil, answer.Broken(errNoItems)
		}
		if it.Type == "function_call" {
			if it.CallID == "" || calls[it.CallID] {
				it.CallID = wire.ForeignCallID(fmt.Sprintf("call %d.%d", len(request.Messages), i), foreignID)
			}
			calls[it.CallID] = true
			r.items[i] = it.mended(raw)
		}
		out.Blocks = append(out.Blocks, it.blocks()...)
		for _, c := range it.Content {
			out.Refusal += c.Refusal
		}
	}
	switch {
	case out.Refusal != "" || r.end.Why.Reason == "content_filter":
		out.Stop = llm.StopRefusal
	case r.end.Why.Reason == "max_output_tokens":
		out.Stop = llm.StopLength
	case r.end.Status == "incomplete":
		out.Stop = llm.StopOther
	case len(calls) > 0:
		out.Stop = llm.StopToolUse
	}
	if len(r.items) > 0 && (out.Text != "" || len(calls) > 0) {
		out.Raw = wire.PackRaw(responsesWire, request.Model, encode(echoed(r.items), nil))
	}
	return wire.Settle(out, answer, request)
}

// echoed returns the items to send back: unchanged, except for unencrypted reasoning. The service, which stores nothing,
// could not find it, so it is left out, together with the ids of the items after it, which refer to it.
func echoed(items []json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	dropped := false
	for _, raw := range items {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			continue
		}
		if text(fields["type"]) == "reasoning" && text(fields["encrypted_content"]) == "" {
			dropped = true
			continue
		}
		if dropped {
			delete(fields, "id")
			raw = encode(fields, raw)
		}
		out = append(out, raw)
	}
	return out
}

// blocks converts an item; what we have no block for is only in the raw turn.
func (it item) blocks() []content.Block {
	var blocks []content.Block
	switch it.Type {
	case "message":
		for _, c := range it.Content {
			if c.Text != "" {
				blocks = append(blocks, content.Text{Value: c.Text})
			}
		}
	case "reasoning":
		var thoughts []string
		for _, s := range it.Summary {
			thoughts = append(thoughts, s.Text)
		}
		blocks = append(blocks, content.Thinking{Value: strings.Join(thoughts, "\n\n")})
	case "function_call":
		blocks = append(blocks, content.ToolCall{ID: it.CallID, Name: it.Name, Input: wire.CallInput(it.Arguments)})
	}
	return blocks
}

// mended returns a call to echo: under its id, and without arguments that are not a JSON object.
func (it item) mended(raw json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	object := string(wire.CallObject(wire.CallInput(it.Arguments)))
	if text(fields["call_id"]) == it.CallID && object == it.Arguments {
		return raw
	}
	fields["call_id"], fields["arguments"] = quote(it.CallID), quote(object)
	return encode(fields, raw)
}
