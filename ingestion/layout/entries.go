package layout

import (
	"regexp"
	"slices"
)

var (
	authors   = regexp.MustCompile(`^\pL[\pL'’ -]+, (?:\pL\.[ -]?)+`)
	entryYear = regexp.MustCompile(`^\(?(?:1[89]|20)\d\d[a-z]?\)?[.,:]?$`)
)

// withEntries makes one line of each first line of a list of references that has wide space around its years. In a table of authors and years, the
// rest of a title is below its beginning; here it is below the authors, further in.
func withEntries(lines []Line) []Line {
	const few = 2
	joined, hanging, gone := map[int]Line{}, 0, map[int]bool{}
	all := rowsOf(lines)
	for i, row := range all {
		parts := fields(row)
		if len(parts) != 3 || !authors.MatchString(parts[0].Text) || !entryYear.MatchString(parts[1].Text) || slices.ContainsFunc(row, func(l Line) bool { return len(l.spans) > 0 || l.Turns != 0 }) {
			continue
		}
		if i+1 < len(all) && len(all[i+1]) == 1 {
			in := all[i+1][0].Box.X0 - parts[0].Box.X0
			if in > 0.5*row[0].Size && all[i+1][0].Box.X0 < parts[1].Box.X0 && pitch(row, all[i+1]) < 1.8*row[0].Size {
				hanging++
			}
		}
		joined[row[0].at] = oneLine(parts...)
		for _, o := range row[1:] {
			gone[o.at] = true
		}
	}
	if len(joined) < few || hanging == 0 {
		return lines
	}
	return replaced(lines, joined, gone)
}
