package directives

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Cite asks for page references in the answer, which are checked and become links.
type Cite struct {
	Mode string        `json:"mode"` // pages or quotes
	At   diag.Position `json:"at"`
}

// Modes of @cite.
const (
	CitePages  = "pages"
	CiteQuotes = "quotes" // quotations are looked up, too
)

func readCite(d Directive, r *report) *Cite {
	s, words := plainValue(d), []string{CitePages, CiteQuotes}
	mode := strings.ToLower(s.text)
	if !slices.Contains(words, mode) {
		r.add(s.at, CodeDirectiveValue, diag.DidYouMean(mode, words, "write @cite pages"), "@cite takes %s, not %q", diag.OneOf(words), clip(s.text))
		r.mendWord(s.at, s.text, words)
	}
	return &Cite{Mode: mode, At: d.At}
}
