package directives

import (
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Formats of an [Output].
const (
	FormatMarkdown = "markdown"
	FormatJSON     = "json"
	FormatYAML     = "yaml"
)

// Output is one `@output`.
type Output struct {
	At     diag.Position `json:"at"` // of the `@`
	Target Target        `json:"target"`
	Scope  string        `json:"scope,omitempty"`  // of a variable: run or workflow; empty means run
	Format string        `json:"format,omitempty"` // markdown, json or yaml; empty means markdown
	// Untrusted lets content from outside determine the whole path, not only a file name in the author's folder.
	Untrusted bool `json:"untrusted,omitempty"`
	// Omissions adds to the note what the model got less of than was written.
	Omissions bool `json:"omissions,omitempty"`
}

func readOutput(d Directive, r *report) Output {
	out := Output{At: d.At}
	t, ok := parseTarget("@output", source{text: d.Text, at: d.TextAt}, r)
	out.Target = t
	for _, p := range d.Params {
		switch p.Key {
		case "scope":
			out.Scope = p.word(r, "run", "workflow")
			if ok && t.Scheme != SchemeVariable {
				r.add(p.At, CodeScopeUnused, "", "scope= belongs to a variable")
			}
		case "format":
			out.Format = p.word(r, FormatMarkdown, FormatJSON, FormatYAML)
		case "untrusted":
			out.Untrusted = p.word(r, "block", "allow") == "allow"
			if ok && t.Scheme == SchemeVariable {
				r.add(p.At, CodeParamElsewhere, "remove it", "untrusted= belongs to a file")
			}
		case "omissions":
			out.Omissions = p.word(r, "on", "off") == "on"
			if ok && t.Scheme == SchemeVariable {
				r.add(p.At, CodeParamElsewhere, "remove it", "omissions= belongs to a note")
			}
		}
	}
	if out.Omissions && (out.Format == FormatJSON || out.Format == FormatYAML) {
		r.add(d.At, CodeParamElsewhere, "remove it, or write format=markdown", "omissions= belongs to a note, and the output is %s", out.Format)
	}
	if ok && t.Scheme == SchemeFile {
		if t.Link && t.Fragment != "" {
			r.add(t.At, CodeFragment, "write @write_mode section (heading=…)", "#%s has no meaning in an @output", clip(t.Fragment))
		}
		r.answers = true
		checkOutputPath(t, r)
		r.answers = false
	}
	return out
}
