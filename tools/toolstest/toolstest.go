// Package toolstest has the suite that every tool passes: what a model, and the toolbox, may expect of any of them.
package toolstest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/content/conform"
	"github.com/vaultflow/vaultflow/tools"
)

// Case is one tool with what the suite needs to call it.
type Case struct {
	Tool  tools.Tool
	Input string // a call that succeeds, with a result as long as possible
	Long  bool   // its text has no bound: the toolbox keeps a long one in a variable

	// Slow returns the tool over a world that calls reached and then waits until the context ends; nil: it waits for nothing.
	Slow func(reached func()) tools.Tool
}

var wireName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// maxError is the longest error that a model is shown, in bytes.
const maxError = 8 << 10

// Exercise holds a tool to the promises that all tools share.
func Exercise(t *testing.T, c Case) {
	t.Helper()
	run := func(ctx context.Context, tool tools.Tool, input string) content.ToolResult {
		t.Helper()
		r := tools.Registry{tool}.Run(ctx, content.ToolCall{ID: "call", Name: tool.Name, Input: json.RawMessage(input)})
		switch size := len(tools.TextOf(r)); {
		case r.CallID != "call":
			t.Errorf("%.80s: the result belongs to call %q", input, r.CallID)
		case r.Success && r.Error != "", !r.Success && strings.TrimSpace(r.Error) == "":
			t.Errorf("%.80s: success %v with error %q", input, r.Success, r.Error)
		case len(r.Error) > maxError:
			t.Errorf("%.80s: an error of %d bytes, want at most %d", input, len(r.Error), maxError)
		case size > content.MaxToolText && !c.Long:
			t.Errorf("%.80s: a result of %d bytes, want at most %d", input, size, content.MaxToolText)
		}
		return r
	}
	parameters := describe(t, c.Tool)

	if r := run(t.Context(), c.Tool, c.Input); !r.Success {
		t.Errorf("%s: %s", c.Input, r.Error)
	}
	for _, input := range []string{`[]`, `"text"`, `null`, `{`, `{"no_such_parameter":1}`} {
		r := run(t.Context(), c.Tool, input)
		if r.Success {
			t.Errorf("%s is accepted", input)
		}
		if strings.Contains(input, "no_such") && !strings.Contains(r.Error, "no_such_parameter") {
			t.Errorf("an unknown parameter: %q does not name it", r.Error)
		}
	}
	run(t.Context(), c.Tool, fmt.Sprintf(`{%q:1}`, strings.Repeat("long ", 1<<14)))
	for _, name := range parameters {
		for _, value := range []string{`[[]]`, `{"a":{}}`, `-1`, `1e300`, `"` + strings.Repeat("long ", 1<<14) + `"`} {
			var all map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.Input), &all); err != nil {
				t.Fatal(err)
			}
			all[name] = json.RawMessage(value)
			input, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			r := run(t.Context(), c.Tool, string(input))
			if r.Success && value == `[[]]` {
				t.Errorf("%s: a list of lists is accepted", name)
			}
		}
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r := run(ended, c.Tool, c.Input); r.Success || len(r.FilesChanged) > 0 {
		t.Errorf("called when the context has ended: success %v, changed %v", r.Success, r.FilesChanged)
	}
	if c.Slow != nil {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if r := run(ctx, c.Slow(cancel), c.Input); r.Success {
			t.Errorf("cancelled while it waits: %+v", r)
		}
	}
}

// describe checks what a model is told of a tool, and returns the names of its parameters.
func describe(t *testing.T, tool tools.Tool) []string {
	t.Helper()
	if !wireName.MatchString(tool.Name) {
		t.Errorf("no service takes the name %q", tool.Name)
	}
	if n := len(strings.TrimSpace(tool.Description)); n == 0 || n > 1024 {
		t.Errorf("a description of %d bytes, want 1 to 1024", n)
	}
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Additional *bool                      `json:"additionalProperties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
		t.Fatalf("parameters: %v", err)
	}
	if _, err := conform.Compile(bytes.Clone(tool.Parameters), true); err != nil {
		t.Errorf("parameters: %v", err)
	}
	if schema.Type != "object" || schema.Additional == nil || *schema.Additional {
		t.Errorf("parameters: type %q, additional %v; want an object without additional properties", schema.Type, schema.Additional)
	}
	for _, name := range schema.Required {
		if schema.Properties[name] == nil {
			t.Errorf("the required parameter %s is not described", name)
		}
	}
	var names []string
	for name := range schema.Properties {
		names = append(names, name)
	}
	return names
}
