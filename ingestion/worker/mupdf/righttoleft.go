package mupdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/ingestion/bidi"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/script"
)

// Shares of the size of type: from which space on letters are in different lines, with or without blanks between them, or in different
// words, and how far baselines of a line are apart.
const (
	lineGap  = 0.8
	blankGap = 2.5
	wordGap  = 0.2
	level    = 0.2
)

// unread is the share of the letters of MuPDF's lines that may have no glyph.
const unread = 0.1

// compatible returns letters for the forms that they have within words, and for ligatures.
func compatible(s string) string { return norm.NFKC.String(s) }

func runsLeft(l layout.Line) bool { return strings.ContainsFunc(l.Text, layout.RightToLeft) }

// readLeftwards makes lines with letters from right to left again, from the places of their glyphs: MuPDF turns some of their words
// round and others not, and joins cells of tables. It returns the numbers of these lines. Those without glyphs, such as invisible ones,
// and those that are not upright stay.
func readLeftwards(page *layout.Page, glyphs []glyph) map[int]bool {
	if !slices.ContainsFunc(page.Lines, runsLeft) {
		return nil
	}
	glyphs = slices.DeleteFunc(slices.Clone(glyphs), func(g glyph) bool { return g.turns != 0 || g.size <= 0 })
	completeLigatures(glyphs, page.Lines)
	for i, g := range glyphs {
		if strings.ContainsFunc(g.text, layout.RightToLeft) {
			glyphs[i].text = strings.TrimSpace(compatible(g.text)) // a mark of its own has a blank
		}
	}
	rows := rowsOf(glyphs)
	owned := make([][]int, len(rows)) // lines
	for i, l := range page.Lines {
		if n := rowOf(rows, l.Box.X0, l.Box.Y0+0.8*(l.Box.Y1-l.Box.Y0), max(l.Size, 1)); n >= 0 {
			owned[n] = append(owned[n], i)
		}
	}
	widths := advances(rows)
	var pieces []piece
	for n, r := range rows {
		if len(owned[n]) == 0 || !slices.ContainsFunc(r.glyphs, func(g glyph) bool { return strings.ContainsFunc(g.text, layout.RightToLeft) }) {
			continue
		}
		if missing, more, all := r.missing(page.Lines, owned[n]); float64(missing) <= unread*float64(all) && 2*more <= all {
			pieces = append(pieces, r.pieces(widths, page.Rules, owned[n], missing == 0)...)
		}
	}
	return replaceLines(page, pieces)
}

// piece is the letters of a line from left to right.
type piece struct {
	visual   []string
	box      layout.Box
	size     float64
	first    int   // of its glyphs in the file
	lines    []int // of its row
	complete bool  // every letter of them has a glyph
}

func (p piece) letters() string {
	return strings.ReplaceAll(strings.Join(p.visual, ""), " ", "")
}

// replaceLines puts pieces in the place of the lines of their rows. Lines without letters from right to left stay if they are a piece.
func replaceLines(page *layout.Page, pieces []piece) map[int]bool {
	toLeft := layout.Leftwards(page.Lines)
	all := make([]bidi.Line, len(pieces))
	for i, p := range pieces {
		all[i] = bidi.Line{Visual: p.visual, RTL: leftwards(p.visual, toLeft)}
	}
	turned := bidi.Turned(all)
	made, gone := map[int][]layout.Line{}, map[int]bool{}
	kept := map[int]bool{}
	for i, p := range pieces {
		model := page.Lines[p.lines[0]]
		for _, n := range p.lines {
			gone[n] = true
			if l := page.Lines[n]; min(l.Box.X1, p.box.X1)-max(l.Box.X0, p.box.X0) > min(model.Box.X1, p.box.X1)-max(model.Box.X0, p.box.X0) {
				model = l
			}
		}
		if !strings.ContainsFunc(p.letters(), layout.RightToLeft) {
			same := slices.IndexFunc(p.lines, func(n int) bool {
				return !kept[n] && strings.ReplaceAll(script.ToOrdinary.Replace(page.Lines[n].Text), " ", "") == p.letters()
			})
			if same >= 0 {
				kept[p.lines[same]] = true
				continue
			}
		}
		all[i].Turned = turned
		text, sure := all[i].Logical()
		l := layout.Line{
			Text: layout.Normal(text), Box: p.box, Size: p.size, Font: model.Font, Bold: model.Bold, Italic: model.Italic,
			Invisible: model.Invisible, Logical: sure && p.complete,
		}
		made[p.lines[0]] = append(made[p.lines[0]], l)
	}
	var out []layout.Line
	placed := map[int]bool{}
	for i, l := range page.Lines {
		if !gone[i] || kept[i] {
			out = append(out, l)
		}
		for _, l := range made[i] {
			placed[len(out)] = true
			out = append(out, l)
		}
	}
	page.Lines = out
	return placed
}

