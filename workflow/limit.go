package workflow

import (
	"slices"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// MaxDiagnostics is how many diagnostics of one file are listed.
const MaxDiagnostics = 100

// Limit keeps the first diagnostics of one file, preferring errors, in their order. If some are left out, another one counts
// them.
func Limit(list []diag.Diagnostic) []diag.Diagnostic {
	if len(list) <= MaxDiagnostics {
		return list
	}
	errors := 0
	for _, d := range list {
		if d.Severity == diag.SeverityError {
			errors++
		}
	}
	others := MaxDiagnostics - min(errors, MaxDiagnostics)
	var kept []diag.Diagnostic
	for _, d := range list {
		switch isError := d.Severity == diag.SeverityError; {
		case len(kept) == MaxDiagnostics:
		case isError:
			kept = append(kept, d)
		case others > 0:
			others--
			kept = append(kept, d)
		}
	}
	last := kept[len(kept)-1]
	kept = append(kept, directives.At(last.Position(), directives.CodeManyMistakes, "fix these first", "%d more are not listed", len(list)-len(kept)))
	return slices.Clip(kept)
}
