package chunking

import (
	"strconv"
	"strings"
)

// maxPage is the largest page number that is believed, and maxPoints the largest coordinate in points.
const (
	maxPage   = 1_000_000
	maxPoints = 1e6
)

// Page reads the fragment of a link to a document: `page=3`, `page=8&rect=10,20,300,400`, `page=3#height=400`. page
// counts from 1 and is 0 when the fragment names none. rect is a part of that page in PDF points (1/72 inch): x1, y1 of
// the lower left corner and x2, y2 of the upper right one, counted from the page's lower left corner, whichever way
// round the corners were written; nil means the whole page. A rect without a page is on page 1. Other parameters,
// such as height and selection, are left aside, and of one that stands twice the first holds.
//
// ok is false when the page is no number from 1 to a million, or the rect is not four numbers that span at least a
// point in each direction; page and rect are zero then.
func Page(fragment string) (page int, rect *[4]float64, ok bool) {
	for param := range strings.FieldsFuncSeq(fragment, func(r rune) bool { return r == '&' || r == '#' }) {
		key, value, _ := strings.Cut(param, "=")
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case key == "page" && page == 0:
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n < 1 || n > maxPage {
				return 0, nil, false
			}
			page = n
		case key == "rect" && rect == nil:
			if rect = corners(value); rect == nil {
				return 0, nil, false
			}
		}
	}
	if rect != nil && page == 0 {
		page = 1
	}
	return page, rect, true
}

// corners reads `x1,y1,x2,y2`; nil when the text has another form or the rectangle is empty.
func corners(s string) *[4]float64 {
	var n [4]float64
	parts := strings.Split(s, ",")
	if len(parts) != len(n) {
		return nil
	}
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v >= -maxPoints && v <= maxPoints) { // NaN is neither
			return nil
		}
		n[i] = v
	}
	n = [4]float64{min(n[0], n[2]), min(n[1], n[3]), max(n[0], n[2]), max(n[1], n[3])}
	if n[2]-n[0] < 1 || n[3]-n[1] < 1 {
		return nil
	}
	return &n
}
