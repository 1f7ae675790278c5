package ocr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// doubts returns why the text of a page may be wrong.
func (a attempt) doubts(words []Word, confidence float64, v version) (list []doubt.Doubt) {
	advice, unread := v.advice(), len(words) == 0 || confidence < illegible
	switch {
	case unread && advice != "":
		return doubt.Add(nil, doubt.Empty, "hardly any text could be read; "+advice)
	case unread && a.print:
		return doubt.Add(nil, doubt.Empty, "hardly any text could be read; photograph it again from above, with more light and no shadow")
	case len(words) == 0:
		return nil
	case advice != "":
		list = doubt.Add(list, doubt.Recognition, advice)
	}
	unsure := 0
	var numbers []string
	for i, w := range words {
		if w.Confidence < sureWord {
			unsure++
		}
		if w.unsureNumber() || i > 0 && w.follows(words[i-1]) && w.hardlyRead() {
			numbers = append(numbers, layout.Normal(w.Text))
		}
	}
	if confidence < doubtful {
		list = doubt.Add(list, doubt.Recognition, fmt.Sprintf("recognised with %.0f %% confidence", confidence))
	} else if unsure > 2 && unsure*manyUnsure > len(words) {
		list = doubt.Add(list, doubt.Recognition, fmt.Sprintf("%d of %d words were recognised with little confidence", unsure, len(words)))
	}
	if len(numbers) > 0 {
		list = doubt.Add(list, doubt.Recognition, unsureNumbers(numbers))
	}
	return list
}

// Of the numbers of a fax, those below sureNumber were wrong as often as not; of clean scans and photographs that are read well, one
// page in twenty had one. A short word below hardlyRead that stands after others, such as ")" after "day", can be a number too.
const (
	sureNumber = 55
	hardlyRead = 30
)

func (w Word) unsureNumber() bool {
	return w.Confidence < sureNumber && strings.ContainsAny(w.Text, "0123456789")
}

func (w Word) hardlyRead() bool {
	return w.Confidence < hardlyRead && utf8.RuneCountInString(w.Text) <= 3
}

// mostNumbers is how many numbers a doubt names.
const mostNumbers = 4

// unsureNumbers are the words of a doubt about numbers: a letter that is wrong shows in its word, a digit does not.
func unsureNumbers(numbers []string) string {
	named := strings.Join(numbers[:min(len(numbers), mostNumbers)], " and ")
	if more := len(numbers) - mostNumbers; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return "compare numbers and signs that were recognised with little confidence: " + named
}

// Of simulated photographs, those with a mean confidence below doubtful had up to a tenth of the characters wrong and more, those
// above at most 6 %, unless one word in manyUnsure was unsure: of other pages, those full of formulas had one in ten. Below
// illegible, there were no words left.
const (
	doubtful   = 75
	manyUnsure = 7
	illegible  = 40
)
