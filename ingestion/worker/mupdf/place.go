package mupdf

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/formula"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/script"
)

const (
	maxHidden  = 2 // letters that have no glyph, as of ffi
	softHyphen = '\u00ad'
)

// placer finds the glyphs of lines. MuPDF writes lines and glyphs in the order of the file, so those of a line mostly follow those of
// the line before; where they do not, they are looked up by place.
type placer struct {
	glyphs []glyph // without blanks
	widths map[string]float64
	at     map[[2]int][]int // glyphs by their place in whole points; nil until it is needed
	next   int
	tried  int

	syllable float64 // how far Korean letters advance, in sizes; 0 without any
}

// maxTried limits how often glyphs are compared with lines, on a hostile page.
const maxTried = 200_000

// place adds the exact places of letters to lines, except those that have them, and drops lines that are printed twice. If most of the page's text lies on its side
// or upside down, the page is turned, so that its text can be read.
func place(page *layout.Page, glyphs []glyph, placed map[int]bool) {
	p := placer{widths: widthsOf(glyphs), syllable: syllableOf(glyphs)}
	p.glyphs = make([]glyph, 0, len(glyphs))
	for _, g := range glyphs {
		if g.text != "" {
			p.glyphs = append(p.glyphs, g)
		} else if n := len(p.glyphs); n > 0 {
			p.glyphs[n-1].blank = true
		}
	}
	var letters [4]int
	runs := make([][]glyph, len(page.Lines))
	for i := range page.Lines {
		line := &page.Lines[i]
		if placed[i] {
			letters[0] += utf8.RuneCountInString(line.Text)
			continue
		}
		run, ends := p.find(*line)
		runs[i] = run
		line.Glyphs = p.placed(line.Glyphs, run, ends)
		if run != nil {
			p.measure(line, run, ends)
		}
		if line.Turns >= 0 {
			letters[line.Turns] += utf8.RuneCountInString(line.Text)
		}
	}
	estimate(page.Lines, runs)
	if turns := slices.Index(letters[:], slices.Max(letters[:])); turns > 0 {
		turn(page, turns)
	}
	bounded(page.Lines)
	dropCovered(page, runs)
}

// rescale sets the size of type that says it is much smaller than it is: that of bitmap fonts, which are as large as a dot.
func rescale(glyphs []glyph) {
	steps := map[string][]float64{} // how far glyphs advance, in sizes, by font
	for i := 1; i < len(glyphs); i++ {
		g, before := glyphs[i], glyphs[i-1]
		if step := g.x - before.x; g.y == before.y && step > 0 && g.font() == before.font() && g.size > 0 {
			steps[g.font()] = append(steps[g.font()], step/g.size)
		}
	}
	for name, all := range steps {
		slices.Sort(all)
		if usual := all[len(all)/2]; usual < 3 {
			delete(steps, name)
		} else {
			steps[name] = []float64{usual / layout.CharWidth}
		}
	}
	for i := range glyphs {
		if larger, ok := steps[glyphs[i].font()]; ok {
			glyphs[i].size *= larger[0]
		}
	}
}

// find returns the glyphs of a line, and for each the number of the line's letters up to its end. ends is nil if the letters are in
// another order than the glyphs, as in Arabic.
func (p *placer) find(line layout.Line) (run []glyph, ends []int) {
	letters := []rune(script.ToOrdinary.Replace(strings.Join(strings.Fields(line.Text), "")))
	base := line.Box.Y0 + 0.8*(line.Box.Y1-line.Box.Y0)
	for at := range p.starts(line.Box.X0, base) {
		if p.tried++; p.tried > maxTried {
			break
		}
		if run, ends = p.match(letters, at); run != nil && near(line, base, run) {
			p.next = at + len(run)
			return run, ends
		}
	}
	return p.shuffled(letters), nil
}

// starts lists where the glyphs of a line may begin: after those of the line before, or near a place.
func (p *placer) starts(x, y float64) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !yield(p.next) {
			return
		}
		for _, dx := range []int{0, -1, 1} {
			for _, dy := range []int{0, -1, 1} {
				for _, at := range p.places()[[2]int{int(math.Floor(x)) + dx, int(math.Floor(y)) + dy}] {
					if !yield(at) {
						return
					}
				}
			}
		}
	}
}

// places returns the glyphs by their places. On most pages nobody asks: the lines are in the order of the glyphs.
func (p *placer) places() map[[2]int][]int {
	if p.at == nil {
		p.at = map[[2]int][]int{}
		for i, g := range p.glyphs {
			key := [2]int{int(math.Floor(g.x)), int(math.Floor(g.y))}
			p.at[key] = append(p.at[key], i)
		}
	}
	return p.at
}

