package directives

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Tools is `@tools`: what a model may use in the step. Several lines of a step add up; for one tool the last line wins.
type Tools struct {
	At   diag.Position `json:"at"`
	All  bool          `json:"all,omitempty"`
	None bool          `json:"none,omitempty"`
	Uses []ToolUse     `json:"uses,omitempty"` // in the order written
}

// ToolUse is one tool, with where its results go.
type ToolUse struct {
	Name  string        `json:"name"`
	At    diag.Position `json:"at"`
	Route *Route        `json:"route,omitempty"` // nil: to the model
	// Untrusted keeps the tool available after the step was shown content from outside.
	Untrusted bool `json:"untrusted,omitempty"`
}

// toolNames are the tools of the language; MCP servers may add others.
var toolNames = []string{
	"read_file", "list_files", "search_files", "write_file", "append_file", "edit_file", "move_file", "delete_file", "read_chunks",
	"read_pages", "read_artifact", "read_variable", "run_workflow", "web_fetch", "web_search",
}

// ToolNames lists the tools of the language, whether a version has them or not.
func ToolNames() []string { return slices.Clone(toolNames) }

// toolParams are the parameters of one tool.
var toolParams = []string{"output", "write_mode", "heading", "merge", "union", "scope", "untrusted"}

// readTools reads a list of names, each of which may be followed by parameters: `read_file, web_fetch (output=variable:
// page)`. Commas and blanks separate them.
func readTools(d Directive, before *Tools, r *report) *Tools {
	t := &Tools{At: d.At}
	if before != nil {
		t = before
	}
	s := source{text: d.Text, at: d.TextAt}
	for i := 0; i < len(s.text); {
		switch c := s.text[i]; {
		case c == ' ' || c == '\t' || c == ',':
			i++
		case c == '(':
			r.add(s.pos(i), CodeMalformed, "write the tool's name before its parameters", "these parentheses do not belong to a tool")
			return t
		default:
			i = t.readUse(s, i, r)
		}
	}
	if t.None && (t.All || len(t.Uses) > 0) {
		r.add(d.At, CodeExclusive, "keep one of them", "@tools none contradicts the other tools")
	}
	return t
}

// readUse reads one name with its parameters, from an offset on, and returns the offset after them.
func (t *Tools) readUse(s source, start int, r *report) int {
	end := start
	for end < len(s.text) && strings.IndexByte(" \t,(", s.text[end]) < 0 {
		end++
	}
	use := ToolUse{Name: ToolName(s.text[start:end]), At: s.pos(start)}
	next := len(s.text) - len(strings.TrimLeft(s.text[end:], " \t"))
	var list []Param
	if next < len(s.text) && s.text[next] == '(' {
		var ok bool
		if end, list, ok = toolBlock(s, next, r); !ok {
			return len(s.text)
		}
	}
	word := strings.ToLower(use.Name)
	switch {
	case !ValidTool(use.Name):
		r.add(use.At, CodeDirectiveValue, "separate names with commas", "%q is not the name of a tool", clip(use.Name))
	case word == "all" || word == "none":
		t.All, t.None = t.All || word == "all", t.None || word == "none"
		for _, p := range list {
			r.add(p.At, CodeParamElsewhere, "name the tool", "%s applies to one tool", p.Key)
		}
	default:
		var scope *Param
		if use.Route, scope = readRouting("tool", list, r); scope != nil {
			r.add(scope.At, CodeScopeUnused, "add output=variable: NAME", "scope= belongs to a variable")
		}
		for _, p := range list {
			if p.Key == "untrusted" {
				use.Untrusted = p.word(r, "block", "allow") == "allow"
			}
		}
		t.add(use)
	}
	return end
}

// toolBlock reads the parameter block that opens at an offset.
func toolBlock(s source, open int, r *report) (end int, list []Param, ok bool) {
	g := grammar{params: toolParams, lists: []string{"union"}}
	shut := matching(s.text, open, true)
	if shut < 0 {
		shut = matching(s.text, open, false)
	}
	if shut < 0 {
		r.add(s.pos(open), CodeMalformed, "add the closing parenthesis", "this parenthesis is not closed")
		return 0, nil, false
	}
	inside := source{text: s.text[open+1 : shut], at: s.pos(open + 1)}
	return shut + 1, params("tools", g, split(inside, g), r), true
}

// add adds a tool to the list, or replaces it if it is there already.
func (t *Tools) add(use ToolUse) {
	i := slices.IndexFunc(t.Uses, func(u ToolUse) bool { return u.Name == use.Name })
	if i < 0 {
		t.Uses = append(t.Uses, use)
		return
	}
	t.Uses[i] = use
}

// ToolName returns a tool's canonical name: case and `-` do not matter for the language's own tools.
func ToolName(written string) string {
	if name := canonical(written); slices.Contains(toolNames, name) {
		return name
	}
	return written
}

// ValidTool reports whether a text can be the name of a tool: letters, digits and `_ - . : /`, at most 100 bytes.
func ValidTool(s string) bool {
	if s == "" || len(s) > 100 || !isLetter(rune(s[0])) {
		return false
	}
	return strings.IndexFunc(s, func(c rune) bool { return !isLetter(c) && (c < '0' || c > '9') && !strings.ContainsRune("_-.:/", c) }) < 0
}
