package layout

import "regexp"

// pageNumber is a line that only numbers its page. Four digits are rather a year.
var pageNumber = regexp.MustCompile(`^(?i)[-–—|\s]*(?:(?:page|p\.|seite|s\.|página|pagina)\s*)?(?:\d{1,3}|[ivxl]{1,7})(?:\s*(?:/|of|von|de|di|sur)\s*\d{1,4})?[-–—|\s]*$`)

// withoutNumbers drops the page's number, with what is beside it at the other margin, from the top and the bottom of a page. There has to
// be a gap to the text, and the type must be no larger than the body's, because no title may be lost. A library's copy has two numbers.
func (p Profile) withoutNumbers(lines []Line, height float64) []Line {
	return p.withoutNumber(p.withoutNumber(lines, height), height)
}

func (p Profile) withoutNumber(lines []Line, height float64) []Line {
	all := rowsOf(lines)
	if len(all) < 3 {
		return lines
	}
	text := boxOf(lines)
	dropped := map[int]bool{}
	for _, end := range [][2]int{{0, 1}, {len(all) - 1, len(all) - 2}} {
		row, next := all[end[0]], all[end[1]]
		at, size := row[0].base(), row[0].Size
		inBand := at < 1.25*headBand*height || at > (1-headBand)*height
		if gap := max(next[0].base()-at, at-next[0].base()); !inBand || gap < 1.8*max(size, next[0].Size) {
			continue
		}
		if p.numbers(row, text) {
			for _, l := range row {
				dropped[l.at] = true
			}
		}
	}
	if len(dropped) == 0 {
		return lines
	}
	kept := make([]Line, 0, len(lines))
	for _, l := range lines {
		if !dropped[l.at] {
			kept = append(kept, l)
		}
	}
	return kept
}

// numbers reports whether a row is a page number alone, or one at a margin with text at the other.
func (p Profile) numbers(row []Line, text Box) bool {
	found := -1
	for i, l := range row {
		if l.Size > 1.05*p.body {
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
