package layout

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Reasons for which a table is doubtful.
const (
	rowsDoubt    = "the rows of a table are unclear"
	columnsDoubt = "the columns of a table are unclear"
	totalDoubt   = "a total of a table does not fit the numbers of its column"
)

// check looks for signs that numbers of a table are in wrong cells.
func (t *table) check() {
	numeric := t.numeric()
	several, together := 0, 0
	for _, row := range t.rows[1:] {
		for c, cell := range row {
			if !numeric[c] || len(cell) == 0 {
				continue
			}
			switch lines := rowsOf(cell); {
			case len(lines) > 1 && !slices.ContainsFunc(cell, func(l Line) bool { return !isNumber(l.Text) }):
				several++
			case len(lines) == 1 && numbersIn(merge(lines[0]).Text) > 1:
				together++
			}
		}
	}
	switch {
	case several > 1:
		t.doubt = rowsDoubt
	case together > 1:
		t.doubt = columnsDoubt
	case !t.addsUp():
		t.doubt = totalDoubt
	}
}

// numeric reports which columns are mostly numbers, below the first row.
func (t *table) numeric() []bool {
	out := make([]bool, len(t.rows[0]))
	for c := range out {
		numbers, all := 0, 0
		for _, row := range t.rows[1:] {
			if len(row[c]) > 0 {
				all++
				if isNumber(row[c][0].Text) {
					numbers++
				}
			}
		}
		out[c] = numbers > 1 && numbers*10 >= 7*all
	}
	return out
}

var amount = regexp.MustCompile(`^[-–−(]?[$€£¥]?\d[\d.,]*[)%]?$`)

// numbersIn counts numbers that blanks divide. Groups of three digits may be one number, and what is short and in parentheses a note.
func numbersIn(text string) int {
	n := 0
	for _, word := range strings.Fields(text) {
		digits := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsDigit(r) })
		note := strings.HasPrefix(word, "(") && len(digits) < 3
		if amount.MatchString(word) && !note && (n == 0 || len(digits) != 3) {
			n++
		}
	}
	return n
}

var total = regexp.MustCompile(`(?i)^\W*(?:grand |sub-?)?(?:total|totals|sum|summe|gesamt|insgesamt|somme|totale)\b`)

// addsUp reports whether totals fit their columns. Many a total is of other rows, or an average: a column is wrong only where most others
// of the row fit.
func (t *table) addsUp() bool {
	from := 1
	for r := 1; r < len(t.rows); r++ {
		if !total.MatchString(rowText(t.rows[r][:1])) {
			continue
		}
		fits, wrong := 0, 0
		for c := 1; c < len(t.rows[r]); c++ {
			switch fit, known := t.fits(c, from, r); {
			case known && fit:
				fits++
			case known:
				wrong++
			}
		}
		if wrong > 0 && fits > 1 && fits >= 2*wrong {
			return false
		}
		from = r + 1
	}
	return true
}

// fits reports whether the numbers of a column's rows make the one in row end. It is not known if some are no numbers, or if they cannot
// have been meant to.
func (t *table) fits(c, from, end int) (fit, known bool) {
	want, places, ok := valueOf(t.rows[end][c])
	if !ok || end-from < 3 {
		return false, false
	}
	sum := 0.0
	for _, row := range t.rows[from:end] {
		v, p, ok := valueOf(row[c])
		if !ok {
			return false, false
		}
		sum += v
		places = min(places, p)
	}
	if math.Abs(sum-want) <= math.Pow10(-places)*float64(end-from+1)/2 {
		return true, true
	}
	return false, sum*want > 0 && sum/want > 0.6 && sum/want < 1.6
}

// valueOf reads the number of a cell, and how many decimal places it has. A dash is zero.
func valueOf(cell []Line) (value float64, places int, ok bool) {
	if len(cell) != 1 {
		return 0, 0, false
	}
	text := strings.TrimSpace(cell[0].Text)
	if strings.Trim(text, "-–—―") == "" {
		return 0, 9, true
	}
	negative := strings.HasPrefix(text, "(") || strings.ContainsRune("-–−", []rune(text)[0])
	text = strings.Trim(text, "()$€£¥%-–−* ")
	if strings.Trim(text, "0123456789.,") != "" || text == "" {
		return 0, 0, false
	}
	if at := strings.LastIndexAny(text, ".,"); at >= 0 && (len(text)-at-1 != 3 || text[at] == '.' && strings.Count(text, ".") == 1) {
		places = len(text) - at - 1
		text = strings.NewReplacer(".", "", ",", "").Replace(text[:at]) + "." + text[at+1:]
	} else {
		text = strings.NewReplacer(".", "", ",", "").Replace(text)
	}
	value, err := strconv.ParseFloat(text, 64)
	if negative {
		value = -value
	}
	return value, places, err == nil
}
