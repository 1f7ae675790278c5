package layout

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Running heads are lines at the edges of pages that are the same on several of them, but for the page's own number. What is taken away and is
// more than that number is shown at the edge of the first page that has it: no words are lost.

// head is a running head as other pages have it too: its text without the page's number, and its height on the page.
type head struct {
	text string
	y    int
}

// headBand is the share of the page's height at its top and bottom where running heads stand.
const headBand = 0.08

// Limits of running heads: letters of one, rows of them on a page, and words of one that has another number than the page's.
const (
	longestHead = 120
	maxHeadRows = 40
	leastWords  = 6
)

var digits = regexp.MustCompile(`\d+`)

var (
	// paged is a page's number with the words that say so.
	paged = regexp.MustCompile(`(?i)\b(?:page|pg\.|p\.|seite|s\.|página|pagina)\s*(\d{1,4})(?:\s*(?:/|of|von|de|di|sur)\s*\d{1,4})?\b`)

	// numberedEnd is a number that stands before or behind words, and what divides it from them.
	numberedEnd = regexp.MustCompile(`^(\d{1,4})(\s+[–—-]\s+|\s*[|•·]\s*|\s+)([^\s|•·–—-].*)$|^(.*[^\s|•·–—-])(\s+[–—-]\s+|\s*[|•·]\s*|\s+)(\d{1,4})$`)
)

// headTexts returns the forms in which page n and others have a line. A number that may be the page's is how much more it is than n, which is the same on
// pages that it counts with. Words that name what the number is of, as "no." and "Exercise" do, make it a part of the text.
func headTexts(l Line, n int) []string {
	out := []string{l.Text}
	if value, _, ok := numberIn(l.Text); ok {
		return append(out[:0], "#"+strconv.Itoa(value-n), l.Text)
	}
	if m := paged.FindStringSubmatchIndex(l.Text); m != nil {
		return append(out, pagedText(l.Text, m, n))
	}
	if words, value, divided := numberedWords(l); words != "" && (divided || len(strings.Fields(words)) >= leastWords || !l.Bold && strings.Contains(words, " ") && !strings.ContainsAny(words[len(words)-1:], ".:#°")) {
		out = append(out, words+"#"+strconv.Itoa(value-n))
	}
	return out
}

// pagedText is the text of a line of page n whose number was found in it.
func pagedText(text string, m []int, n int) string {
	value, _ := strconv.Atoi(text[m[2]:m[3]]) // four digits
	return text[:m[0]] + "#" + strconv.Itoa(value-n) + text[m[1]:]
}

// numberedWords returns the words of a line that has a number before or behind them, and whether a sign divides both. A few words
// with another number may be a date, or name what is numbered.
func numberedWords(l Line) (words string, value int, divided bool) {
	m := numberedEnd.FindStringSubmatch(l.Text)
	if m == nil {
		return "", 0, false
	}
	words, divided = m[3]+m[4], strings.TrimSpace(m[2]+m[5]) != ""
	if strings.ContainsFunc(words, unicode.IsDigit) && len(strings.Fields(words)) < leastWords {
		return "", 0, false
	}
	value, _ = strconv.Atoi(m[1] + m[6]) // four digits
	return words, value, divided
}

// numberIn returns the number of a line that may be a page's, and whether words say that it is one.
func numberIn(text string) (value int, said, ok bool) {
	m := pageNumber.FindStringSubmatch(text)
	if m == nil {
		return 0, false, false
	}
	if value, ok = roman(strings.ToLower(m[2])); !ok {
		value, _ = strconv.Atoi(m[2]) // three digits
	}
	return value, m[1] != "", true
}

// roman returns the value of a number in Roman digits up to l.
func roman(s string) (value int, ok bool) {
	values := map[rune]int{'i': 1, 'v': 5, 'x': 10, 'l': 50}
	last := 0
	for _, r := range s {
		v := values[r]
		if v == 0 {
			return 0, false
		}
		if value += v; v > last {
			value -= 2 * last
		}
		last = v
	}
	return value, s != ""
}

// inBand reports whether a line is where running heads stand, and no longer than these are. The title of a table is none, although a table that
// continues repeats it.
func inBand(l Line, height float64) bool {
	y := (l.Box.Y0 + l.Box.Y1) / 2
	return (y <= height*headBand || y >= height*(1-headBand)) && l.runes() <= longestHead && !figureTitle.MatchString(l.Text)
}

