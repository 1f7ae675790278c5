package llmtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/ollama"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// subjects are one adapter for each published schema.
func subjects() map[string]llmtest.Subject {
	all := map[string]llmtest.Subject{
		"anthropic": {New: func(c wire.Config) llm.Provider { return anthropic.New(c) }, Wire: llmtest.Anthropic{}},
		"responses": {New: func(c wire.Config) llm.Provider { return openai.NewResponses(c) }, Path: "/v1", Wire: llmtest.Responses{}},
		"gemini":    {New: newGemini, Wire: llmtest.Gemini{IDs: true}},
		"ollama":    {New: func(c wire.Config) llm.Provider { return ollama.New(c) }, Wire: llmtest.Ollama{}},
		"bedrock":   bedrockOf("claude"),
	}
	for _, kind := range []string{"openai_chat", "openai_compatible", "mistral", "groq", "openrouter"} {
		all[kind] = chat(kind)
	}
	return all
}

// models are names by which an adapter knows what the model takes; the others take any.
var models = map[string]string{"gemini": "gemini-3-pro", "bedrock": "anthropic.claude-opus-4-6-v1"}

// talked is an accepted request with a picture and a document of the user, two calls, and a picture in each result.
func talked(t *testing.T, name string, s llmtest.Subject) llmtest.Captured {
	t.Helper()
	server := llmtest.NewServer(t, s.Wire,
		llmtest.Reply{Answer: llmtest.Answer{Text: "let me see", ToolCalls: []llmtest.ToolCall{{Name: "look", Input: `{"at":"a"}`}, {Name: "look", Input: `{"at":"b"}`}}}},
		llmtest.Reply{Answer: llmtest.Answer{Text: "done"}})
	p := s.New(wire.Config{BaseURL: server.URL + s.Path, APIKey: llmtest.Key})
	album := &llmtest.Album{}
	asked := []content.Block{content.Text{Value: "what is this?"}, album.Add(t, "a.png", "png", 20, 1)}
	if name != "groq" && name != "ollama" {
		asked = append(asked, album.AddDocument(t, "b.pdf", 1))
	}
	request := llm.Request{
		Model: models[name], System: "be brief", Media: album, Messages: []llm.Message{{Role: llm.User, Blocks: asked}},
		Tools: []llm.Tool{{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`)}},
	}
	if request.Model == "" {
		request.Model = "test-model"
	}
	first, err := p.Generate(t.Context(), request, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	request.Messages = append(request.Messages, llm.Message{Role: llm.Assistant, Blocks: first.Blocks, Raw: first.Raw})
	var results []content.Block
	for _, b := range first.Blocks {
		if call, ok := b.(content.ToolCall); ok {
			results = append(results, content.ToolResult{CallID: call.ID, Success: true, Output: "seen", Blocks: []content.Block{album.Add(t, call.ID+".png", "png", 20, 9)}})
		}
	}
	request.Messages = append(request.Messages, llm.Message{Role: llm.User, Blocks: append(results, content.Text{Value: "go on"})})
	if _, err := p.Generate(t.Context(), request, nil); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return server.Requests()[1]
}

// free are members whose objects are the author's own: schemas of tools, arguments of calls.
var free = []string{"parameters", "input_schema", "parametersJsonSchema", "args", "arguments", "json"}

// objects visits every object of a body that the service itself gives a form.
func objects(v any, at string, visit func(object map[string]any, at string)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v, at)
		for name, inner := range v {
			_, isCall := v["toolUseId"]
			if _, isObject := inner.(map[string]any); isObject && (slices.Contains(free, name) || name == "input" && (v["type"] == "tool_use" || isCall)) {
				continue
			}
			objects(inner, at+"/"+name, visit)
		}
	case []any:
		for i, inner := range v {
			objects(inner, fmt.Sprintf("%s/%d", at, i), visit)
		}
	}
}

func TestServers_refuseUnknownMembersEverywhere(t *testing.T) {
	t.Parallel()
	for name, s := range subjects() {
		good := talked(t, name, s)
		body := decode(t, good.Body)
		places := 0
		objects(body, "", func(object map[string]any, at string) {
			places++
			object["unheard_of"] = "x"
			if _, err := s.Wire.Read(good.Header, encode(t, body)); err == nil {
				t.Errorf("%s: an unknown member at %s was accepted", name, at)
			}
			delete(object, "unheard_of")
		})
		if _, err := s.Wire.Read(good.Header, encode(t, body)); err != nil || places < 10 {
			t.Errorf("%s: %d places, and unchanged: %v", name, places, err)
		}
	}
}

func decode(t *testing.T, data []byte) map[string]any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// at reads a decoded body by member names and places; a test that is wrong about the form stops here. A negative place counts
// from the end.
func at(v any, path ...any) any {
	for _, step := range path {
		if name, ok := step.(string); ok {
			v = v.(map[string]any)[name]
			continue
		}
		all, n := v.([]any), step.(int)
		if n < 0 {
			n += len(all)
		}
		v = all[n]
	}
	return v
}

// setAt replaces what stands at a path of a body.
func setAt(body, value any, path ...any) {
	last := len(path) - 1
	switch holder := at(body, path[:last]...).(type) {
	case map[string]any:
		holder[path[last].(string)] = value
	case []any:
		holder[path[last].(int)] = value
	}
}

// insertAt puts a value into the list at a path, before place n; remove takes that place out.
func insertAt(body, value any, n int, path ...any) {
	setAt(body, slices.Insert(slices.Clone(at(body, path...).([]any)), n, value), path...)
}

func remove(body any, n int, path ...any) {
	setAt(body, slices.Delete(slices.Clone(at(body, path...).([]any)), n, n+1), path...)
}

// rewrite changes the first string of a name that begins with old. It panics when there is none: the mutation would be none.
func rewrite(body any, name, old, next string) {
	done := false
	objects(body, "", func(o map[string]any, _ string) {
		if s, ok := o[name].(string); ok && !done && strings.HasPrefix(s, old) {
			o[name], done = next+strings.TrimPrefix(s, old), true
		}
	})
	if !done {
		panic(name + " never begins with " + old)
	}
}

func TestServers_refuse(t *testing.T) {
	t.Parallel()
	all := edits()
	for name, s := range subjects() {
		good := talked(t, name, s)
		if len(all[name]) < 7 {
			t.Errorf("%s: only %d mutations", name, len(all[name]))
		}
		for _, e := range all[name] {
			body := decode(t, good.Body)
			e.do(body)
			if _, err := s.Wire.Read(good.Header, encode(t, body)); err == nil {
				t.Errorf("%s: %s was accepted: %s", name, e.name, encode(t, body))
			}
		}
	}
}
