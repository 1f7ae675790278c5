package directives

import (
	"encoding/json"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// DefaultSchemaRetries is how often a model is asked to fix an answer that does not match its schema.
const DefaultSchemaRetries = 2

// Schema is `@schema`: the answer is JSON that matches a JSON Schema, from a file in the vault (JSON or YAML) or a fenced
// block right below the directive.
type Schema struct {
	At      diag.Position   `json:"at"`
	Target  *Target         `json:"target,omitempty"` // nil for an inline schema
	Inline  json.RawMessage `json:"inline,omitempty"` // as JSON
	Retries int             `json:"retries"`          // repairs; DefaultSchemaRetries unless set
}

// maxSchemaRetries bounds retries=.
const maxSchemaRetries = 10

func readSchema(d Directive, r *report) *Schema {
	s := &Schema{At: d.At, Retries: DefaultSchemaRetries}
	for _, p := range d.Params { // retries
		s.Retries = p.upTo(r, maxSchemaRetries)
	}
	if d.Body != nil {
		if d.Text != "" {
			r.add(d.TextAt, CodeMalformed, "write @schema (retries=2)", "%q is not a parameter block", clip(d.Text))
			return s
		}
		s.Inline = inlineSchema(*d.Body, d.At, r)
		return s
	}
	t, ok := parseTarget("@schema", source{text: d.Text, at: d.TextAt}, r)
	if !ok {
		return s
	}
	s.Target = &t
	if t.Scheme == SchemeVariable {
		r.add(d.TextAt, CodeDirectiveValue, "write @schema file: PATH", "a schema must be a file, not a variable")
		return s
	}
	t.refuseFragment("@schema", r)
	checkSinglePath(t, r)
	return s
}

// checkSinglePath checks a path that must name one file to read.
func checkSinglePath(t Target, r *report) {
	name := t.Path
	if !t.Literal {
		if _, ok := checkPattern(t.source(), modePath, r); !ok {
			return
		}
		name, _ = expand(t.Path, sample, modePath)
	}
	if t.Link {
		return
	}
	if i := strings.IndexAny(name, "*?"); i >= 0 && !t.Literal {
		(&pathFault{CodeOutputGlob, "name one file", "a schema must be one file, not a glob", name[i : i+1]}).report(t, r)
	} else if f := faultOf(name); f != nil {
		f.report(t, r)
	}
}
