package layout

import (
	"math"
	"regexp"
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
	leads    bool // one line above a paragraph that is set as what belongs to it is
	tag      Tag  // of its lines, in a document that has a structure
}

// blocks divides the lines where the space, the size, the weight or the column changes.
func blocks(items []item) []block {
	lines := make([]Line, 0, len(items))
	for _, it := range items {
		if it.table == nil {
			lines = append(lines, it.line)
		}
	}
	ordinals, letters, clauses, notes, pitch := numbered(lines, numberOf), numbered(lines, letterOf), numbered(lines, clauseOf), numbered(lines, noteOf), pitchOf(lines)
	var out []block
	i := 0
	for _, it := range items {
		switch {
		case it.table != nil && it.table.listing != nil:
			out = append(out, block{lines: it.table.listing, code: true})
			continue
		case it.table != nil && it.table.form != nil:
			out = append(out, block{lines: formLines(it.table.form), tag: Tag{Role: roleLines}})
			continue
		case it.table != nil:
			out = append(out, block{table: it.table})
			continue
		}
		n := len(out)
		if n > 0 && out[n-1].table == nil && out[n-1].takes(it, ordinals[i] || letters[i] || clauses[i] || notes[i] && ended(out[n-1].lastText()), pitch) {
			out[n-1].lines = append(out[n-1].lines, it.line)
			out[n-1].bold = out[n-1].bold && it.line.Bold
			i++
			continue
		}
		numbers := ordinals[i] || it.tag.Role == RoleItem && ordinal.MatchString(it.line.Text)
		out = append(out, block{
			lines: []Line{it.line}, bold: it.line.Bold, item: numbers, code: it.line.Mono(), tag: it.tag,
			bulleted: bullet.MatchString(it.line.Text) || n > 0 && out[n-1].nests(it.line) || it.tag.Role == RoleItem && !numbers,
		})
		i++
	}
	for i := range out {
		out[i].code = out[i].code && len(out[i].lines) > 1
		out[i].alone = i+1 < len(out) && len(out[i].lines) <= 2 && !out[i].isRowAbove(out[i+1].lines) && (i == 0 || !out[i-1].isRowAbove(out[i].lines))
		out[i].leads = i+1 < len(out) && out[i].above(out[i+1])
	}
	return out
}

// takes reports whether the next line belongs to the block: by its tags, or else by the way it is set.
func (b block) takes(it item, ordinal bool, pitch float64) bool {
	if b.lines[0].latex != "" || it.line.latex != "" || it.line.drawn > 0 {
		return false
	}
	if b.tag.Block != 0 || it.tag.Block != 0 {
		return b.tag.Block == it.tag.Block && b.code == it.line.Mono()
	}
	return !ordinal && !b.nests(it.line) && b.extends(it.line, pitch)
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

// nests reports whether a line after a list item begins with the small o that word processors use as the mark of the second level.
func (b block) nests(line Line) bool {
	if !b.bulleted || !roundMark.MatchString(line.Text) {
		return false
	}
	deeper := line.Box.X0 - b.lines[0].Box.X0
	return deeper > 0.7*line.Size || roundMark.MatchString(b.lines[0].Text) && deeper > -0.7*line.Size
}

// mark is the form of what stands before an item without a number.
func (b block) mark() *regexp.Regexp {
	if bullet.MatchString(b.lines[0].Text) {
		return bullet
	}
	return roundSign
}

// above reports whether a line is the title of a paragraph below: close to it, and at its left edge or over its middle.
func (b block) above(next block) bool {
	if b.table != nil || next.table != nil || len(b.lines) != 1 || next.code || next.bulleted || next.item {
		return false
	}
	line, first, box := b.lines[0], next.lines[0], boxOf(next.lines)
	gap := first.base() - line.base()
	prose := len(next.lines) > 1 && first.runes() > 30 || first.runes() > 45
	level := math.Abs(first.Box.X0-line.Box.X0) < 3*line.Size || math.Abs(box.X0+box.X1-line.Box.X0-line.Box.X1) < 4*line.Size
	return prose && level && gap > 0 && gap < 4*line.Size && strings.ContainsFunc(first.Text, unicode.IsLower)
}

// extends reports whether a line belongs to the block of the line before.
func (b block) extends(line Line, pitch float64) bool {
	before := b.lines[len(b.lines)-1]
	if before.Turns != 0 || line.Turns != 0 || !same(before.Size, line.Size) || before.Bold != line.Bold && !b.runsIn(line, pitch) || before.Mono() != line.Mono() || bullet.MatchString(line.Text) {
		return false
	}
	if before.apart && beginsUpper(line.Text) || line.apart || entry.MatchString(before.Text) || b.leavesLetters(line) || b.isRowAbove([]Line{line}) {
		return false
	}
	gap := line.base() - before.base()
	if gap < 0 { // at the top of the next column
		return unfinished(before, line)
	}
	if b.code && gap < max(2.2*pitch, 2.6)*line.Size { // an empty line is a part of a program
		return true
	}
	if gap > max(1.3*pitch, 1.5)*line.Size || gap > 3*line.Size {
		return false
	}
	if b.item || b.bulleted {
		return true
	}
	indent := line.Box.X0 - before.Box.X0
	return !(indent > 0.9*line.Size && indent < 5*line.Size && ended(before.Text) && beginsUpper(line.Text))
}

// isRowAbove reports whether the block ends with a row that has an amount apart from its name, and so has the line that follows.
func (b block) isRowAbove(next []Line) bool {
	n := len(b.lines)
	return n > 0 && len(next) > 0 && b.lines[n-1].amount && next[0].amount
}

// leavesLetters reports whether a line begins with a number, left of the letter that the block begins with: the next paragraph after (b).
func (b block) leavesLetters(line Line) bool {
	return letterOf(b.lines[0].Text) >= 0 && (numberOf(line.Text) >= 0 || clauseOf(line.Text) >= 0) &&
		line.Box.X0 < b.lines[0].Box.X0-0.7*line.Size && closes(b.lastText())
}

func (b block) lastText() string { return b.lines[len(b.lines)-1].Text }

// closes reports whether a line ends a sentence or a part of one.
func closes(text string) bool {
	return ended(text) || strings.HasSuffix(text, ";") || strings.HasSuffix(text, ",")
}

// runsIn reports whether a paragraph continues in another weight: it began with some bold words, which fill its first line, or ends
// with some.
func (b block) runsIn(line Line, pitch float64) bool {
	before := b.lines[len(b.lines)-1]
	gap := line.base() - before.base()
	return gap > 0 && gap < 1.15*pitch*line.Size && before.runes() > 20 && !ended(before.Text) && !beginsUpper(line.Text) &&
		math.Abs(line.Box.X0-before.Box.X0) < 4*line.Size
}

// unfinished reports whether a sentence continues from the end of a column.
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