// near reports whether glyphs begin or end where a line begins; the same words may be elsewhere on the page.
func near(line layout.Line, base float64, run []glyph) bool {
	within := max(2, line.Size)
	if line.Size < 2 { // the place is that of a blank without size before the first letter
		within = max(within, run[0].size)
	}
	if run[0].turns != 0 { // the place is off by what is above and below the baseline in the whole font
		within *= 2.5
	}
	return slices.ContainsFunc([]glyph{run[0], run[len(run)-1]}, func(g glyph) bool {
		return math.Abs(g.x-line.Box.X0) <= within && math.Abs(g.y-base) <= within
	})
}

// match compares letters with the glyphs from a place on.
func (p *placer) match(letters []rune, at int) (run []glyph, ends []int) {
	from, done := at, 0
	for done < len(letters) {
		n := p.fitsAt(letters[done:], at)
		if n == 0 && at+1 < len(p.glyphs) { // an accent of its own
			if n = fits(letters[done:], []rune(layout.Normal(p.ordinary(at)+p.glyphs[at+1].text))); n > 0 {
				run, ends = append(run, p.glyphs[at]), append(ends, done)
				at++
			}
		}
		if n == 0 {
			hidden := p.hidden(letters[done:], at)
			if hidden == 0 || len(run) == 0 {
				return nil, nil
			}
			done += hidden
			ends[len(ends)-1] = done
			continue
		}
		if run == nil {
			run, ends = make([]glyph, 0, len(letters)), make([]int, 0, len(letters))
		}
		done += n
		run, ends = append(run, p.glyphs[at]), append(ends, done)
		at++
		p.tried++
	}
	if len(run) == 0 || p.glyphs[from].turns != p.glyphs[at-1].turns {
		return nil, nil
	}
	return run, ends
}

func (p *placer) ordinary(at int) string { return script.ToOrdinary.Replace(p.glyphs[at].text) }

// fitsAt returns how many letters the glyph at a place is, or 0.
func (p *placer) fitsAt(letters []rune, at int) int {
	if at >= len(p.glyphs) {
		return 0
	}
	if text := p.glyphs[at].text; len(text) == 1 { // most are ordinary
		if len(letters) > 0 && letters[0] == rune(text[0]) {
			return 1
		}
		return 0
	}
	return fits(letters, []rune(p.ordinary(at)))
}

// hidden returns how many letters before the glyph at a place have none of their own: of a ligature that the file spells, only the first
// letter has one, and soft hyphens within a line have none.
func (p *placer) hidden(letters []rune, at int) int {
	for n := 1; n <= maxHidden && n <= len(letters) && (unicode.IsLetter(letters[n-1]) || letters[n-1] == softHyphen); n++ {
		if n == len(letters) || p.fitsAt(letters[n:], at) > 0 {
			return n
		}
	}
	return 0
}

// fits returns how many letters a glyph's text is, or 0 if they differ.
func fits(letters, text []rune) int {
	if len(text) == 0 || len(text) > len(letters) || !slices.Equal(letters[:len(text)], text) {
		return 0
	}
	return len(text)
}

// shuffled returns the next glyphs if they are the letters of a line in another order.
func (p *placer) shuffled(letters []rune) []glyph {
	if !slices.ContainsFunc(letters, layout.RightToLeft) {
		return nil
	}
	missing := map[rune]int{}
	for _, r := range letters {
		missing[r]++
	}
	at, n := p.next, len(letters)
	for ; at < len(p.glyphs) && n > 0; at++ {
		for _, r := range compatible(p.glyphs[at].text) {
			if missing[r]--; missing[r] < 0 {
				return nil
			}
			n--
		}
	}
	if n > len(letters)/8 || at == p.next { // letters of ligatures may have no glyph
		return nil
	}
	run := p.glyphs[p.next:at]
	p.next = at
	return run
}

// placed adds their places to the letters of a line. It returns nil if those are unknown.
func (p *placer) placed(letters []formula.Glyph, run []glyph, ends []int) []formula.Glyph {
	if len(ends) == 0 || ends[len(ends)-1] != len(letters) {
		return nil
	}
	out := make([]formula.Glyph, len(run))
	for i, g := range run {
		from := 0
		if i > 0 {
			from = ends[i-1]
		}
		if from == len(letters) || g.turns != 0 {
			return nil
		}
		text := g.text
		if ends[i]-from > utf8.RuneCountInString(text) { // a ligature
			text = ""
			for _, l := range letters[from:ends[i]] {
				text += l.Text
			}
		}
		out[i] = formula.Glyph{Text: text, Font: letters[from].Font, X: g.x, Y: g.y, Size: g.size, Width: p.widths[g.id] * g.size}
	}
	return out
}

