package layout

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

const (
	narrow     = 320.0 // points of a page; receipts have up to 4½ inches
	narrowText = 32.0  // sizes of the type; the tills of supermarkets print 48 characters in a line
	fewPrices  = 3     // fewer do not make a receipt
)

// price is an amount of money, as tills print it: with two decimals, and often with a currency or the letter of a tax rate.
var price = regexp.MustCompile(`^[-–−+]?\s?(?:[$€£¥]\s?)?\d{1,3}(?:[.,' ]?\d{3})*[.,]\d{2}\s?[-–−]?(?:\s?(?:[$€£¥]|[A-Z]{1,3}))?\*?$`)

// receipt returns the lines of a page that a till has printed, each as a line of its own, and its rows of names and prices as tables.
// What looks like columns of text there is one column.
func receipt(lines []Line, width float64, rules []Box) ([]item, bool) {
	if width > narrow || len(grids(rules)) > 0 || slices.ContainsFunc(lines, func(l Line) bool { return l.Turns != 0 }) {
		return nil, false
	}
	rows, edge, ok := receiptRows(lines)
	if !ok {
		return nil, false
	}
	var out []item
	for n, part := range parts(rows) {
		out = append(out, receiptPart(part, edge, n+1)...)
	}
	return out, true
}

// ReceiptText returns the text of recognised lines, row by row, if they are a receipt: recognition takes names and prices for columns. It also
// reports whether the prices contradict the total: a digit that is wrong shows in nothing else.
func ReceiptText(lines []Line) (text string, wrong, ok bool) {
	if len(lines) == 0 || boxOf(lines).width() > narrowText*lines[0].Size {
		return "", false, false
	}
	rows, edge, ok := receiptRows(lines)
	if !ok {
		return "", false, false
	}
	var out []string
	for _, part := range parts(rows) {
		var texts []string
		for _, row := range part {
			texts = append(texts, merge(row).Text)
		}
		out = append(out, strings.Join(texts, "\n"))
	}
	return strings.Join(out, "\n\n"), contradicted(rows, edge), true
}

var receiptTotal = regexp.MustCompile(`(?i)\b(?:(?:sub|grand )?total|sum|summe|gesamt\w*|zu zahlen|amount due|balance|somme|montant|à payer|totale|totaal|importe)\b`)

// contradicted reports whether the prices of a receipt add up to none of its totals. One without a total contradicts nothing.
func contradicted(rows [][]Line, edge float64) bool {
	sum, prices, totals := 0, 0, 0
	for _, row := range rows {
		isTotal := receiptTotal.MatchString(merge(row).Text)
		if isTotal && prices > 1 {
			totals++
		}
		if !priced(row, edge) {
			continue
		}
		v := cents(row[len(row)-1].Text)
		switch {
		case !isTotal && totals == 0:
			sum += v
			prices++
		case !isTotal: // taxes, and what was paid
		case v == sum:
			return false
		}
	}
	return totals > 0
}

// cents returns the amount of a price with two decimals.
func cents(text string) int {
	n := 0
	for _, r := range text {
		if r >= '0' && r <= '9' {
			n = min(10*n+int(r-'0'), 1<<40)
		}
	}
	if strings.ContainsAny(text, "-–−") {
		return -n
	}
	return n
}

// receiptRows returns the rows of a receipt, and where its prices end.
func receiptRows(lines []Line) (rows [][]Line, edge float64, ok bool) {
	prices, several := 0, 0
	rows = rowsOf(lines)
	edge = pricesEnd(rows)
	for i, row := range rows {
		rows[i] = fields(row)
		if len(rows[i]) > 3 {
			several++
		}
		if priced(rows[i], edge) {
			prices++
		}
	}
	return rows, edge, prices >= fewPrices && prices*5 >= len(rows) && several*3 <= len(rows)
}

// pricesEnd returns where most prices of rows end.
func pricesEnd(rows [][]Line) float64 {
	var ends []float64
	for _, row := range rows {
		if last := slices.MaxFunc(fields(row), func(a, b Line) int { return cmp.Compare(a.Box.X1, b.Box.X1) }); price.MatchString(last.Text) {
			ends = append(ends, last.Box.X1)
		}
	}
	if len(ends) == 0 {
		return 0
	}
	slices.Sort(ends)
	return ends[len(ends)/2]
}

// priced reports whether a row is a name and the price that belongs to it.
func priced(row []Line, edge float64) bool {
	last := row[len(row)-1]
	return len(row) > 1 && price.MatchString(last.Text) && math.Abs(last.Box.X1-edge) < 2*last.Size
}

// parts divides rows where there is more space than usual.
func parts(rows [][]Line) [][][]Line {
	var out [][][]Line
	var lines []Line
	for _, row := range rows {
		lines = append(lines, merge(row))
	}
	usual := pitchOf(lines)
	for i, row := range rows {
		if i == 0 || pitch(rows[i-1], row) > 1.5*max(usual, 1)*lines[i].Size {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], row)
	}
	return out
}

// receiptPart makes a table of the rows from the first price to the last, and lines of the others. A row without a price is part of
// the one below: the name of a thing, above its quantity and price.
func receiptPart(rows [][]Line, edge float64, n int) []item {
	var first, last, prices int
	for i, row := range rows {
		if !priced(row, edge) {
			continue
		}
		if prices == 0 {
			first = i
		}
		last = i
		prices++
	}
	if prices < 2 {
		return receiptLines(rows, n)
	}
	t := table{box: boxOf(slices.Concat(rows[first : last+1]...)), headless: true}
	for _, row := range rows[first : last+1] {
		cells := [][]Line{row, nil}
		if priced(row, edge) {
			cells = [][]Line{row[:len(row)-1], row[len(row)-1:]}
		}
		t.rows = append(t.rows, cells)
	}
	return slices.Concat(receiptLines(rows[:first], n), []item{{box: t.box, table: &t}}, receiptLines(rows[last+1:], n))
}

func receiptLines(rows [][]Line, n int) []item {
	out := make([]item, len(rows))
	for i, row := range rows {
		l := merge(row)
		out[i] = item{box: l.Box, line: l, tag: Tag{Role: roleLines, Block: n}}
	}
	return out
}

// kept writes lines that stay lines.
func (w *writer) kept(lines []Line) (plain, marked string) {
	var p, m []string
	for _, l := range lines {
		signed := squeeze(l.signed())
		text := w.markdown(signed, false)
		if bullet.MatchString(text) {
			text = `\` + text
		}
		p, m = append(p, unsigned(signed)), append(m, escapeOrdinal(text))
	}
	return strings.Join(p, "\n"), strings.Join(m, "\n")
}
