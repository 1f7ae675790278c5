package settings

import (
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// The codes of diagnostics. They are stable.
const (
	CodeSyntax     = "VS101" // the file is not YAML
	CodeUnknownKey = "VS102" // no such key
	CodeTwice      = "VS103" // a key is set twice
	CodeType       = "VS104" // the wrong kind of value, such as a list for a word
	CodeValue      = "VS105" // a value that is not allowed
	CodeRange      = "VS106" // a number, size or duration out of bounds
	CodeReference  = "VS107" // a name that does not exist
	CodeConflict   = "VS108" // two settings that exclude each other
	CodeSecret     = "VS201" // a secret where others can read it
	CodeUnsafe     = "VS202" // allowed, but risky
	CodeNoEffect   = "VS203" // this version ignores it
	CodeWaits      = "VS204" // a value in the vault's files that has no effect until it is granted
	CodeDefault    = "VS301" // a default that was chosen
	CodeStricter   = "VS302" // a value in the vault's file that would loosen one of the user's own
)

// Error holds every fault of the settings and the warnings, in the order of the file.
type Error struct{ Diagnostics []diag.Diagnostic }

// Error returns one line for each error.
func (e *Error) Error() string {
	var lines []string
	for _, d := range e.Diagnostics {
		if d.Severity == diag.SeverityError {
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
type reporter struct{ list []diag.Diagnostic }

func (r *reporter) report(at Origin, severity diag.Severity, code, suggestion, format string, args ...any) {
	r.list = append(r.list, diag.Diagnostic{
		File: at.place(), Line: at.Line, Column: at.Column, Severity: severity, Code: code,
		Message: visible.Name(mask(fmt.Sprintf(format, args...))), Suggestion: visible.Name(mask(suggestion)),
	})
}
