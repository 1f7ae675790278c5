package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/failure"
)

// Severity says how bad a diagnostic is.
type Severity string

// The severities. Only errors keep settings from loading.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// The codes of diagnostics. They are stable.
const (
	CodeSyntax     = "VS101" // the file is not YAML
	CodeUnknownKey = "VS102" // no such key
	CodeTwice      = "VS103" // a key stands twice
	CodeType       = "VS104" // a list where a word belongs, and the like
	CodeValue      = "VS105" // a value that is not allowed here
	CodeRange      = "VS106" // a number, size or duration out of bounds
	CodeReference  = "VS107" // a name that nothing has
	CodeConflict   = "VS108" // two settings that exclude each other
	CodeSecret     = "VS201" // a key where others may read it
	CodeUnsafe     = "VS202" // allowed, and a risk
	CodeNoEffect   = "VS203" // this version does nothing with it
	CodeWaits      = "VS204" // a value of the vault's files that takes no effect until it is granted
	CodeDefault    = "VS301" // what was chosen because nobody said anything
	CodeStricter   = "VS302" // a value of the vault's file that would loosen one of the user's own
)

// Diagnostic is one thing to say about the settings. Its JSON is that of all diagnostics of vaultflow.
type Diagnostic struct {
	File       string   `json:"file"` // path as given; "environment" and "flags" for the others
	Line       int      `json:"line"` // from 1; 0 outside a file
	Column     int      `json:"column"`
	Severity   Severity `json:"severity"`
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Suggestion string   `json:"suggestion"`
}

// String is `file:line:column: severity[code]: message (suggestion)`.
func (d Diagnostic) String() string {
	place := d.File
	if d.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", d.File, d.Line, d.Column)
	}
	s := fmt.Sprintf("%s: %s[%s]: %s", place, d.Severity, d.Code, d.Message)
	if d.Suggestion != "" {
		s += " (" + d.Suggestion + ")"
	}
	return s
}

// MarshalJSON adds `"type":"diagnostic"`.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	type plain Diagnostic
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"diagnostic", plain(d)})
}

// Error holds every fault of the settings, in the order of the file; warnings come with them.
type Error struct{ Diagnostics []Diagnostic }

// Error is one line for each error.
func (e *Error) Error() string {
	var lines []string
	for _, d := range e.Diagnostics {
		if d.Severity == SeverityError {
			lines = append(lines, d.String())
		}
	}
	return strings.Join(lines, "\n")
}

var _ failure.Reporter = (*Error)(nil)

// Failure implements [failure.Reporter].
func (*Error) Failure() failure.Error {
	return failure.Error{Code: failure.InvalidSettings, Hint: "settings.example.yaml describes every key"}
}

// reporter collects diagnostics.
type reporter struct{ list []Diagnostic }

func (r *reporter) report(at Origin, severity Severity, code, suggestion, format string, args ...any) {
	r.list = append(r.list, Diagnostic{
		File: at.place(), Line: at.Line, Column: at.Column, Severity: severity, Code: code,
		Message: visible.Name(mask(fmt.Sprintf(format, args...))), Suggestion: visible.Name(mask(suggestion)),
	})
}

// sorted gives the diagnostics in the order of places.
func (r *reporter) sorted() []Diagnostic {
	slices.SortStableFunc(r.list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.list
}

func (r *reporter) failed() bool {
	return slices.ContainsFunc(r.list, func(d Diagnostic) bool { return d.Severity == SeverityError })
}
