package llm

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
)

// paired returns the messages with tool results ordered: the user's turn after calls begins with exactly one result for each
// call, in the order of the calls. Missing, duplicate and foreign results are an error of ClassPairing.
//
// If the request offers no tools (because a fallback model cannot use any, for example), calls and results become text and
// media, and turns with calls are not echoed.
func (r Request) paired(provider string) ([]Message, error) {
	if len(r.Tools) == 0 {
		return withoutTools(r.Messages), nil
	}
	out := slices.Clone(r.Messages)
	var calls []content.ToolCall
	for i, m := range out {
		blocks, err := answering(m, calls)
		if err != nil {
			return nil, &Error{Class: ClassPairing, Provider: provider, Unsent: true, Message: fmt.Sprintf("message %d: %v", i+1, err)}
		}
		out[i].Blocks, calls = blocks, nil
		if m.Role == Assistant {
			calls = callsOf(m)
		}
	}
	if len(calls) > 0 {
		return nil, &Error{Class: ClassPairing, Provider: provider, Unsent: true, Message: fmt.Sprintf("the call of %s has no result", calls[0].Name)}
	}
	return out, nil
}

// answering returns the blocks of a message with its results first, in the order of the calls before it.
func answering(m Message, calls []content.ToolCall) ([]content.Block, error) {
	results := map[string]content.Block{}
	var rest []content.Block
	for _, b := range m.Blocks {
		result, ok := b.(content.ToolResult)
		if !ok {
			rest = append(rest, b)
			continue
		}
		known := slices.ContainsFunc(calls, func(c content.ToolCall) bool { return c.ID == result.CallID })
		if _, twice := results[result.CallID]; twice || !known || m.Role != User {
			return nil, fmt.Errorf("a result (%q) answers no call before it", result.CallID)
		}
		results[result.CallID] = b
	}
	var out []content.Block
	for _, c := range calls {
		result, ok := results[c.ID]
		if !ok {
			return nil, fmt.Errorf("the call of %s (%q) has no result", c.Name, c.ID)
		}
		delete(results, c.ID)
		out = append(out, result)
	}
	return append(out, rest...), nil
}

func callsOf(m Message) []content.ToolCall {
	var calls []content.ToolCall
	for _, b := range m.Blocks {
		if call, ok := b.(content.ToolCall); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// withoutTools replaces tool blocks by their text and media.
func withoutTools(messages []Message) []Message {
	out := slices.Clone(messages)
	names := map[string]string{} // of tools, by call
	for i, m := range out {
		if calls := callsOf(m); len(calls) > 0 {
			out[i].Raw = nil
			for _, c := range calls {
				names[c.ID] = c.Name
			}
		}
		var blocks []content.Block
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case content.ToolCall:
				blocks = append(blocks, content.Text{Value: b.Text()})
			case content.ToolResult:
				blocks = append(blocks, content.Text{Value: "[tool result: " + names[b.CallID] + "]\n"})
				blocks = append(blocks, b.Parts()...)
			default:
				blocks = append(blocks, b)
			}
		}
		out[i].Blocks = blocks
	}
	return out
}

// ParametersOrNone returns the schema of the tool's parameters; without one, the schema of an object without members.
func (t Tool) ParametersOrNone() json.RawMessage {
	if len(t.Parameters) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Parameters
}
