package directives

import (
	"cmp"
	"fmt"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// At makes a diagnostic for a position. The severity is the one that the code has in [Codes]; without a suggestion of
// its own it has the code's.
func At(p diag.Position, code, suggestion, format string, args ...any) diag.Diagnostic {
	c := codeOf(code)
	return diag.Diagnostic{
		File: p.File, Line: p.Line, Column: p.Column,
		Severity: c.Severity, Code: code, Message: fmt.Sprintf(format, args...), Suggestion: cmp.Or(suggestion, c.Fix),
	}
}

// report gathers the diagnostics of one pass.
type report struct {
	list  []diag.Diagnostic
	items bool // {item}, {item-name} and {batch} have a meaning

	within bool // in a part without items of a step that has some
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
