package ocr

import (
	"fmt"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
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
	if confidence < doubtful {
		list = doubt.Add(list, doubt.Recognition, fmt.Sprintf("recognised with %.0f %% confidence", confidence))
	}
	return list
}

// Of simulated photographs, those with a mean confidence below doubtful had up to a tenth of the characters wrong and more, those
// above at most 6 %. Below illegible, there were no words left.
const (
	doubtful  = 75
	illegible = 40
)
