package layout

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// pageNumber is a line that only numbers its page. Four digits are rather a year.
var pageNumber = regexp.MustCompile(`^(?i)[-–—|\s]*(?:(page|p\.|seite|s\.|página|pagina)\s*)?(\d{1,3}|[ivxl]{1,7})(?:\s*(?:/|of|von|de|di|sur)\s*\d{1,4})?[-–—|\s]*$`)

// withoutEdges takes out what is printed at the top and the bottom of a page without being a part of its text: the page's number, with what is
// beside it at the other margin, and rows whose form no text has (see edgeForm). There has to be a gap to the text, and the type must be no
// larger than the body's, because no title may be lost. A library's copy has several such rows. What is more than a number is returned, unless
// it is beside one in a document of several pages: that is a running head.
func (p Profile) withoutEdges(lines []Line, height float64, n int) (kept, edges []Line) {
	kept, edges = withoutSideStamps(lines)
	out := map[int]bool{}
	for range maxEdgeRows {
		all := rowsOf(kept)
		if len(all) < 3 {
			break
		}
		text, goesOn, found := boxOf(kept), inText(kept, height), len(out)
		for _, inward := range [][][]Line{all, backward(all)} {
			if goesOn[inward[0][0].at] {
				continue
			}
			dropped := p.edgeRows(inward, height)
			if p.mayNumber(inward[0], n) && (p.isNumbered(inward[0], inward[1], height, text, &inward[0][0] != &all[0][0]) || p.isHead(inward, height, text)) {
				dropped = max(dropped, 1)
			}
			for _, l := range slices.Concat(inward[:dropped]...) {
				if !out[l.at] {
					edges = append(edges, l)
				}
				out[l.at] = true
			}
		}
		if len(out) == found {
			break
		}
		kept = slices.DeleteFunc(slices.Clone(kept), func(l Line) bool { return out[l.at] })
	}
	return kept, edges
}

// maxEdgeRows is how many rows may be close to one another at an end of a page, and how often an end is looked at.
const maxEdgeRows = 3

// inMargin reports whether a row is in the bands of running heads.
func inMargin(row []Line, height float64) bool {
	at := row[0].base()
	return at < 1.25*headBand*height || at > (1-headBand)*height
}

// isApart reports whether there is space between a row and the next one.
func isApart(row, next []Line) bool {
	return math.Abs(next[0].base()-row[0].base()) >= 1.8*max(row[0].Size, next[0].Size)
}

// isNumbered reports whether a row at the end of a page has its number.
func (p Profile) isNumbered(row, next []Line, height float64, text Box, bottom bool) bool {
	if !isApart(row, next) || len(row) > 1 && hasForm(row, amountLabel) || !inMargin(row, height) && !(bottom && inFoot(row, height, text)) {
		return false
	}
	return p.numbers(row, text, 1.05) || bottom && len(row) == 1 && p.numbers(row, text, largestHead)
}

// deepBand is the share of the page's height at its top and bottom where a running head over prose may be that has the page's number beside it: printers
// of books leave wide margins.
const deepBand = 0.17

// isHead reports whether the first of rows, from an end of a page inward, is what running heads are: a few words at one edge of the text and a number at
// the other, or both at its right, apart from prose.
func (p Profile) isHead(rows [][]Line, height float64, text Box) bool {
	const longest = 70 // letters
	row, at := rows[0], rows[0][0].base()
	if len(row) != 2 || !isApart(row, rows[1]) || at > deepBand*height && at < (1-deepBand)*height || hasForm(row, amountLabel) {
		return false
	}
	number, words := row[1], row[0]
	if pageNumber.MatchString(words.Text) {
		number, words = words, number
	}
	near, box := number.Size, boxOf(row)
	over := math.Abs(box.X0-text.X0) < near && math.Abs(box.X1-text.X1) < near
	atRight := number.Box.X0 > words.Box.X1 && math.Abs(box.X1-text.X1) < near && box.X0 > (text.X0+text.X1)/2
	if !pageNumber.MatchString(number.Text) || !over && !atRight || row[1].Box.X0-row[0].Box.X1 < 2*near || max(words.Size, number.Size) > 1.05*p.body ||
		words.runes() > longest || !strings.ContainsFunc(words.Text, unicode.IsLetter) {
		return false
	}
	return begunByProse(rows[1:])
}

