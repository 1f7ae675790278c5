// Package doubt has the reasons not to trust the text of a page, and compares what several readers read there.
package doubt

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Doubt is a reason not to trust the text of a page: a code for programs, and words for people and models. The words complete
// "The text of this page is doubtful: …".
type Doubt struct {
	Code  string `json:"code"`
	Words string `json:"words"`
}

// The codes of doubts.
const (
	Order       = "order"       // paragraphs or columns may be in the wrong order
	Table       = "table"       // cells may be in the wrong row or column
	Readers     = "readers"     // two readers of the text layer disagree
	Recognition = "recognition" // recognised with little confidence
	Empty       = "empty"       // no text was found, although something is drawn
	Hardly      = "hardly"      // in summaries alone: Empty, of pages that have some text nevertheless
	Lost        = "lost"        // part of the page is missing in the file
	Vision      = "vision"      // a model's answer was refused, or the page was not sent to it
)

// NoLayout are the words about a page whose layout met a defect of the program.
const NoLayout = "its layout could not be found, so its lines are as they are in the file"

// Limits of the doubts about a page.
const (
	most     = 4 // doubts that a worker reports; others are added to them
	mostAll  = 6
	maxWords = 200 // bytes of the words of one
)

// codeForm is the form of a code. Workers are not trusted.
var codeForm = regexp.MustCompile(`^[a-z][a-z_]{0,29}$`)

// Add adds a doubt to a list, unless the list is full or has it already.
func Add(list []Doubt, code, words string) []Doubt {
	d := Doubt{code, clean(words)}
	if len(list) >= mostAll || d.Words == "" || !codeForm.MatchString(code) || slices.Contains(list, d) {
		return list
	}
	return append(list, d)
}

// Clean returns the doubts that a worker sent, within the limits and without what does not belong into a line of text.
func Clean(sent []Doubt) (list []Doubt) {
	for _, d := range sent {
		if len(list) < most {
			list = Add(list, d.Code, d.Words)
		}
	}
	return list
}

// Has reports whether a list has a doubt with a code.
func Has(list []Doubt, code string) bool {
	return slices.ContainsFunc(list, func(d Doubt) bool { return d.Code == code })
}

// Words joins the words of a list.
func Words(list []Doubt) string {
	words := make([]string, len(list))
	for i, d := range list {
		words[i] = d.Words
	}
	return strings.Join(words, "; ")
}

// Summary is a sentence about the pages of a document that have a kind of doubt. pages is as "pages 3 and 5-7".
func Summary(code, pages string) string {
	switch code {
	case Order:
		return "the text of " + pages + " may be in the wrong order: compare it with the picture"
	case Table:
		return "tables on " + pages + " may have wrong rows or columns: compare them with the picture"
	case Readers:
		return "two programs read the text of " + pages + " differently: compare it with the picture"
	case Recognition:
		return "the text of " + pages + " was recognised with little confidence: compare it with the picture"
	case Empty:
		return "no text was found on " + pages + ", although something is drawn there"
	case Hardly:
		return "text on " + pages + " is probably missing, because hardly any could be recognised: compare it with the picture"
	}
	return "the text of " + pages + " is doubtful: compare it with the picture"
}

// clean returns words as one short line without signs that Markdown or a prompt would read.
func clean(words string) string {
	words = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), strings.ContainsRune("[]<>`*|#^\\", r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(words, ""))
	words = strings.Join(strings.Fields(words), " ")
	if len(words) > maxWords {
		words = strings.ToValidUTF8(words[:maxWords-len("…")], "") + "…"
	}
	return words
}
