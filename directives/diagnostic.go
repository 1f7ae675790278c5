package directives

import (
	"cmp"
	"fmt"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// At returns a diagnostic for a position. It has the code's severity in [Codes], and the code's suggestion unless it has its
// own.
func At(p diag.Position, code, suggestion, format string, args ...any) diag.Diagnostic {
	c := codeOf(code)
	return diag.Diagnostic{
		File: p.File, Line: p.Line, Column: p.Column,
		Severity: c.Severity, Code: code, Message: fmt.Sprintf(format, args...), Suggestion: cmp.Or(suggestion, c.Fix),
	}
}

// report collects the diagnostics of one pass.
type report struct {
	list  []diag.Diagnostic
	items bool // {item}, {item-name} and {batch} have a meaning

	within bool // in a part without items, of a step that has items

	answers bool // {answer-…} has a meaning
}

// withoutItems calls a function for a part of a step that has no items.
func (r *report) withoutItems(check func()) {
	before := r.items
	r.items, r.within = false, before
	check()
	r.items, r.within = before, false
}

func (r *report) add(p diag.Position, code, suggestion, format string, args ...any) {
	r.list = append(r.list, At(p, code, suggestion, format, args...))
}
