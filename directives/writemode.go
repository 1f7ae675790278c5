package directives

import (
	"slices"
	"strings"
	"unicode"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// WriteMode is how an output is written to its file or variable.
type WriteMode struct {
	Mode    string        `json:"mode"`              // append, replace, new, frontmatter or section
	Heading string        `json:"heading,omitempty"` // for section: its text, with or without # marks
	At      diag.Position `json:"at,omitzero"`
}

// Write modes.
const (
	ModeAppend  = "append"
	ModeReplace = "replace"
	ModeNew     = "new" // numbers the files: name_000

	ModeFrontmatter = "frontmatter" // merges a JSON object into the note's properties
	ModeSection     = "section"     // replaces the text below a heading
)

var modes = []string{ModeAppend, ModeReplace, ModeNew, ModeFrontmatter, ModeSection}

// OrAppend returns the mode, or append for the zero value.
func (m WriteMode) OrAppend() string {
	if m.Mode == "" {
		return ModeAppend
	}
	return m.Mode
}

func readWriteMode(d Directive, r *report) WriteMode {
	m := WriteMode{Mode: strings.ToLower(d.Text), At: d.At}
	if !checkMode(m.Mode, d.TextAt, CodeDirectiveValue, "@write_mode", r) {
		r.mendWord(d.TextAt, d.Text, modes)
		return m
	}
	var heading *Param
	for _, p := range d.Params { // heading
		heading = &p
	}
	m.Heading = readHeading(m.Mode, heading, d.TextAt, "@write_mode section", r)
	return m
}

func checkMode(mode string, at diag.Position, code, owner string, r *report) bool {
	if slices.Contains(modes, mode) {
		return true
	}
	r.add(at, code, diag.DidYouMean(mode, modes, ""), "%s is %s, not %q", owner, diag.OneOf(modes), clip(mode))
	return false
}

// readHeading reads heading=, which belongs to mode section only.
func readHeading(mode string, p *Param, at diag.Position, owner string, r *report) string {
	switch {
	case p == nil && mode == ModeSection:
		r.add(at, CodeNeedsParam, "add heading=, such as heading=Log", "%s needs a heading", owner)
		return ""
	case p == nil:
		return ""
	case mode != ModeSection:
		r.add(p.At, CodeParamElsewhere, "", "heading= belongs to %s", owner)
		return ""
	}
	heading := strings.TrimSpace(p.Value)
	if strings.Trim(heading, "# \t") == "" || strings.ContainsFunc(heading, unicode.IsControl) {
		r.add(p.ValueAt, CodeParamValue, `write heading="My notes"`, "heading takes the text of a heading, not %q", clip(p.Value))
	}
	return heading
}
