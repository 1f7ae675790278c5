package ocr

import (
	"fmt"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
)

// doubts returns why the text of a page may be wrong.
func (a attempt) doubts(words []Word, confidence float64, v version) (list []doubt.Doubt) {
	advice := v.advice()
	switch {
	case len(words) == 0 && advice != "":
		return doubt.Add(nil, doubt.Empty, "no text was found; "+advice)
	case len(words) == 0 && len(a.page.Said) > 0:
		return doubt.Add(nil, doubt.Empty, "no text was found; photograph it again from above, with more light and no shadow")
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

// doubtful is the mean confidence below which a tenth of the characters may be wrong, measured with simulated photographs.
const doubtful = 75