// leftwards reports whether a line is one of a paragraph that runs from right to left: as most of its page does, unless nearly all of it
// runs the other way.
func leftwards(visual []string, page bool) bool {
	var ends []bool
	left, right := 0, 0
	for _, s := range visual {
		for _, r := range s {
			if !unicode.IsLetter(r) {
				continue
			}
			if ends = append(ends, layout.RightToLeft(r)); ends[len(ends)-1] {
				left++
			} else {
				right++
			}
		}
	}
	switch {
	case left == 0 || right == 0:
		return left > 0 || right == 0 && page
	case page:
		return ends[0] || ends[len(ends)-1] || right <= 3*left
	}
	return left > right
}

// row is glyphs on one baseline.
type row struct {
	base, size  float64
	left, right float64
	glyphs      []glyph // from left to right
	order       []int   // in the file
}

func isSign(s string) bool {
	return s != "" && strings.Trim(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s), " ") == ""
}

// rowsOf sorts glyphs into rows from the top down. Marks, blanks, and raised or lowered letters are in the row that they belong to.
func rowsOf(glyphs []glyph) []row {
	byBase := make([]int, len(glyphs))
	for i := range glyphs {
		byBase[i] = i
	}
	slices.SortStableFunc(byBase, func(a, b int) int { return cmp.Compare(glyphs[a].y, glyphs[b].y) })
	var rows []row
	var others []int
	for _, i := range byBase {
		g := glyphs[i]
		if g.text == "" || isSign(g.text) {
			others = append(others, i)
			continue
		}
		if n := len(rows); n == 0 || g.y-rows[n-1].base > level*max(g.size, rows[n-1].size) {
			rows = append(rows, row{base: g.y, size: g.size, left: g.x, right: g.x})
		}
		rows[len(rows)-1].add(g, i)
	}
	rows = joinRaised(rows)
	for _, i := range others {
		g := glyphs[i]
		if n := rowOf(rows, g.x, g.y, g.size); n >= 0 && (g.text != "" || math.Abs(g.y-rows[n].base) <= level*g.size) {
			rows[n].add(g, i)
		}
	}
	for i := range rows {
		rows[i].sort()
	}
	return rows
}

func (r *row) add(g glyph, at int) {
	r.glyphs, r.order = append(r.glyphs, g), append(r.order, at)
	r.left, r.right = min(r.left, g.x), max(r.right, g.x)
	if g.text != "" && !isSign(g.text) {
		r.size = max(r.size, g.size)
	}
}

// sort sorts glyphs from left to right, drops what is printed twice, and adds marks to the letters that bear them.
func (r *row) sort() {
	at := make([]int, len(r.glyphs))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(r.glyphs[a].x, r.glyphs[b].x) })
	var sorted, signs []glyph
	var order []int
	for _, i := range at {
		g := r.glyphs[i]
		switch {
		case isSign(g.text):
			signs = append(signs, g)
		case g.text != "" && slices.ContainsFunc(sorted[max(0, len(sorted)-3):], func(b glyph) bool { return b.text == g.text && g.x-b.x <= 0.12*g.size }):
		default:
			sorted, order = append(sorted, g), append(order, r.order[i])
		}
	}
	for _, sign := range signs {
		bearer := -1
		for i, g := range sorted {
			if g.text != "" && (bearer < 0 || g.x <= sign.x+0.15*g.size) {
				bearer = i
			}
		}
		if bearer >= 0 {
			sorted[bearer].text += sign.text
		}
	}
	r.glyphs, r.order = sorted, order
}

