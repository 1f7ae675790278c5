package layout

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// block is a paragraph, a heading, an item of a list, a listing or a table.
type block struct {
	lines    []Line
	table    *table
	bold     bool
	item     bool // of a numbered list
	bulleted bool
	code     bool
	alone    bool // with space or another style on both sides
}

// blocks divides the lines where the space, the size, the weight or the column changes.
func blocks(items []item) []block {
	lines := make([]Line, 0, len(items))
	for _, it := range items {
		if it.table == nil {
			lines = append(lines, it.line)
		}
	}
	ordinals, pitch := numbered(lines), pitchOf(lines)
	var out []block
	i := 0
	for _, it := range items {
		if it.table != nil {
			out = append(out, block{table: it.table})
			continue
		}
		if n := len(out); n > 0 && out[n-1].table == nil && !ordinals[i] && out[n-1].goesOn(it.line, pitch) {
			out[n-1].lines = append(out[n-1].lines, it.line)
			i++
			continue
		}
		out = append(out, block{
			lines: []Line{it.line}, bold: it.line.Bold, item: ordinals[i],
			bulleted: bullet.MatchString(it.line.Text), code: it.line.mono(),
		})
		i++
	}
	for i := range out {
		out[i].code = out[i].code && len(out[i].lines) > 1
		out[i].alone = i+1 < len(out) && len(out[i].lines) <= 2
	}
	return out
}

// pitchOf is the usual distance of lines in sizes of their type.
func pitchOf(lines []Line) float64 {
	var gaps []float64
	for i := 1; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		if gap := (b.base() - a.base()) / b.Size; same(a.Size, b.Size) && gap > 0.8 && gap < 2.6 {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) < 6 {
		return 1.35
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/3]
}

// goesOn says whether a line belongs to the block of the one before.
func (b block) goesOn(line Line, pitch float64) bool {
	before := b.lines[len(b.lines)-1]
	if !same(before.Size, line.Size) || before.Bold != line.Bold || before.mono() != line.mono() || bullet.MatchString(line.Text) {
		return false
	}
	gap := line.base() - before.base()
	if gap < 0 { // at the top of the next column
		return unfinished(before, line)
	}
	if gap > max(1.3*pitch, 1.5)*line.Size || gap > 3*line.Size {
		return false
	}
	if b.code || b.item || b.bulleted {
		return true
	}
	indent := line.Box.X0 - before.Box.X0
	return !(indent > 0.9*line.Size && indent < 5*line.Size && ended(before.Text) && beginsUpper(line.Text))
}

// unfinished says whether a sentence goes on from the end of a column.
func unfinished(before, line Line) bool {
	first, _ := utf8.DecodeRuneInString(line.Text)
	return before.runes() > 25 && unicode.IsLower(first) && !ended(before.Text)
}

func ended(text string) bool {
	text = strings.TrimRight(text, `"'”’)»`)
	return text != "" && strings.ContainsRune(".!?:", rune(text[len(text)-1]))
}

func beginsUpper(text string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, `"'“‘(«`))
	return !unicode.IsLower(first)
}
