// Package tools has the tools that a model may call during a step. A tool never trusts its input, and returns errors as results
// so that the model can continue. Tools keep no state between steps, and reach the world only through their fields.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// Effect is the most a tool can do to the world. It decides which tools a step may use after untrusted content.
type Effect string

// The effects, from the mildest. The zero value is EffectRead.
const (
	EffectRead    Effect = ""        // reads the vault, or the step's own data
	EffectWrite   Effect = "write"   // changes files of the vault, or starts runs that do
	EffectNetwork Effect = "network" // contacts other machines, if only to read
)

// Tool is a function that a model may call. Parameters is the JSON Schema of its input, an object. Run receives the model's
// input and returns the result without the call's id. A step calls Run from one goroutine at a time.
type Tool struct {
	Name        string // on the wire: letters, digits, _ and -, at most 64
	Called      string // as workflows call it, if different, such as server.tool
	Effect      Effect
	ReadOnly    bool   // of EffectNetwork: it changes nothing, so @approve tools does not ask
	Description string // for the model
	Note        string // a remark for people, kept in the run's record
	Parameters  json.RawMessage
	Run         func(ctx context.Context, input json.RawMessage) content.ToolResult
}

// Registry is what one step offers, in order.
type Registry []Tool

// Offered returns the tools as requests describe them.
func (r Registry) Offered() []llm.Tool {
	var list []llm.Tool
	for _, t := range r {
		list = append(list, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return list
}

// Called returns the name that workflows use for a tool.
func (r Registry) Called(name string) string {
	for _, t := range r {
		if t.Name == name && t.Called != "" {
			return t.Called
		}
	}
	return name
}

// Names returns the names of all tools.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, t := range r {
		names[i] = t.Name
	}
	return names
}

// Effect returns the effect of a tool; EffectRead if it is not offered.
func (r Registry) Effect(name string) Effect {
	for _, t := range r {
		if t.Name == name {
			return t.Effect
		}
	}
	return EffectRead
}

// NeedsYes reports whether calls of a tool need approval under `@approve tools`: it changes something, here or elsewhere.
func (r Registry) NeedsYes(name string) bool {
	return slices.ContainsFunc(r, func(t Tool) bool { return t.Name == name && t.Effect != EffectRead && !t.ReadOnly })
}

// Run carries out one call. The result is a failure if the tool is not offered, its input is no JSON object, or the context has
// ended.
func (r Registry) Run(ctx context.Context, call content.ToolCall) content.ToolResult {
	i := slices.IndexFunc(r, func(t Tool) bool { return t.Name == call.Name })
	var result content.ToolResult
	input := call.Input
	if len(strings.TrimSpace(string(input))) == 0 {
		input = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	switch {
	case ctx.Err() != nil:
		result = Failed("%.80q is not called: the run has been stopped", call.Name)
	case i < 0:
		result = Failed("no tool %.80q; tools: %s", call.Name, strings.Join(r.Names(), ", "))
	case json.Unmarshal(input, &object) != nil || object == nil:
		result = Failed("the input of %s must be a JSON object", call.Name)
	default:
		result = r[i].Run(ctx, input)
	}
	result.CallID = call.ID
	return result
}

// Failed returns a failed result with this error.
func Failed(format string, args ...any) content.ToolResult {
	return content.ToolResult{Error: fmt.Sprintf(format, args...)}
}