// joinRaised adds rows of small type to the larger row beside whose letters they are.
func joinRaised(rows []row) []row {
	var out []row
	taken := make([]bool, len(rows))
	for i, small := range rows {
		for _, n := range []int{i - 1, i + 1} {
			if n < 0 || n >= len(rows) || taken[n] || small.size > 0.8*rows[n].size || math.Abs(small.base-rows[n].base) > 0.45*rows[n].size {
				continue
			}
			if !slices.ContainsFunc(small.glyphs, func(g glyph) bool { return !rows[n].beside(g) }) {
				for k, g := range small.glyphs {
					rows[n].add(g, small.order[k])
				}
				taken[i] = true
				break
			}
		}
	}
	for i, r := range rows {
		if !taken[i] {
			out = append(out, r)
		}
	}
	return out
}

// beside reports whether a glyph stands close to one of the row and over none.
func (r row) beside(g glyph) bool {
	near := false
	for _, o := range r.glyphs {
		off := g.x - o.x
		if off > -0.3*g.size && off < 0.2*o.size {
			return false
		}
		near = near || off > -1.5*o.size && off < 1.5*o.size
	}
	return near
}

// rowOf returns the number of the row that a place is in, or -1.
func rowOf(rows []row, x, base, size float64) int {
	from, _ := slices.BinarySearchFunc(rows, base-1.2*size, func(r row, y float64) int { return cmp.Compare(r.base, y) })
	best, near := -1, math.Inf(1)
	for n := from; n < len(rows) && rows[n].base <= base+1.2*size; n++ {
		if off := math.Abs(rows[n].base - base); off < near && off <= 0.6*max(size, rows[n].size) && x > rows[n].left-2*size && x < rows[n].right+2*size {
			best, near = n, off
		}
	}
	return best
}

// advances learns how far glyphs advance, in sizes, from what is behind them most closely.
func advances(rows []row) map[string]float64 {
	widths := map[string]float64{}
	for _, r := range rows {
		var last *glyph
		for i := range r.glyphs {
			g := &r.glyphs[i]
			if isSign(g.text) {
				continue
			}
			if last != nil && g.x > last.x {
				width := (g.x - last.x) / last.size
				if before, ok := widths[last.id]; (!ok || width < before) && width < 1.5 {
					widths[last.id] = width
				}
			}
			last = g
		}
	}
	return widths
}

// missing counts the letters of lines, those of them without a glyph in the row, and those that only the row has.
func (r row) missing(lines []layout.Line, of []int) (missing, more, all int) {
	found := map[rune]int{}
	for _, g := range r.glyphs {
		for _, c := range compatible(g.text) {
			if !unicode.Is(unicode.Mn, c) {
				found[c]++
				more++
			}
		}
	}
	for _, n := range of {
		for _, c := range compatible(lines[n].Text) {
			if unicode.IsSpace(c) || unicode.Is(unicode.Mn, c) {
				continue
			}
			all++
			if found[c]--; found[c] < 0 {
				missing++
			}
		}
	}
	return missing, more - (all - missing), all
}

