// Package tools holds what a model may call while it works on a step. A tool gets the model's input, which is never
// trusted, and gives a result for the model; what goes wrong is a result that says so, so that the model can go on. The
// package keeps no state between steps, and reaches the world through what its constructors are given.
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

// Effect is the most that a tool does to the world. What a step that has read untrusted content may still use goes by it.
type Effect string

// The effects, from the mildest. The zero value is EffectRead.
const (
	EffectRead    Effect = ""        // looks at the vault, or at what the step was given
	EffectWrite   Effect = "write"   // changes files of the vault, or starts what does
	EffectNetwork Effect = "network" // reaches beyond this machine, if only to read
)

// Tool is one thing that a model may call. Parameters is the JSON Schema of its input, an object. Run gets the input as
// the model wrote it and sets everything in the result but the call's id; it is not called at the same time for one step.
type Tool struct {
	Name        string // on the wire: letters, digits, _ and -, at most 64
	Called      string // as workflows call it, when that is something else, such as server.tool
	Effect      Effect
	ReadOnly    bool   // of EffectNetwork: it only looks at what it reaches, so that nobody is asked before (@approve tools)
	Description string // for the model
	Note        string // what people should know of it, for the run's record
	Parameters  json.RawMessage
	Run         func(ctx context.Context, input json.RawMessage) content.ToolResult
}

// Registry is what one step offers, in order.
type Registry []Tool

// Offered is the registry as a request carries it.
func (r Registry) Offered() []llm.Tool {
	var list []llm.Tool
	for _, t := range r {
		list = append(list, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return list
}

// Called is the name that workflows have for a tool.
func (r Registry) Called(name string) string {
	for _, t := range r {
		if t.Name == name && t.Called != "" {
			return t.Called
		}
	}
	return name
}

// Names lists the tools.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, t := range r {
		names[i] = t.Name
	}
	return names
}

// Effect is what a tool does to the world; EffectRead for one that is not offered.
func (r Registry) Effect(name string) Effect {
	for _, t := range r {
		if t.Name == name {
			return t.Effect
		}
	}
	return EffectRead
}

// NeedsYes says whether `@approve tools` asks a person before a tool is called: it changes something, here or elsewhere.
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
		result = Failed("there is no tool %.80q; there are: %s", call.Name, strings.Join(r.Names(), ", "))
	case json.Unmarshal(input, &object) != nil || object == nil:
		result = Failed("the input of %s must be a JSON object", call.Name)
	default:
		result = r[i].Run(ctx, input)
	}
	result.CallID = call.ID
	return result
}

// Failed is a result that says what is wrong.
func Failed(format string, args ...any) content.ToolResult {
	return content.ToolResult{Error: fmt.Sprintf(format, args...)}
}
