package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// turn is the assistant's message as it grows. Every member is kept, known to us or not, so that it can go back unchanged.
type turn struct {
	fields  map[string]json.RawMessage
	growing map[string]*strings.Builder // members that are strings and come in pieces, put together once at the end
	inputs  map[int]*strings.Builder    // arguments of calls by index, likewise
	seen    map[int]bool                // indexes of calls
	loose   int                         // calls without one
}

// maxCalls limits the calls of one answer: their list is rebuilt for each. Real answers have a few.
const maxCalls = 512

// tooLong reports that the message's calls never end.
func (t *turn) tooLong() bool { return len(t.seen)+t.loose > maxCalls }

func newTurn() *turn {
	return &turn{fields: map[string]json.RawMessage{}, growing: map[string]*strings.Builder{}, inputs: map[int]*strings.Builder{}, seen: map[int]bool{}}
}

// merge adds a delta: strings grow, lists are extended (by "index" where their members have one), the rest is replaced.
func (t *turn) merge(delta map[string]json.RawMessage) {
	for name, value := range delta {
		value = bytes.TrimSpace(value)
		if name == "tool_calls" {
			value = t.gather(value)
		}
		grown, fresh := t.growing[name], len(t.fields[name]) == 0
		isText := len(value) > 0 && value[0] == '"' && !once[name]
		switch {
		case isText && (grown != nil || fresh):
			if grown == nil {
				grown = &strings.Builder{}
				t.growing[name] = grown
			}
			grown.WriteString(text(value))
		case grown != nil && len(value) > 0 && value[0] == '[':
			t.fields[name] = quote(grown.String())
			delete(t.growing, name)
			t.fields[name] = mergeValue(name, t.fields[name], value)
		case grown == nil && string(value) != "null":
			t.fields[name] = mergeValue(name, t.fields[name], value)
		}
	}
}

// gather takes the pieces of arguments out of a list of calls: merging them one by one would take quadratic time.
func (t *turn) gather(list json.RawMessage) json.RawMessage {
	var items []map[string]json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		return list
	}
	changed := false
	for _, item := range items {
		var index *int
		var function map[string]json.RawMessage
		if json.Unmarshal(item["index"], &index) != nil || index == nil {
			t.loose++
			continue
		}
		t.seen[*index] = true
		if json.Unmarshal(item["function"], &function) != nil {
			continue
		}
		piece := bytes.TrimSpace(function["arguments"])
		if len(piece) == 0 || piece[0] != '"' {
			continue
		}
		if t.inputs[*index] == nil {
			t.inputs[*index] = &strings.Builder{}
		}
		t.inputs[*index].WriteString(text(piece))
		delete(function, "arguments")
		item["function"], changed = encode(function, item["function"]), true
	}
	if !changed {
		return list
	}
	return encode(items, list)
}

// settle puts the gathered arguments back into their calls.
func (t *turn) settle() {
	var items []map[string]json.RawMessage
	if len(t.inputs) == 0 || json.Unmarshal(t.fields["tool_calls"], &items) != nil {
		return
	}
	for _, item := range items {
		var index *int
		function := map[string]json.RawMessage{}
		if json.Unmarshal(item["index"], &index) != nil || index == nil || t.inputs[*index] == nil || json.Unmarshal(item["function"], &function) != nil {
			continue
		}
		function["arguments"] = quote(t.inputs[*index].String())
		item["function"] = encode(function, item["function"])
		delete(t.inputs, *index) // of two calls with one index the first gets them, as when they were merged
	}
	t.fields["tool_calls"] = encode(items, t.fields["tool_calls"])
}

// once are the members that are not pieces of a text although they are strings: they repeat.
var once = map[string]bool{"role": true, "type": true, "id": true, "format": true}

func mergeValue(name string, old, next json.RawMessage) json.RawMessage {
	next = bytes.TrimSpace(next)
	if len(next) == 0 || string(next) == "null" {
		if old != nil {
			return old
		}
		return next
	}
	if len(old) == 0 || string(old) == "null" || once[name] {
		return next
	}
	switch {
	case old[0] == '"' && next[0] == '"':
		return quote(text(old) + text(next))
	case old[0] == '[' && next[0] == '[':
		return mergeList(old, next)
	case old[0] == '{' && next[0] == '{':
		var a, b map[string]json.RawMessage
		if json.Unmarshal(old, &a) == nil && json.Unmarshal(next, &b) == nil {
			for name, value := range b {
				a[name] = mergeValue(name, a[name], value)
			}
			return encode(a, old)
		}
	case old[0] == '"' && next[0] == '[': // Mistral: plain text first, then a list of parts
		if text(old) == "" {
			return next
		}
		return mergeList(encode([]textPart{{"text", text(old)}}, old), next)
	case old[0] == '[' && next[0] == '"':
		return mergeList(old, encode([]textPart{{"text", text(next)}}, next))
	}
	return next
}

