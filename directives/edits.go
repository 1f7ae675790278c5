package directives

import (
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// mend adds edits to the last diagnostic.
func (r *report) mend(edits ...diag.Edit) {
	if len(r.list) > 0 {
		r.list[len(r.list)-1].Edits = edits
	}
}

// mendWord replaces a word with the candidate that it must mean. In doubt it does nothing.
func (r *report) mendWord(at diag.Position, word string, candidates []string) {
	if near, ok := diag.Certain(word, candidates); ok {
		r.mend(diag.Replace(at, utf8.RuneCountInString(word), near))
	}
}
