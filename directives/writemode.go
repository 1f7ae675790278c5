package directives

import (
	"slices"
	"strings"
)

// WriteMode says how an output is put into its file or variable.
type WriteMode struct {
	Mode    string   `json:"mode"`              // append, replace or new
	Heading string   `json:"heading,omitempty"` // for section
	At      Position `json:"at,omitzero"`
}

// Write modes.
const (
	ModeAppend  = "append"
	ModeReplace = "replace"
	ModeNew     = "new"

	ModeFrontmatter = "frontmatter" // a JSON object is merged into the note's properties
	ModeSection     = "section"     // the body under a heading is replaced
)

// OrAppend is the mode, and append for the zero value.
func (m WriteMode) OrAppend() string {
	if m.Mode == "" {
		return ModeAppend
	}
	return m.Mode
}

// later lists write modes of the language that this version does not carry out.
var later = []string{"frontmatter", "section"}

func readWriteMode(d Directive, r *report) *WriteMode {
	m := &WriteMode{Mode: strings.ToLower(d.Text), At: d.At}
	for _, p := range d.Params {
		m.Heading = p.Value
		if m.Mode != "section" {
			r.add(p.At, CodeParamElsewhere, "", "heading= belongs to @write_mode section")
		}
	}
	checkMode(m.Mode, d.TextAt, CodeDirectiveValue, "@write_mode", r)
	return m
}

func checkMode(mode string, at Position, code, owner string, r *report) {
	modes := []string{ModeAppend, ModeReplace, ModeNew}
	switch {
	case slices.Contains(later, mode):
		r.add(at, CodeNotAvailable, "use append, replace or new", "%s %s is not available in this version", owner, mode)
	case !slices.Contains(modes, mode):
		r.add(at, code, didYouMean(mode, append(modes, later...), ""), "%s is %s, not %q", owner, oneOf(modes), clip(mode))
	}
}
