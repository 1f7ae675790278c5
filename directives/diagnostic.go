package directives

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// Severities of a [Diagnostic]. A workflow with an error does not run; warnings and notes do not stop it.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
	SeverityNote    = "note"
)

// Position is a place in a source file. Lines and columns count from 1; columns count characters (code points), not
// bytes. The zero Position means that the place is not known.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String is `file:line:column`.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Diagnostic is one thing to say about a source text. It is an error value too, so that the faults found while
// resolving an input carry their position to the person who can mend them.
type Diagnostic struct {
	File       string `json:"file"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Severity   string `json:"severity"`
	Code       string `json:"code"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion"`
	Edits      []Edit `json:"edits,omitempty"` // that mend it; all of them or none; empty when a person must decide
}

// Edit replaces a part of the source, from a position up to the one before its end, by a new text. Positions count as in
// [Position]; a range that ends where it starts is an insertion. A whole line goes from column 1 to column 1 of the
// next. New has \n line ends, whatever the source has.
type Edit struct {
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	New       string `json:"new"`
}

// Mended is the diagnostic with the edits that mend it.
func (d Diagnostic) Mended(edits ...Edit) Diagnostic {
	d.Edits = edits
	return d
}

// Replace is the edit that replaces so many characters of one line.
func Replace(at Position, characters int, text string) Edit {
	return Edit{Line: at.Line, Column: at.Column, EndLine: at.Line, EndColumn: at.Column + characters, New: text}
}

// String is `file:line:column: severity[code]: message`, followed by the suggestion in brackets if there is one.
func (d Diagnostic) String() string {
	s := fmt.Sprintf("%s:%d:%d: %s[%s]: %s", d.File, d.Line, d.Column, d.Severity, d.Code, d.Message)
	if d.Suggestion != "" {
		s += " (" + d.Suggestion + ")"
	}
	return s
}

// Error is the same text as String.
func (d Diagnostic) Error() string { return d.String() }

var _ failure.Reporter = Diagnostic{}

// Failure implements [failure.Reporter].
func (d Diagnostic) Failure() failure.Error {
	return failure.Error{Hint: d.Suggestion}
}

// MarshalJSON adds `"type":"diagnostic"`, which every line of machine output starts with.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	type plain Diagnostic
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"diagnostic", plain(d)})
}

// HasErrors says whether any of the diagnostics is an error.
func HasErrors(list []Diagnostic) bool {
	return slices.ContainsFunc(list, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// Sort orders diagnostics by file, line and column, and removes exact repetitions. It works in place and returns the
// shortened slice.
func Sort(list []Diagnostic) []Diagnostic {
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(list, same)
}

// same compares without edits, which follow from the rest.
func same(a, b Diagnostic) bool {
	return a.Position() == b.Position() && a.Severity == b.Severity && a.Code == b.Code && a.Message == b.Message && a.Suggestion == b.Suggestion
}

// Position is where the diagnostic stands.
func (d Diagnostic) Position() Position {
	return Position{File: d.File, Line: d.Line, Column: d.Column}
}

// At makes a diagnostic for a position. The severity is the one that the code has in [Codes]; without a suggestion of
// its own it has the code's.
func At(p Position, code, suggestion, format string, args ...any) Diagnostic {
	c := codeOf(code)
	return Diagnostic{
		File: p.File, Line: p.Line, Column: p.Column,
		Severity: c.Severity, Code: code, Message: fmt.Sprintf(format, args...), Suggestion: cmp.Or(suggestion, c.Fix),
	}
}

// report gathers the diagnostics of one pass.
type report struct {
	list  []Diagnostic
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

func (r *report) add(p Position, code, suggestion, format string, args ...any) {
	r.list = append(r.list, At(p, code, suggestion, format, args...))
}
