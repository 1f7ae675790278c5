package layout

import "regexp"

const numberedFigure = `^(?:Table|Figure|Fig\.|Chart|Exhibit|Tabelle|Tab\.|Abbildung|Abb\.|Tableau|Tabla|Tabela|Tabella|Figura)\s+[A-Z]?\d+(?:[.-]\d+)*[a-z]?`

var (
	// figureLabel is a line that has the number of a table or figure and no more.
	figureLabel = regexp.MustCompile(numberedFigure + `[.:]?$`)

	// figureTitle is a line that has its title too.
	figureTitle = regexp.MustCompile(numberedFigure + `[.:]\s`)
)

// withLabels joins the number of a table or figure to its title, from which wide space divides it: together they are neither a row of the
// table nor a head that counts the pages. In a list of tables, where one number is close below the other, both stay columns.
func withLabels(lines []Line) []Line {
	const gap, near = 4, 3 // sizes
	titleOf, labels := map[int]Line{}, []Line{}
	for _, row := range rowsOf(lines) {
		for i, l := range row {
			if l.Turns != 0 || !figureLabel.MatchString(l.Text) {
				continue
			}
			labels = append(labels, l)
			if i+1 < len(row) && same(row[i+1].Size, l.Size) && row[i+1].Box.X0-l.Box.X1 < gap*l.Size && lettersOf(row[i+1].Text) > lettersOf(l.Text) {
				titleOf[l.at] = row[i+1]
			}
		}
	}
	for i := 1; i < len(labels); i++ {
		if a, b := labels[i-1], labels[i]; same(a.Box.X0, b.Box.X0) && b.base()-a.base() < near*a.Size {
			delete(titleOf, a.at)
			delete(titleOf, b.at)
		}
	}
	if len(titleOf) == 0 {
		return lines
	}
	joined, gone := map[int]Line{}, map[int]bool{}
	for _, l := range labels {
		if title, ok := titleOf[l.at]; ok {
			joined[l.at] = oneLine(l, title)
			gone[title.at] = true
		}
	}
	return replaced(lines, joined, gone)
}

// oneLine joins pieces of one line although wide space divides them.
func oneLine(pieces ...Line) Line {
	l := merge(pieces)
	l.Edges = nil // which have the wide space
	return l
}

// replaced returns lines of which some are others, and some are gone.
func replaced(lines []Line, by map[int]Line, gone map[int]bool) []Line {
	out := make([]Line, 0, len(lines))
	for _, l := range lines {
		if one, ok := by[l.at]; ok {
			out = append(out, one)
		} else if !gone[l.at] {
			out = append(out, l)
		}
	}
	return out
}
