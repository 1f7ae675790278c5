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
	for _, row := range t.rows {
		if amounts := stacked(row); amounts > 1 {
			several += amounts
		}
	}
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

// stacked counts the cells of a row that hold one amount below another, and not what belongs to the first, in parentheses.
func stacked(row [][]Line) (n int) {
	for _, cell := range row {
		lines := rowsOf(cell)
		if len(lines) > 1 && !slices.ContainsFunc(cell, func(l Line) bool { return !amount.MatchString(l.Text) || l.Text[0] == '(' }) {
			n++
		}
	}
	return n
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
		fits, wrong, far := 0, 0, 0
		for c := 1; c < len(t.rows[r]); c++ {
			switch t.fits(c, from, r) {
			case itFits:
				fits++
			case itIsNear:
				wrong++
			case itIsFar:
				far++
			}
		}
		if wrong > 0 && fits > 1 && fits >= 2*wrong || far > 0 && fits > 2 && fits >= 3*(wrong+far) {
			return false
		}
		from = r + 1
	}
	return true
}

// fit is how a total is related to the numbers above it.
type fit int

const (
	unknown  fit = iota // some are no numbers, or it may be a mean of them
	itFits              // it is their sum
	itIsNear            // it was meant to be their sum
	itIsFar             // nothing that they make
)

// fits compares the numbers of a column's rows with the one in row end.
func (t *table) fits(c, from, end int) fit {
	want, places, ok := valueOf(t.rows[end][c])
	if !ok || end-from < 3 {
		return unknown
	}
	sum, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for _, row := range t.rows[from:end] {
		v, p, ok := valueOf(row[c])
		if !ok {
			return unknown
		}
		sum, least, most = sum+v, min(least, v), max(most, v)
		places = min(places, p)
	}
	switch near := sum*want > 0 && sum/want > 0.6 && sum/want < 1.6; {
	case math.Abs(sum-want) <= math.Pow10(-places)*float64(end-from+1)/2:
		return itFits
	case near:
		return itIsNear
	case want >= least && want <= most || strings.Contains(t.rows[end][c][0].Text, "%"):
		return unknown
	}
	return itIsFar
}

// valueOf reads the number of a cell, and how many decimal places it has. A dash is zero.
func valueOf(cell []Line) (value float64, places int, ok bool) {
	if len(cell) != 1 {
		return 0, 0, false
	}
	text := strings.TrimRight(strings.TrimSpace(cell[0].Text), "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾") // marks of notes
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
