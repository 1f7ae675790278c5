package ocr

import (
	"image"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// written returns the text of an upright page with its tables as Markdown, each in the place of its first word, and why these may be wrong.
// Receipts are read row by row. marks finds letters that were not read, and is called if a table has empty cells.
func written(words []Word, rules []image.Rectangle, marks func() []image.Rectangle) (text string, doubts []doubt.Doubt) {
	if facing(words) != 0 {
		return textOf(words), nil
	}
	if text, wrong, ok := layout.ReceiptText(linesOf(words)); ok {
		if wrong {
			doubts = doubt.Add(doubts, doubt.Table, "the prices do not add up to the total")
		}
		return text, doubts
	}
	tables, unsure := layout.RecognisedTables(wordsOf(words), boxesOf(rules))
	legible := slices.DeleteFunc(tables, func(t layout.RecognisedTable) bool { return !readWell(words, t.Words) })
	if unsure || len(legible) < len(tables) {
		doubts = doubt.Add(doubts, doubt.Table, layout.ColumnsUnsure)
	}
	inTable, at := make([]bool, len(words)), map[int]string{}
	for _, t := range legible {
		for _, n := range t.Words {
			inTable[n] = true
		}
		at[t.Words[0]] = t.Markdown
		if len(t.Empty) > 0 && slices.ContainsFunc(t.Empty, holdsAny(marks())) {
			doubts = doubt.Add(doubts, doubt.Table, "empty cells of a table are not empty in its picture")
		}
		if t.Doubt != "" {
			doubts = doubt.Add(doubts, doubt.Table, t.Doubt)
		}
	}
	var parts []string
	var rest []Word
	flush := func() {
		if len(rest) > 0 {
			parts, rest = append(parts, textOf(rest)), nil
		}
	}
	for i, w := range words {
		if table, ok := at[i]; ok {
			flush()
			parts = append(parts, table)
		}
		if !inTable[i] {
			rest = append(rest, w)
		}
	}
	flush()
	return strings.Join(parts, "\n\n"), doubts
}

// readWell reports whether words are read well enough for a table: signs in a diagram are level with one another too.
func readWell(words []Word, which []int) bool {
	in := make([]Word, len(which))
	for i, n := range which {
		in[i] = words[n]
	}
	return readingOf(in).mean >= doubtful
}

// holdsAny returns a function that reports whether the middle of a mark is in a cell.
func holdsAny(marks []image.Rectangle) func(layout.Box) bool {
	return func(cell layout.Box) bool {
		return slices.ContainsFunc(marks, func(m image.Rectangle) bool {
			x, y := float64(m.Min.X+m.Max.X)/2, float64(m.Min.Y+m.Max.Y)/2
			return x > cell.X0 && x < cell.X1 && y > cell.Y0 && y < cell.Y1
		})
	}
}

func wordsOf(words []Word) []layout.Word {
	out := make([]layout.Word, len(words))
	line := 0
	for i, w := range words {
		if i > 0 && !w.follows(words[i-1]) {
			line++
		}
		out[i] = layout.Word{Text: w.Text, Box: boxOf(w.Rect), Line: line}
	}
	return out
}

func boxesOf(places []image.Rectangle) []layout.Box {
	out := make([]layout.Box, len(places))
	for i, r := range places {
		out[i] = boxOf(r)
	}
	return out
}

func boxOf(r image.Rectangle) layout.Box {
	return layout.Box{X0: float64(r.Min.X), Y0: float64(r.Min.Y), X1: float64(r.Max.X), Y1: float64(r.Max.Y)}
}