// headsOf returns how a line of page n can be recognised on another page.
func headsOf(l Line, height float64, n int) (out []head) {
	if !inBand(l, height) {
		return nil
	}
	for _, text := range headTexts(l, n) {
		out = append(out, head{text, int(math.Round(l.base() / 2))})
	}
	return out
}

// running collects what pages have at their edges.
type running struct {
	seen    map[head]int
	largest map[head]float64
	title   map[head]bool // more than a running head if it is in large type
	firsts  map[string]int
	offsets map[int]int
}

func newRunning() running {
	return running{map[head]int{}, map[head]float64{}, map[head]bool{}, map[string]int{}, map[int]int{}}
}

// add adds page n.
func (r running) add(lines []Line, page Page, n int) {
	once, counts, bases := map[head]bool{}, map[int]bool{}, make([]float64, len(lines))
	for i, line := range lines {
		bases[i] = line.base()
	}
	slices.Sort(bases)
	for _, line := range lines {
		for _, h := range headsOf(line, page.Height, n) {
			if once[h] {
				continue
			}
			once[h] = true
			r.seen[h]++
			r.largest[h] = max(r.largest[h], line.Size)
			words := h.text != line.Text && !pageNumber.MatchString(line.Text)
			r.title[h] = r.title[h] || words || page.Width > page.Height || !setApart(line, bases)
		}
		if y := line.base(); y > footBand*page.Height && y < (1-footBand)*page.Height {
			continue
		}
		for _, text := range headTexts(line, n) {
			if first, ok := r.firsts[text]; !ok || n < first {
				r.firsts[text] = n
			}
		}
		if value, _, ok := numberIn(line.Text); ok {
			counts[value-n] = true
		} else if _, value, divided := numberedWords(line); divided {
			counts[value-n] = true
		}
	}
	for offset := range maps.Keys(counts) {
		r.offsets[offset]++
	}
}

// numbers counts the numbers near edges, one of a kind for each page.
func (r running) numbers() (n int) {
	for _, pages := range r.offsets {
		n += pages
	}
	return n
}

// heads returns the running heads of so many pages, whose text is in type of a size. A chapter's head is on some of the pages only. Titles of slides, and
// lines in large type within the text, repeat too.
func (r running) heads(pages int, body float64) map[head]bool {
	out := map[head]bool{}
	for h, n := range r.seen {
		size := r.largest[h] / body
		if n >= 2 && (size <= 1.15 && n*5 >= pages || size <= largestHead && n*5 >= 2*pages && !r.title[h]) {
			out[h] = true
		}
	}
	return out
}

// largestHead is how large a running head or a page number may be, in sizes of the body.
const largestHead = 1.5

// setApart reports whether a line has space above and below it, as a running head has and a heading within the text has not. bases are those
// of all lines, in order.
func setApart(head Line, bases []float64) bool {
	const space = 2.2 // sizes
	base, row := head.base(), 0.3*head.Size
	above, _ := slices.BinarySearch(bases, base-row)
	below, _ := slices.BinarySearch(bases, base+row)
	return (above == 0 || base-bases[above-1] >= space*head.Size) && (below == len(bases) || bases[below]-base >= space*head.Size)
}

// isRunning reports whether a line of page n is a running head.
func (p Profile) isRunning(l Line, height float64, n int) bool {
	return slices.ContainsFunc(headsOf(l, height, n), func(h head) bool {
		return p.heads[h] || p.heads[head{h.text, h.y - 1}] || p.heads[head{h.text, h.y + 1}]
	})
}

// withoutHeads takes out running heads and feet, and returns them too. Rows of the text stay, and those in which something is a value: a number that does
// not count the pages, or what a label is for. A page that has nothing else keeps its heads.
func (p Profile) withoutHeads(lines []Line, height float64, n int) (kept, heads []Line) {
	if len(p.heads) == 0 {
		return lines, nil
	}
	out, rows, text := map[int]bool{}, 0, inText(lines, height)
	for _, row := range rowsOf(lines) {
		var found, others []Line
		for _, l := range row {
			if p.isRunning(l, height, n) {
				found = append(found, l)
			} else {
				others = append(others, l)
			}
		}
		valued := slices.ContainsFunc(others, func(l Line) bool { return strings.ContainsFunc(l.Text, unicode.IsDigit) && !p.counts(l.Text, n) }) ||
			len(row) > 1 && hasForm(row, amountLabel)
		if len(found) == 0 || text[row[0].at] || valued {
			continue
		}
		rows++
		for _, l := range found {
			out[l.at] = true
		}
	}
	if len(out) == 0 || len(out) == len(lines) || rows > maxHeadRows {
		return lines, nil
	}
	for _, l := range lines {
		if out[l.at] {
			heads = append(heads, l)
		} else {
			kept = append(kept, l)
		}
	}
	return kept, heads
}

