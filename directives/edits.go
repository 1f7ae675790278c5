package directives

import (
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// mend gives edits to the diagnostic that was added last.
func (r *report) mend(edits ...diag.Edit) {
	if len(r.list) > 0 {
		r.list[len(r.list)-1].Edits = edits
	}
}

// mendWord replaces a word by the candidate that it must mean; in doubt nothing is offered.
func (r *report) mendWord(at diag.Position, word string, candidates []string) {
	if near, ok := diag.Certain(word, candidates); ok {
		r.mend(diag.Replace(at, utf8.RuneCountInString(word), near))
	}
}