// measure sets a line's box, size, direction and edges by its glyphs.
func (p *placer) measure(line *layout.Line, run []glyph, ends []int) {
	line.Turns = run[0].turns
	heights := map[[2]int]int{}
	most, base, size := 0, 0.0, 0.0
	for _, g := range run {
		_, v := g.along()
		key := [2]int{int(math.Round(2 * v)), int(math.Round(2 * g.size))}
		if heights[key]++; heights[key] > most {
			most, base, size = heights[key], v, g.size
		}
	}
	if line.Size >= 1 && math.Abs(line.Size-size) > 0.3*size { // condensed or widened
		size = line.Size
	}
	line.Size = size
	left, right := math.Inf(1), math.Inf(-1)
	for _, g := range run {
		u, _ := g.along()
		left, right = min(left, u), max(right, u+p.widths[g.id]*g.size)
	}
	line.Box = upright(layout.Box{X0: left, Y0: base - 0.8*size, X1: right, Y1: base + 0.2*size}, line.Turns)
	line.Edges = nil
	if ends == nil || line.Turns != 0 {
		return
	}
	settleLowered(line, run, ends)
	run, ends = withAccents(line, run, ends)
	p.setSpaces(line, run, ends)
	p.setWords(line, run, ends)
	line.Edges = p.edges(line.Text, run, ends)
}

// upright returns where a box of turned text is on the page.
func upright(b layout.Box, turns int) layout.Box {
	switch turns {
	case 1:
		return layout.Box{X0: -b.Y1, Y0: b.X0, X1: -b.Y0, Y1: b.X1}
	case 2:
		return layout.Box{X0: -b.X1, Y0: -b.Y1, X1: -b.X0, Y1: -b.Y0}
	case 3:
		return layout.Box{X0: b.Y0, Y0: -b.X1, X1: b.Y1, Y1: -b.X0}
	}
	return b
}

// edges returns the left edge of each letter and blank. Letters of a ligature share its place.
func (p *placer) edges(text string, run []glyph, ends []int) []float64 {
	edges := make([]float64, 0, len(text))
	at, done, last := 0, 0, 0.0
	for _, r := range text {
		if r == ' ' {
			edges = append(edges, last)
			continue
		}
		for at+1 < len(run) && ends[at] <= done {
			at++
		}
		edges = append(edges, run[at].x)
		last = run[at].x + p.widths[run[at].id]*run[at].size
		done++
	}
	if !slices.IsSorted(edges) {
		return nil
	}
	return edges
}

// setSpaces finds the spaces of a line whose letters are spaced: MuPDF takes each of their gaps for one. They are as wide as the narrowest gap
// that the file has a blank in, or wider than most gaps if it has none. Letters that the file has blanks between stay apart.
func (p *placer) setSpaces(line *layout.Line, run []glyph, ends []int) {
	const least = 2 // spaces too many, in a line whose words are not all single letters
	gaps, typed, narrowest := make([]float64, len(run)-1), 0, math.Inf(1)
	for i := range gaps {
		gaps[i] = (run[i+1].x-run[i].x)/run[i].size - p.widths[run[i].id]
		if run[i].blank {
			typed, narrowest = typed+1, min(narrowest, gaps[i])
		}
	}
	wider := 0
	for _, gap := range gaps {
		if gap >= narrowest {
			wider++
		}
	}
	switch apart := letterSpaced(line.Text); {
	case typed*2 > len(run):
		return
	case typed == 0 && apart:
		usual := slices.Sorted(slices.Values(gaps))[len(gaps)/3]
		narrowest = max(1.6*usual, usual+0.15)
	case typed == 0, !apart && (!mayBeSpaced(line.Text) || wider > typed || len(strings.Fields(line.Text)) <= typed+least):
		return
	}
	letters := []rune(strings.Join(strings.Fields(line.Text), ""))
	var b strings.Builder
	for i, done := 0, 0; i < len(run); i++ {
		b.WriteString(string(letters[done:ends[i]]))
		if done = ends[i]; i < len(gaps) && gaps[i] >= narrowest {
			b.WriteByte(' ')
		}
	}
	line.Text = b.String()
}