func mergeList(old, next json.RawMessage) json.RawMessage {
	var all, more []json.RawMessage
	if json.Unmarshal(old, &all) != nil || json.Unmarshal(next, &more) != nil {
		return next
	}
	for _, item := range more {
		if at := sameIndex(all, item); at >= 0 {
			all[at] = mergeValue("", all[at], item)
			continue
		}
		if grown, ok := lengthen(all, item); ok {
			all[len(all)-1] = grown
			continue
		}
		all = append(all, item)
	}
	return encode(all, old)
}

// lengthen continues the last part of a list by one of its type that holds a piece more of its text or thinking: Mistral
// streams a part for each piece.
func lengthen(all []json.RawMessage, item json.RawMessage) (json.RawMessage, bool) {
	if len(all) == 0 {
		return nil, false
	}
	var last, next map[string]json.RawMessage
	if json.Unmarshal(all[len(all)-1], &last) != nil || json.Unmarshal(item, &next) != nil || len(last) != 2 || len(next) != 2 {
		return nil, false
	}
	kind := text(next["type"])
	if kind != text(last["type"]) || kind != "text" && kind != "thinking" || last[kind] == nil || next[kind] == nil {
		return nil, false
	}
	last[kind] = mergeValue("", last[kind], next[kind])
	return encode(last, item), true
}

// sameIndex finds the member that an item continues, -1 when it is a new one.
func sameIndex(all []json.RawMessage, item json.RawMessage) int {
	index := func(raw json.RawMessage) (int, bool) {
		var v struct {
			Index *int `json:"index"`
		}
		if json.Unmarshal(raw, &v) != nil || v.Index == nil {
			return 0, false
		}
		return *v.Index, true
	}
	want, ok := index(item)
	if !ok {
		return -1
	}
	for i, have := range all {
		if n, ok := index(have); ok && n == want {
			return i
		}
	}
	return -1
}

// raw returns the message to echo.
func (t *turn) raw() json.RawMessage {
	out := map[string]json.RawMessage{"role": quote("assistant"), "content": json.RawMessage("null")} // some servers miss it
	maps.Copy(out, t.fields)
	for name, grown := range t.growing {
		out[name] = quote(grown.String())
	}
	return encode(out, json.RawMessage(`{"role":"assistant","content":""}`))
}

// calls returns the tool calls of the finished message. It also corrects them in the message, so that it can be echoed:
// "index" is only for the stream, every call has its own id, and arguments that are not a JSON object are left out. name
// makes an id for the call at a position.
func (t *turn) calls(name func(place int) string) []content.Block {
	t.settle()
	var list []map[string]json.RawMessage
	if json.Unmarshal(t.fields["tool_calls"], &list) != nil || len(list) == 0 {
		return nil
	}
	var blocks []content.Block
	seen := map[string]bool{}
	for i, fields := range list {
		if fields == nil {
			fields = map[string]json.RawMessage{}
			list[i] = fields
		}
		delete(fields, "index")
		id := text(fields["id"])
		if id == "" || seen[id] {
			id = name(i)
			fields["id"] = quote(id)
		}
		seen[id] = true
		var called map[string]json.RawMessage
		if json.Unmarshal(fields["function"], &called) != nil || called == nil {
			called = map[string]json.RawMessage{}
		}
		input := wire.CallInput(arguments(called["arguments"]))
		called["arguments"] = quote(string(wire.CallObject(input)))
		fields["function"] = encode(called, fields["function"])
		blocks = append(blocks, content.ToolCall{ID: id, Name: text(called["name"]), Input: input})
	}
	t.fields["tool_calls"] = encode(list, t.fields["tool_calls"])
	return blocks
}

// arguments are JSON in a string; some servers send the object itself.
func arguments(raw json.RawMessage) string {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	return text(raw)
}

// parts reads a content: a string, or Mistral's list of text and thinking parts.
func parts(raw json.RawMessage) (answer, thinking string) {
	var list []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return text(raw), ""
	}
	var said, thought strings.Builder
	for _, p := range list {
		if p.Type == "thinking" {
			inner, _ := parts(p.Thinking)
			thought.WriteString(inner)
			continue
		}
		said.WriteString(p.Text)
	}
	return said.String(), thought.String()
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else is no text
	return s
}

func quote(s string) json.RawMessage { return encode(s, json.RawMessage(`""`)) }

// encode marshals. It returns otherwise on an error, which cannot happen, since all parts came from valid JSON.
func encode(v any, otherwise json.RawMessage) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return otherwise
	}
	return data
}
