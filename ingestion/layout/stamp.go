package layout

import "math"

// Limits of stamps: how much larger than the text they are, and how many lines they are printed over.
const (
	stampSize  = 1.8
	stampRunes = 3 // fewer are an initial
	stampOver  = 2
	stampMost  = 0.2 // of the characters
)

// withoutStamps takes out what is printed over the text of a page, as watermarks and stamps are: large type that is at an angle or covers
// lines. A page that has little else keeps it.
func (p Profile) withoutStamps(lines []Line) (kept, stamps []Line) {
	all, stamped := 0, 0
	for _, l := range lines {
		if all += l.runes(); l.Size >= stampSize*p.body && l.runes() >= stampRunes && (askew(l) || covered(l, lines) >= stampOver) {
			stamped += l.runes()
			stamps = append(stamps, l)
			continue
		}
		kept = append(kept, l)
	}
	if len(stamps) == 0 || float64(stamped) > stampMost*float64(all) {
		return lines, nil
	}
	return kept, stamps
}

// askew reports whether a line runs at an angle other than quarter turns.
func askew(l Line) bool { return l.Turns < 0 }

// covered counts the lines in much smaller type that a line is printed over.
func covered(l Line, lines []Line) int {
	n := 0
	for _, o := range lines {
		if o.Turns == 0 && o.Size*stampSize <= l.Size && overlap(l.Box, o.Box) > 0.3*math.Min(l.Box.width(), o.Box.width()) && overlapping(l.Box, o.Box) > 0.5*o.Box.height() {
			n++
		}
	}
	return n
}
