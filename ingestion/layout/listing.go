package layout

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	maxFrames   = 200 // on a hostile page
	widestTyped = 400 // letters of a line
)

// framedListings takes the lines of listings in frames, or on a ground of their own, from the lines of a page. Numbers in columns are no
// table there: people frame what is to be read as it was typed.
func framedListings(lines []Line, rules []Box) (listings []item, rest []Line) {
	all := framesOf(rules)
	for _, frame := range all[:min(len(all), maxFrames)] {
		var in, out []Line
		for _, l := range lines {
			if frame.holds(l.Box) || isLineNumber(l, frame) {
				in = append(in, l)
			} else {
				out = append(out, l)
			}
		}
		if typed(in) {
			listings, lines = append(listings, item{box: boxOf(in), table: &table{listing: in}}), out
		}
	}
	return listings, lines
}

// Listings without frames have at least that many lines with numbers; of a hostile page, the first ones are looked at.
const (
	fewNumbered = 3
	maxNumbered = 1000
)

// numberedListings takes the lines of listings without frames whose lines are numbered: numbers in smaller type, or of another kind, that count up below
// one another, with nothing beside them but a line of type of one width.
func numberedListings(lines []Line) (listings []item, rest []Line) {
	var numbers []Line
	for _, l := range lines {
		if whole.MatchString(l.Text) && l.Turns == 0 {
			numbers = append(numbers, l)
		}
	}
	slices.SortStableFunc(numbers, func(a, b Line) int { return cmp.Compare(a.base(), b.base()) })
	numbers = numbers[:min(len(numbers), maxNumbered)]
	for from := 0; from < len(numbers); {
		to := from + 1
		for to < len(numbers) && countsTo(numbers[to-1], numbers[to]) {
			to++
		}
		if in := besideNumbers(numbers[from:to], lines); in != nil {
			listings = append(listings, item{box: boxOf(in), table: &table{listing: in}})
			lines = slices.DeleteFunc(slices.Clone(lines), func(l Line) bool {
				return slices.ContainsFunc(in, func(o Line) bool { return o.at == l.at })
			})
		}
		from = to
	}
	return listings, lines
}

// countsTo reports whether a number is below another one, and the next.
func countsTo(above, below Line) bool {
	a, _ := strconv.Atoi(above.Text) // four digits
	b, _ := strconv.Atoi(below.Text)
	step := below.base() - above.base()
	return b == a+1 && step > 0.8*above.Size && step < 4*above.Size && (same(above.Box.X1, below.Box.X1) || same(above.Box.X0, below.Box.X0))
}

// besideNumbers returns numbers with the lines on a level with them, or nothing if others are at their height, to their left, or most have none.
func besideNumbers(numbers, lines []Line) []Line {
	if len(numbers) < fewNumbered {
		return nil
	}
	box, filled := boxOf(numbers), map[int]bool{}
	out := slices.Clone(numbers)
	for _, l := range lines {
		if l.Turns != 0 || l.Box.Y1 < box.Y0 || l.Box.Y0 > box.Y1 || slices.ContainsFunc(numbers, func(n Line) bool { return n.at == l.at }) {
			continue
		}
		at := slices.IndexFunc(numbers, func(n Line) bool { return math.Abs(n.base()-l.base()) < 0.3*l.Size })
		if at < 0 || filled[at] || l.Box.X0 < box.X1 || !l.Mono() || numbers[at].Mono() && numbers[at].Size > 0.95*l.Size {
			return nil
		}
		filled[at] = true
		out = append(out, l)
	}
	if len(filled)*3 < 2*len(numbers) {
		return nil
	}
	return out
}

// isLineNumber reports whether a line is the number of one in a frame, to the left of it.
func isLineNumber(l Line, frame Box) bool {
	return whole.MatchString(l.Text) && l.base() > frame.Y0 && l.base() < frame.Y1 && l.Box.X1 < frame.X0+1 && l.Box.X1 > frame.X0-4*l.Size
}

// typed reports whether lines are in type of one width, besides their numbers.
func typed(lines []Line) bool {
	mono, all := 0, 0
	for _, l := range lines {
		if whole.MatchString(l.Text) && !l.Mono() {
			continue
		}
		if all++; l.Mono() && l.Turns == 0 {
			mono++
		}
	}
	return mono == all && len(rowsOf(lines)) > 1
}

// listingText returns the lines of a listing, each letter in the column where it is printed.
func listingText(lines []Line) string {
	left, step := lines[0].Box.X0, advance(lines)
	for _, l := range lines {
		left = min(left, l.Box.X0)
	}
	rows := rowsOf(lines)
	var pitches []float64
	for i := 1; i < len(rows); i++ {
		pitches = append(pitches, pitch(rows[i-1], rows[i]))
	}
	slices.Sort(pitches)
	var out []string
	for i, row := range rows {
		if i > 0 {
			for range min(int(math.Round(pitch(rows[i-1], row)/pitches[len(pitches)/4]))-1, 3) {
				out = append(out, "")
			}
		}
		out = append(out, typedRow(row, left, step))
	}
	return strings.Join(out, "\n")
}

// typedRow returns the pieces of a row with the blanks between them that their places are apart. Letters of a word stay together.
func typedRow(row []Line, left, step float64) string {
	var text []rune
	for _, l := range row {
		runes, begins := []rune(l.Text), true
		for i, r := range runes {
			if r == ' ' && len(l.Edges) == len(runes) {
				begins = true
				continue
			}
			if begins {
				column := int(min(math.Round((l.edge(i, len(runes))-left)/step), widestTyped))
				if len(text) > 0 {
					column = max(column, len(text)+1)
				}
				for len(text) < column {
					text = append(text, ' ')
				}
			}
			text, begins = append(text, r), false
		}
	}
	return string(text)
}

// advance returns how wide the letters of a listing are: as much as most of them are apart.
func advance(lines []Line) float64 {
	var steps []float64
	for _, l := range lines {
		runes := []rune(l.Text)
		for i := 1; i < len(l.Edges) && l.Mono() && len(l.Edges) == len(runes); i++ {
			if step := l.Edges[i] - l.Edges[i-1]; runes[i] != ' ' && runes[i-1] != ' ' && step > 0.3*l.Size && step < l.Size {
				steps = append(steps, step)
			}
		}
	}
	if len(steps) == 0 {
		return 0.6 * slices.MaxFunc(lines, func(a, b Line) int { return cmp.Compare(a.Size, b.Size) }).Size // that of Courier
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// fenced returns a listing as Markdown.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
