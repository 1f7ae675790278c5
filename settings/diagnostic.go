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

// Error holds every fault of the settings, in the order of the file; warnings come with them.
type Error struct{ Diagnostics []diag.Diagnostic }

// Error is one line for each error.
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
