// Package diag describes faults in texts that people write, such as workflows and settings: where, what is wrong, what to do,
// and, if it is certain, the edits that fix it.
package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/failure"
)

// Severity is how bad a diagnostic is.
type Severity string

// The severities. Only errors keep a text from being used.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// Position is a place in a source file. Lines and columns count from 1; columns count characters (code points), not
// bytes. The zero Position means that the place is not known.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns `file:line:column`, or the file alone if the line is unknown.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Diagnostic is one finding about a source text. It is also an error, so that a fault found while resolving an input keeps
// its position.
type Diagnostic struct {
	File       string   `json:"file"`
	Line       int      `json:"line"`
	Column     int      `json:"column"`
	Severity   Severity `json:"severity"`
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Suggestion string   `json:"suggestion"`
	Edits      []Edit   `json:"edits,omitempty"` // that fix it, to be made together; empty if the user must decide
}

// Edit replaces the source from a position up to an end, which it does not include. Positions count as in [Position]; a
// range that ends where it starts is an insertion. A whole line goes from its column 1 to column 1 of the next. New has \n
// line ends, whatever the source has.
type Edit struct {
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	New       string `json:"new"`
}

// Replace returns an edit that replaces so many characters of one line.
func Replace(at Position, characters int, text string) Edit {
	return Edit{Line: at.Line, Column: at.Column, EndLine: at.Line, EndColumn: at.Column + characters, New: text}
}

// Mended returns the diagnostic with the edits that fix it.
func (d Diagnostic) Mended(edits ...Edit) Diagnostic {
	d.Edits = edits
	return d
}

// Position returns where the fault is.
func (d Diagnostic) Position() Position {
	return Position{File: d.File, Line: d.Line, Column: d.Column}
}

// String returns `file:line:column: severity[code]: message (suggestion)`.
func (d Diagnostic) String() string {
	s := fmt.Sprintf("%s: %s[%s]: %s", d.Position(), d.Severity, d.Code, d.Message)
	if d.Suggestion != "" {
		s += " (" + d.Suggestion + ")"
	}
	return s
}

// Error returns the same text as String.
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

// HasErrors reports whether any diagnostic is an error.
func HasErrors(list []Diagnostic) bool {
	return slices.ContainsFunc(list, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// Sort orders diagnostics by file, line and column, and removes exact repetitions. It works in place and returns the
// shortened slice.
func Sort(list []Diagnostic) []Diagnostic {
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(list, same)
}

// same compares without edits, which follow from the rest.
func same(a, b Diagnostic) bool {
	return a.Position() == b.Position() && a.Severity == b.Severity && a.Code == b.Code && a.Message == b.Message && a.Suggestion == b.Suggestion
}
