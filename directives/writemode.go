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
	Merge   string        `json:"merge,omitempty"`   // for section: append or tasks; empty: the text below the heading is replaced
	Union   []string      `json:"union,omitempty"`   // for frontmatter: properties whose lists are united besides tags and aliases; none: not even these
	At      diag.Position `json:"at,omitzero"`
}

// How the text below a heading is merged with an answer.
const (
	MergeAppend = "append" // the answer comes below what is there
	MergeTasks  = "tasks"  // tasks are ticked and added by their text
)

// UnionNone is the union of no property.
const UnionNone = "none"

// unitedAlways are properties whose lists grow unless union=none. Obsidian knew the first two in the singular.
var unitedAlways = []string{"tag", "alias", "tags", "aliases"}

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

// Unites reports whether a list in a property of this name is united with that of an answer, and not replaced.
func (m WriteMode) Unites(property string) bool {
	is := func(name string) bool { return strings.EqualFold(name, property) }
	return !slices.Contains(m.Union, UnionNone) && (slices.ContainsFunc(unitedAlways, is) || slices.ContainsFunc(m.Union, is))
}

func readWriteMode(d Directive, r *report) WriteMode {
	m := WriteMode{Mode: strings.ToLower(d.Text), At: d.At}
	if !checkMode(m.Mode, d.TextAt, CodeDirectiveValue, "@write_mode", r) {
		r.mendWord(d.TextAt, d.Text, modes)
		return m
	}
	byKey := map[string]Param{}
	for _, p := range d.Params {
		byKey[p.Key] = p
	}
	m.details(byKey, d.TextAt, "@write_mode ", r)
	return m
}

// details reads heading=, merge= and union=, each of which belongs to one mode. The owner is what stands before the mode.
func (m *WriteMode) details(byKey map[string]Param, at diag.Position, owner string, r *report) {
	var heading *Param
	if p, ok := byKey["heading"]; ok {
		heading = &p
	}
	m.Heading = readHeading(m.Mode, heading, at, owner+ModeSection, r)
	if p, ok := byKey["merge"]; ok && m.Mode != ModeSection {
		r.add(p.At, CodeParamElsewhere, "", "merge= belongs to %s", owner+ModeSection)
	} else if ok {
		m.Merge = p.word(r, MergeAppend, MergeTasks)
	}
	if p, ok := byKey["union"]; ok && m.Mode != ModeFrontmatter {
		r.add(p.At, CodeParamElsewhere, "", "union= belongs to %s", owner+ModeFrontmatter)
	} else if ok {
		m.Union = readUnion(p, r)
	}
}

func readUnion(p Param, r *report) []string {
	var names []string
	if !p.Bare {
		names = readNames(p.Value)
	}
	for i, name := range names {
		if strings.EqualFold(name, UnionNone) {
			names[i] = UnionNone
		}
	}
	switch {
	case len(names) == 0:
		r.add(p.ValueAt, CodeParamValue, `write union=people, union="a, b" or union=none`, "union names no property")
	case len(names) > 1 && slices.Contains(names, UnionNone):
		r.add(p.ValueAt, CodeParamValue, "write union=none alone, or leave it out", "union=none excludes other properties")
	}
	return names
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
