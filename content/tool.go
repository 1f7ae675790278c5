package content

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// MaxToolText is how many bytes of a tool's output are shown to a model. Media are not counted in it.
const MaxToolText = 30 * 1024

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"`
}

// Type implements Block.
func (ToolCall) Type() Type { return TypeToolCall }

// Text implements Block: a line such as `[tool call: read {"name":"a.md"}]`.
func (c ToolCall) Text() string {
	if len(c.Input) == 0 {
		return "[tool call: " + line(c.Name) + "]"
	}
	return "[tool call: " + line(c.Name) + " " + string(c.Input) + "]"
}

// ToolResult is what a tool returned.
type ToolResult struct {
	CallID       string
	Success      bool
	Output       string          // text for the model
	Blocks       []Block         // media and further text, in order
	Data         json.RawMessage // the same for programs; long encoded strings are left out when stored
	FilesChanged []string        // names inside the vault
	Error        string          // why it did not succeed, one sentence
	Origins      []string        // the untrusted things in it, as policy.Trust returns them; not stored with it
}

// Type implements Block.
func (ToolResult) Type() Type { return TypeToolResult }

// Parts is what a model is shown of the result, in order: the error, the output (at most MaxToolText bytes) and the
// blocks; Data when there is nothing else.
func (r ToolResult) Parts() []Block {
	var parts []Block
	if r.Error != "" {
		parts = append(parts, Text{Value: "error: " + r.Error})
	}
	if r.Output != "" {
		parts = append(parts, Text{Value: clip(r.Output, MaxToolText)})
	}
	parts = append(parts, r.Blocks...)
	if len(parts) == 0 && len(r.Data) > 0 {
		parts = append(parts, Text{Value: clip(string(r.Data), MaxToolText)})
	}
	return parts
}

// Text implements Block: the texts of Parts, a blank line between two.
func (r ToolResult) Text() string { return Join(r.Parts()) }

// clip cuts s to at most limit bytes, the notice included, without splitting a character.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	notice := fmt.Sprintf("\n[cut: %s in all]", FormatSize(int64(len(s))))
	end := limit - len(notice)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + notice
}