// setWords divides Korean words where the file only moves on between them: MuPDF takes them for one, as in Chinese.
func (p *placer) setWords(line *layout.Line, run []glyph, ends []int) {
	if p.syllable == 0 {
		return
	}
	apart := map[int]bool{} // after so many letters
	for i := range len(run) - 1 {
		if isHangul(run[i]) && (run[i+1].x-run[i].x)/run[i].size > p.syllable+0.15 {
			apart[ends[i]] = true
		}
	}
	var b strings.Builder
	done, blank := 0, true
	for _, r := range line.Text {
		if r != ' ' {
			if apart[done] && !blank {
				b.WriteByte(' ')
			}
			done++
		}
		b.WriteRune(r)
		blank = r == ' '
	}
	line.Text = b.String()
}

func isHangul(g glyph) bool {
	r, _ := utf8.DecodeLastRuneInString(g.text)
	return unicode.Is(unicode.Hangul, r)
}

// syllableOf is how far Korean letters of a page advance, in sizes, or 0 without any: they are all as wide.
func syllableOf(glyphs []glyph) float64 {
	var steps []float64
	for i := 1; i < len(glyphs); i++ {
		if g, before := glyphs[i], glyphs[i-1]; isHangul(before) && g.y == before.y && g.x > before.x && before.size > 0 {
			steps = append(steps, (g.x-before.x)/before.size)
		}
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/3]
}

// letterSpaced reports whether most words of a text are single letters.
func letterSpaced(text string) bool {
	single, words := singles(text)
	return single >= 4 && single*10 >= 7*words
}

// mayBeSpaced reports whether so many words of a text are single letters that others may be parts of words.
func mayBeSpaced(text string) bool {
	single, words := singles(text)
	return single >= 3 && single*4 >= words
}

// singles returns how many words of a text are single letters.
func singles(text string) (single, words int) {
	for w := range strings.FieldsSeq(text) {
		if r, n := utf8.DecodeRuneInString(w); n == len(w) && unicode.IsLetter(r) {
			single++
		}
		words++
	}
	return single, words
}

// turn turns a page counterclockwise, so that text in this direction stands upright.
func turn(page *layout.Page, turns int) {
	page.Turned = true
	w, h := page.Width, page.Height
	move := func(b layout.Box) layout.Box {
		switch turns {
		case 1:
			return layout.Box{X0: b.Y0, Y0: w - b.X1, X1: b.Y1, Y1: w - b.X0}
		case 2:
			return layout.Box{X0: w - b.X1, Y0: h - b.Y1, X1: w - b.X0, Y1: h - b.Y0}
		}
		return layout.Box{X0: h - b.Y1, Y0: b.X0, X1: h - b.Y0, Y1: b.X1}
	}
	for i := range page.Lines {
		l := &page.Lines[i]
		l.Box = move(l.Box)
		if l.Edges = nil; l.Turns >= 0 {
			l.Turns = (l.Turns - turns + 4) % 4
		}
	}
	for i := range page.Links {
		page.Links[i].Box = move(page.Links[i].Box)
	}
	for _, boxes := range [][]layout.Box{page.Rules, page.Pictures} {
		for i := range boxes {
			boxes[i] = move(boxes[i])
		}
	}
	if turns != 2 {
		page.Width, page.Height = h, w
	}
}

// estimate sets the width of lines with ink whose glyphs were not found by that of the other lines in their font, or on the page.
func estimate(lines []layout.Line, runs [][]glyph) {
	type sum struct{ width, sizes float64 }
	byFont := map[string]sum{}
	sizes := func(l layout.Line) float64 { return l.Size * float64(utf8.RuneCountInString(l.Text)) }
	for i, l := range lines {
		if runs[i] != nil && l.Turns == 0 {
			for _, font := range []string{l.Font, ""} {
				s := byFont[font]
				byFont[font] = sum{s.width + l.Box.X1 - l.Box.X0, s.sizes + sizes(l)}
			}
		}
	}
	for i := range lines {
		l := &lines[i]
		s := byFont[l.Font]
		if s.sizes == 0 {
			s = byFont[""]
		}
		if runs[i] == nil && s.sizes > 0 && !l.Invisible {
			l.Box.X1 = l.Box.X0 + sizes(*l)*s.width/s.sizes
		}
	}
}

// bounded ends lines of estimated width before what is beside them.
func bounded(lines []layout.Line) {
	rows := map[int][]*layout.Line{}
	for i := range lines {
		l := &lines[i]
		rows[int(math.Round(l.Box.Y1))] = append(rows[int(math.Round(l.Box.Y1))], l)
	}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b *layout.Line) int { return cmp.Compare(a.Box.X0, b.Box.X0) })
		for i := 1; i < len(row); i++ {
			if l := row[i-1]; l.Edges == nil && row[i].Box.X0 > l.Box.X0+1 {
				l.Box.X1 = min(l.Box.X1, max(l.Box.X0+1, row[i].Box.X0-1))
			}
		}
	}
}