// inText finds the lines at both ends of a page that continue the rhythm of the rows next to them: in the same type, in the same columns, and as far
// apart as these are. They are text, however often it repeats.
func inText(lines []Line, height float64) map[int]bool {
	upright := slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Turns != 0 })
	all, found := rowsOf(upright), map[int]bool{}
	outer := func(row []Line) bool { return row[0].base() < headBand*height || row[0].base() > (1-headBand)*height }
	for _, rows := range [][][]Line{all, backward(all)} {
		going := true
		for i := min(len(rows)/2, len(rows)-3); i >= 0; i-- { // from within to the end
			if going = (going || !outer(rows[i+1])) && goesOn(rows[i:]); !going {
				continue
			}
			for _, l := range rows[i] {
				found[l.at] = true
			}
		}
	}
	return found
}

// goesOn reports whether the first of rows is set as the next ones are. Rows of a table may have cells of several lines.
func goesOn(rows [][]Line) bool {
	const near, ahead = 0.15, 4
	row, next := rows[0], rows[1]
	aligned := 0
	for _, l := range row {
		if slices.ContainsFunc(next, func(o Line) bool {
			return same(l.Size, o.Size) && (same(l.Box.X0, o.Box.X0) || same(l.Box.X1, o.Box.X1))
		}) {
			aligned++
		}
	}
	if 2*aligned < len(row) {
		return false
	}
	distance := func(i int) float64 { return math.Abs(rows[i+1][0].base() - rows[i][0].base()) }
	at := distance(0)
	if math.Abs(at-distance(1)) <= 0.25*distance(1) {
		return true
	}
	for i := 2; len(row) > 1 && i <= ahead && i+1 < len(rows); i++ {
		if len(rows[i]) > 1 && math.Abs(at-distance(i)) <= near*at {
			return true
		}
	}
	return false
}

// counts reports whether a text is the number of page n and no more: words say so, or numbers on other pages count with it.
func (p Profile) counts(text string, n int) bool {
	value, said, ok := numberIn(text)
	return ok && (said || p.offsets[value-n] >= 3 || value == n && p.offsets[0] >= 2)
}

// mayNumber reports whether a number in a row may be that of page n: beside words, another page has to count with it, if any has a number.
func (p Profile) mayNumber(row []Line, n int) bool {
	return len(row) == 1 || p.unnumbered || slices.ContainsFunc(row, func(l Line) bool {
		value, said, ok := numberIn(l.Text)
		return ok && (said || p.offsets[value-n] >= 2)
	})
}

// shown returns the texts of lines that were taken out of page n, from the top down: those that are more than its number, and that are not on a page
// before. A number that may be none of a page is beside the words of its row.
func (p Profile) shown(lines []Line, n int) (texts []string) {
	add := func(text string) {
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, row := range rowsOf(lines) {
		var words []string
		number := false
		for _, l := range row {
			value, _, ok := numberIn(l.Text)
			if p.counts(l.Text, n) || ok && value == n && len(row) == 1 {
				continue
			}
			if number = number || ok; ok || !p.isKnown(l, n) {
				words = append(words, l.Text)
			}
		}
		if number {
			words = words[:0]
			for _, l := range row {
				if !p.counts(l.Text, n) {
					words = append(words, l.Text)
				}
			}
		}
		if joined := strings.Join(words, " "); number && len(joined) <= longestEdge {
			words = []string{joined}
		}
		for _, text := range words {
			add(text)
		}
	}
	return texts
}

// isKnown reports whether a page before n shows a line, but for the number of its page.
func (p Profile) isKnown(l Line, n int) bool {
	before := func(text string) bool { first, ok := p.firsts[text]; return ok && first < n }
	if m := paged.FindStringSubmatchIndex(l.Text); before(l.Text) || m != nil && before(pagedText(l.Text, m, n)) {
		return true
	}
	words, value, divided := numberedWords(l)
	return divided && p.offsets[value-n] >= 3 && before(words+"#"+strconv.Itoa(value-n))
}
