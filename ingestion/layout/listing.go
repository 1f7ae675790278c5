package layout

import (
	"cmp"
	"math"
	"slices"
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