// pieces divides a row at wide gaps and at upright rules.
func (r row) pieces(widths map[string]float64, rules []layout.Box, lines []int, complete bool) (out []piece) {
	advance := func(g glyph) float64 {
		if w, ok := widths[g.id]; ok {
			return w * g.size
		}
		return 0.6 * g.size
	}
	p := piece{first: math.MaxInt}
	end, pen := 0.0, 0.0 // of the last letter, and of the blanks behind it
	blank := false
	finish := func() {
		if len(p.visual) > 0 {
			p.lines, p.complete, p.box.X1 = lines, complete, end
			out = append(out, p)
		}
		p = piece{first: math.MaxInt}
	}
	for i, g := range r.glyphs {
		if g.text == "" {
			blank, pen = true, max(pen, g.x+min(advance(g), 0.6*g.size))
			continue
		}
		if len(p.visual) > 0 {
			switch gap := g.x - end; {
			case g.x-pen > lineGap*g.size, gap > blankGap*g.size, ruled(rules, end-0.2*g.size, g.x+0.2*g.size, r.base, g.size):
				finish()
			case blank, gap > wordGap*g.size:
				p.visual = append(p.visual, " ")
			}
		}
		if len(p.visual) == 0 {
			p.box = layout.Box{X0: g.x, Y0: r.base - 0.8*r.size, Y1: r.base + 0.2*r.size}
		}
		p.visual = append(p.visual, g.text)
		p.first, p.size = min(p.first, r.order[i]), max(p.size, g.size)
		end, blank = g.x+advance(g), false
		pen = end
	}
	finish()
	slices.SortStableFunc(out, func(a, b piece) int { return cmp.Compare(a.first, b.first) })
	return out
}

// ruled reports whether an upright rule stands between two places of a line.
func ruled(rules []layout.Box, from, to, base, size float64) bool {
	return slices.ContainsFunc(rules, func(b layout.Box) bool {
		return b.X1-b.X0 < 3 && b.X0 > from && b.X1 < to && b.Y0 < base-0.3*size && b.Y1 > base-0.1*size
	})
}

// completeLigatures adds the letters of ligatures that the file spells as several: only the first has a glyph, and MuPDF's lines have
// all, in either direction.
func completeLigatures(glyphs []glyph, lines []layout.Line) {
	words := map[string][]string{} // by the letter that they begin with, read either way
	for _, l := range lines {
		for _, w := range strings.FieldsFunc(compatible(l.Text), func(r rune) bool { return !layout.RightToLeft(r) || unicode.Is(unicode.Mn, r) }) {
			for _, way := range []string{w, reversed(w)} {
				words[way[:2]] = append(words[way[:2]], way)
			}
		}
	}
	more, plain := map[string]string{}, map[string]bool{}
	for from := 0; from < len(glyphs); {
		end := from
		for end < len(glyphs) && glyphs[end].y == glyphs[from].y && strings.ContainsFunc(glyphs[end].text, layout.RightToLeft) {
			end++
		}
		if end == from {
			from++
			continue
		}
		found, exact := spelled(glyphs[from:end], words)
		for i, g := range glyphs[from:end] {
			if exact {
				plain[g.id] = true
			} else if found != nil && found[i] != "" {
				more[g.id] = found[i]
			}
		}
		from = end
	}
	for i, g := range glyphs {
		if !plain[g.id] {
			glyphs[i].text += more[g.id]
		}
	}
}

// spelled returns the letters that a word has behind those of each glyph, and whether it has none.
func spelled(glyphs []glyph, words map[string][]string) (more []string, exact bool) {
	const most = 3
	first := compatible(glyphs[0].text)
	for _, w := range words[first[:min(2, len(first))]] {
		rest, found, n := []rune(w), make([]string, len(glyphs)), 0
		for i, g := range glyphs {
			text := []rune(compatible(g.text))
			for i > 0 && n < most && len(rest) > 0 && rest[0] != text[0] {
				found[i-1] += string(rest[0])
				rest = rest[1:]
				n++
			}
			if len(rest) < len(text) || !slices.Equal(rest[:len(text)], text) && !slices.Equal(rest[:len(text)], []rune(reversed(string(text)))) {
				found = nil
				break
			}
			rest = rest[len(text):]
		}
		if found == nil || n+len(rest) > most {
			continue
		}
		found[len(found)-1] += string(rest)
		if n+len(rest) == 0 {
			return nil, true
		}
		more = found
	}
	return more, false
}

func reversed(s string) string {
	letters := []rune(s)
	slices.Reverse(letters)
	return string(letters)
}