// begunByProse reports whether the first of rows are lines of prose.
func begunByProse(rows [][]Line) bool {
	const lines, long = 5, 25 // letters of one
	if len(rows) < lines {
		return false
	}
	prose, all := 0, slices.Concat(rows[:lines]...)
	for _, l := range all {
		if isNumber(l.Text) {
			return false
		}
		if l.runes() >= long {
			prose++
		}
	}
	return prose*10 >= 7*len(all)
}

// hasThreeParts reports whether the first of rows, from an end of a page inward, has words with numbers at the left, the middle and the right of the text,
// as a revision, a part's number and a date, apart from prose.
func (p Profile) hasThreeParts(rows [][]Line, height float64) bool {
	row, at := rows[0], rows[0][0].base()
	if len(row) != 3 || !isApart(row, rows[1]) || at > headBand*1.25*height && at < (1-1.25*headBand)*height || !begunByProse(rows[1:]) {
		return false
	}
	for _, l := range row {
		if l.Size > largestHead*p.body || !strings.ContainsFunc(l.Text, unicode.IsLetter) || !strings.ContainsFunc(l.Text, unicode.IsDigit) {
			return false
		}
	}
	text, near := boxOf(slices.Concat(rows...)), row[0].Size
	return math.Abs(row[0].Box.X0-text.X0) < near && math.Abs(row[2].Box.X1-text.X1) < near && math.Abs(row[1].Box.X0+row[1].Box.X1-text.X0-text.X1) < 3*near
}

// footBand is the share of the page's height at its bottom where a number alone numbers the page if it is below the middle of the text. LaTeX puts
// it there: its pages of A4 have a wide margin.
const footBand = 0.2

func inFoot(row []Line, height float64, text Box) bool {
	l := row[0]
	return len(row) == 1 && l.base() > (1-footBand)*height && math.Abs(l.Box.X0+l.Box.X1-text.X0-text.X1) < 2*l.Size
}

// The forms of rows at the edge of a page that are no part of its text.
var (
	// libraryStamp is what libraries, archives and trial versions print on what they deliver.
	libraryStamp = regexp.MustCompile(`(?i)^(?:(?:this content |article )?downloaded (?:from|by|on|at)\b|download date\b|all use subject to\b|authorized licensed use\b|` +
		`(?:heruntergeladen|téléchargé|descargado|scaricato) (?:von|am|de|le|depuis|sur|el|da|il)\b|evaluation only\. created with\b|arXiv:[a-z.-]*/?\d{4}\.?\d{3,5}(?:v\d+)?\b)`)

	// printedAt is the date and the time that a browser prints, or the address of a saved file with them.
	printedAt = regexp.MustCompile(`^(?:(?:file|https?)://\S+?\s*(?:\(\d+ of \d+\)|\[))?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s+\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AaPp]\.?[Mm]\.?)?\]?$`)

	// address is an address alone, as a browser prints that of the page.
	address = regexp.MustCompile(`^(?:https?|file)://\S*[^\s.,;)]$`)

	// issue names a volume of a journal: by the word, by year and pages, or by its number.
	issue = regexp.MustCompile(`(?i)\bvol(?:\.|ume)\s*[\dXVI]+\b.*\d|\((?:1[89]|20)\d\d\),?\s*\d+[\d:,.\s]*\d\s*[-–]\s*\d+$|\d\s*[-–]\s*\d+\s*\((?:1[89]|20)\d\d\)$|\bISSN:?\s*\d{4}-?\d{3}[\dX]\b`)

	// noted begins a footnote, which may name a volume too.
	noted = regexp.MustCompile(`^(?:\d{1,3}|[*†‡§])[.)]?\s*\pL`)

	// amountLabel is a label of an amount.
	amountLabel = regexp.MustCompile(`:$|(?i)^(?:total|sum|balance|summe|saldo|solde|amount)\b`)

	// copyrighted begins a line about the rights.
	copyrighted = regexp.MustCompile(`(?i)^(?:copyright\b|©|\(c\) ?(?:19|20)\d\d)`)
)

// Limits of rows at the edge: how close to the edge browsers print, as a share of the page's height; how small the type of stamps is, in sizes
// of the body, if nothing else shows what they are; and how long they are.
const (
	browserBand = 0.045
	smallPrint  = 0.55
	longestEdge = 160
)

// edgeRows counts the rows at the end of a page, from there inward, whose form no text has: the stamp of a library, what a browser prints, the
// volume of a journal with what is close to it, rights, or type much smaller than the body's. Rows of one form after the other are data.
func (p Profile) edgeRows(rows [][]Line, height float64) int {
	if p.hasThreeParts(rows, height) {
		return 1
	}
	if !p.mayBeEdge(rows[0], height) {
		return 0
	}
	if hasForm(rows[0], libraryStamp) {
		return 1
	}
	n := 1 // the rows that are close to one another
	for n < len(rows)-1 && n <= maxEdgeRows && !isApart(rows[n-1], rows[n]) {
		n++
	}
	if n > maxEdgeRows || n == len(rows)-1 && !isApart(rows[n-1], rows[n]) || !p.mayBeEdge(slices.Concat(rows[:n]...), height) {
		return 0
	}
	ends, next := rows[:n], rows[n]
	for _, form := range []*regexp.Regexp{printedAt, issue, copyrighted} {
		for i := range ends {
			if !hasForm(ends[i], form) {
				continue
			}
			if hasForm(next, form) {
				return 0
			}
			for i++; i < n && (hasForm(ends[i], form) || p.isSmall(ends[i])); i++ {
			}
			return i
		}
	}
	if n > 1 {
		return 0
	}
	at := rows[0][0].base()
	small := !slices.ContainsFunc(rows[0], func(l Line) bool { return l.Size > smallPrint*p.body })
	if small && next[0].Size > smallPrint*p.body || hasForm(rows[0], address) && (at < browserBand*height || at > (1-browserBand)*height) {
		return 1
	}
	return 0
}

// isSmall reports whether a row is in smaller type than the body's. Other rows beside those at the edge begin or end the text.
func (p Profile) isSmall(row []Line) bool {
	return !slices.ContainsFunc(row, func(l Line) bool { return l.Size > 0.97*p.body })
}

// mayBeEdge reports whether lines are in the margin, no larger than the body's type, no longer than what is printed there, and no footnotes.
func (p Profile) mayBeEdge(lines []Line, height float64) bool {
	return len(lines) <= 2*maxEdgeRows && !slices.ContainsFunc(lines, func(l Line) bool {
		return l.Size > 1.05*p.body || l.runes() > longestEdge || noted.MatchString(l.Text) || !inMargin([]Line{l}, height)
	})
}

// hasForm reports whether a piece of a row has the form.
func hasForm(row []Line, form *regexp.Regexp) bool {
	return slices.ContainsFunc(row, func(l Line) bool { return form.MatchString(l.Text) })
}

// backward returns rows from the last to the first.
func backward(rows [][]Line) [][]Line {
	out := slices.Clone(rows)
	slices.Reverse(out)
	return out
}

// withoutSideStamps takes out the stamps of libraries that run up or down beside the text.
func withoutSideStamps(lines []Line) (kept, stamps []Line) {
	for _, l := range lines {
		if l.Turns != 0 && libraryStamp.MatchString(l.Text) {
			stamps = append(stamps, l)
		} else {
			kept = append(kept, l)
		}
	}
	if len(kept) == 0 {
		return lines, nil
	}
	return kept, stamps
}

// numbers reports whether a row is a page number alone, or one at a margin with text at the other, in type of at most so many sizes of the body.
func (p Profile) numbers(row []Line, text Box, largest float64) bool {
	found := -1
	for i, l := range row {
		if l.Size > largest*p.body {
			return false
		}
		if pageNumber.MatchString(l.Text) && (i == 0 || i == len(row)-1) {
			found = i
		}
	}
	if found < 0 || len(row) == 1 {
		return found == 0
	}
	number, box := row[found].Box, boxOf(row)
	gap := row[1].Box.X0 - row[0].Box.X1
	if found > 0 {
		gap = number.X0 - row[found-1].Box.X1
	}
	return len(row) <= 3 && gap > 2*row[found].Size && box.width() > 0.5*text.width()
}

// fewLineNumbers is how many numbers in a margin number the lines of a page; fewer may be of anything.
const fewLineNumbers = 5

// withoutLineNumbers drops the numbers of lines of prose, each one or every fifth, that are in the margin or between two columns: they are no
// words of the sentences beside them.
func withoutLineNumbers(lines []Line) []Line {
	var numbers []Line
	for _, l := range lines {
		if whole.MatchString(l.Text) && l.Turns == 0 {
			numbers = append(numbers, l)
		}
	}
	slices.SortStableFunc(numbers, func(a, b Line) int { return cmp.Compare(a.base(), b.base()) })
	for _, edge := range []func(Line) float64{func(l Line) float64 { return l.Box.X1 }, func(l Line) float64 { return l.Box.X0 }} {
		tried := []float64{}
		for _, first := range numbers {
			near := func(x float64) bool { return math.Abs(x-edge(first)) < 2 }
			if slices.ContainsFunc(tried, near) || len(tried) == maxColumns {
				continue
			}
			tried = append(tried, edge(first))
			column := slices.DeleteFunc(slices.Clone(numbers), func(l Line) bool { return !near(edge(l)) })
			if countUp(column) && besideProse(column, lines) {
				dropped := map[int]bool{}
				for _, l := range column {
					dropped[l.at] = true
				}
				return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return dropped[l.at] })
			}
		}
	}
	return lines
}

// countUp reports whether numbers rise by one, or by five from a multiple of it.
func countUp(numbers []Line) bool {
	if len(numbers) < fewLineNumbers {
		return false
	}
	step, last := 0, 0
	for i, l := range numbers {
		n, _ := strconv.Atoi(l.Text) // four digits
		if i == 1 {
			step = n - last
		}
		if i > 0 && n-last != step || i > 0 && numbers[i-1].base() > l.base()-0.8*l.Size {
			return false
		}
		last = n
	}
	return step == 1 || step == 5 && last%5 == 0
}

// besideProse reports whether numbers are each beside one line of prose that continues from line to line, and nothing is above or below them.
func besideProse(numbers, lines []Line) bool {
	box, widest := boxOf(numbers), 0.0
	beside := map[int]bool{}
	var prose []Line
	for _, l := range lines {
		if l.base() < box.Y0 || l.base() > box.Y1+l.Size || slices.ContainsFunc(numbers, func(n Line) bool { return n.at == l.at }) {
			continue
		}
		if overlap(l.Box, box) > 0 {
			return false
		}
		i, _ := slices.BinarySearchFunc(numbers, l.base()-0.6*l.Size, func(n Line, y float64) int { return cmp.Compare(n.base(), y) })
		if i < len(numbers) && numbers[i].base() < l.base()+0.6*l.Size {
			beside[i] = true
		}
		prose, widest = append(prose, l), max(widest, l.Box.width())
	}
	long, small := 0, 0
	for _, l := range prose {
		if l.runes() >= 30 && l.Box.width() > 0.7*widest {
			long++
		}
		if !beginsUpper(l.Text) {
			small++
		}
	}
	return len(beside)*10 >= 9*len(numbers) && long*10 >= 6*len(prose) && small*10 >= 3*len(prose)
}
