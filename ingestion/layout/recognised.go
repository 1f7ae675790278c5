package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ColumnsUnsure is the reason for which recognised rows of amounts that are no table are doubtful.
const ColumnsUnsure = "rows of amounts stay lines of text: where a cell is empty, amounts may belong to other columns"

// Word is a recognised word with the box of its ink, in the order in which recognition reads. Boxes may be in any unit.
type Word struct {
	Text string
	Box  Box
	Line int // of recognition; words of one line follow one another
}

// RecognisedTable is a table of recognised words.
type RecognisedTable struct {
	Markdown string
	Words    []int  // whose text it has, in rising order
	Empty    []Box  // places of cells without text
	Doubt    string // why its cells may be wrong; usually empty
}

// usualSize is the size, in points, that most recognised words are given: their picture does not say how large they are.
const usualSize = 10

// RecognisedTables finds the tables of an upright page of recognised words, by the rules of its picture and by white space, in the same way as
// those of other pages. It also reports whether other words are rows of amounts that do not show their columns. Rules are in the unit of the words.
func RecognisedTables(words []Word, rules []Box) (tables []RecognisedTable, unsure bool) {
	lines, of, scale := recognisedLines(words, rules)
	if len(lines) == 0 {
		return nil, false
	}
	scaled := make([]Box, len(rules))
	for i, r := range rules {
		scaled[i] = Box{r.X0 * scale, r.Y0 * scale, r.X1 * scale, r.Y1 * scale}
	}
	items, _ := found(slices.Clone(lines), scaled)
	w := &writer{compounds: compoundsOf(lines)}
	taken := make([]bool, len(lines))
	for _, it := range items {
		if it.table == nil || it.table.listing != nil || it.table.form == nil && !saysMore(it.table, scaled) {
			continue
		}
		var t RecognisedTable
		in := map[int]bool{} // its lines
		for _, l := range append(slices.Concat(slices.Concat(it.table.rows...)...), linesIn(it.table.form)...) {
			in[l.at] = true
		}
		letters, leftwards := 0, false
		for at := range in {
			t.Words = append(t.Words, of[at]...)
			letters += lettersOf(lines[at].Text)
			leftwards = leftwards || strings.ContainsFunc(lines[at].Text, RightToLeft)
		}
		plain := ""
		if it.table.form != nil {
			plain, t.Markdown = w.kept(formLines(it.table.form))
		} else {
			it.table.check()
			plain, t.Markdown = it.table.markdown(w)
		}
		if leftwards || lettersOf(plain) != letters { // columns the other way round, or a lost cell
			continue
		}
		for at := range in {
			taken[at] = true
		}
		slices.Sort(t.Words)
		t.Doubt = it.table.doubt
		for _, b := range emptyCells(it.table) {
			t.Empty = append(t.Empty, Box{b.X0 / scale, b.Y0 / scale, b.X1 / scale, b.Y1 / scale})
		}
		tables = append(tables, t)
	}
	var rest []Line
	for i, l := range lines {
		if !taken[i] {
			rest = append(rest, l)
		}
	}
	return tables, unevenAmounts(rest)
}

// saysMore reports whether a table says more than its lines. Two columns without rules do not: labels of forms, and addresses, look the same. Nor
// do a few words side by side, as below a diagram.
func saysMore(t *table, rules []Box) bool {
	if slices.ContainsFunc(rules, func(r Box) bool { return r.height() > r.width() && t.box.holds(r) }) {
		return true
	}
	amounts := slices.ContainsFunc(t.rows[1:], func(row [][]Line) bool {
		return slices.ContainsFunc(slices.Concat(row...), func(l Line) bool { return isNumber(l.Text) })
	})
	return len(t.rows[0]) > 2 && (amounts || len(t.rows) > 3)
}

// emptyCells returns the places of the cells of a table without text: the columns and rows of the others.
func emptyCells(t *table) (places []Box) {
	if len(t.rows) == 0 { // a form
		return nil
	}
	columns := make([]Box, len(t.rows[0]))
	for c := range columns {
		var in []Line
		for _, row := range t.rows[1:] {
			in = append(in, row[c]...)
		}
		if len(in) > 0 {
			columns[c] = boxOf(in)
		}
	}
	for _, row := range t.rows[1:] {
		all := slices.Concat(row...)
		for c, cell := range row {
			if len(cell) == 0 && len(all) > 0 && columns[c] != (Box{}) {
				b := boxOf(all)
				places = append(places, Box{columns[c].X0, b.Y0, columns[c].X1, b.Y1})
			}
		}
	}
	return places
}

func lettersOf(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// unevenAmounts reports whether rows of amounts follow one another of which some have fewer than others.
func unevenAmounts(lines []Line) bool {
	const fewest = 3
	rows, most, fewer := 0, 0, 0
	var before []Line
	for _, row := range rowsOf(lines) {
		n := 0
		for _, l := range row[1:] {
			if isNumber(l.Text) {
				n++
			}
		}
		if n == 0 || before != nil && pitch(before, row) > 3*row[0].Size {
			rows = 0
		}
		if before = row; n == 0 {
			continue
		}
		if rows == 0 {
			most, fewer = n, n
		}
		rows++
		if most, fewer = max(most, n), min(fewer, n); rows >= fewest && most > fewer {
			return true
		}
	}
	return false
}

// recognisedLines makes lines of words that no column is between, with the words of each, in points. Boxes of ink differ from word to word:
// the letters say where their baseline is, and that of words in one row is the same.
func recognisedLines(words []Word, rules []Box) (lines []Line, of [][]int, scale float64) {
	type placed struct {
		n, line            int // of the word
		text               string
		x0, x1, base, size float64
	}
	var sizes []float64
	for _, w := range words {
		if up, down := inkOf(w.Text); up > 0 {
			sizes = append(sizes, w.Box.height()/(up+down))
		}
	}
	if len(sizes) == 0 {
		return nil, nil, 1
	}
	slices.Sort(sizes)
	usual := sizes[len(sizes)/2]
	if usual <= 0 {
		return nil, nil, 1
	}
	scale = usualSize / usual
	var all []placed
	for i, word := range words {
		w := withoutRules(word, rules)
		text := strings.TrimSpace(Normal(w.Text))
		if text == "" {
			continue
		}
		p := placed{n: i, text: text, x0: w.Box.X0 * scale, x1: w.Box.X1 * scale, size: usualSize}
		if up, down := inkOf(text); up > 0 {
			p.size = w.Box.height() * scale / (up + down)
			p.base = w.Box.Y1*scale - down*min(p.size, 1.35*usualSize)
		} else {
			p.base = (w.Box.Y0+w.Box.Y1)/2*scale + 0.3*usualSize // a dash
		}
		p.line = word.Line
		all = append(all, p)
	}
	for from := 0; from < len(all); { // the box of a short word may be off
		to := from
		for to < len(all) && all[to].line == all[from].line {
			to++
		}
		bases := make([]float64, to-from)
		for i := range bases {
			bases[i] = all[from+i].base
		}
		slices.Sort(bases)
		for base := bases[len(bases)/2]; from < to; from++ {
			if math.Abs(all[from].base-base) < 0.5*usualSize {
				all[from].base = base
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.base, b.base) })
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].base-all[from].base < 0.35*min(all[from].size, all[to].size) {
			to++
		}
		to = max(to, from+1)
		row := all[from:to]
		base, size := row[len(row)/2].base, sizeOf(len(row), func(i int) float64 { return row[i].size })
		slices.SortStableFunc(row, func(a, b placed) int { return cmp.Compare(a.x0, b.x0) })
		for i, p := range row {
			edges := make([]float64, utf8.RuneCountInString(p.text))
			for j := range edges {
				edges[j] = p.x0 + (p.x1-p.x0)*float64(j)/float64(len(edges))
			}
			if i > 0 {
				l := &lines[len(lines)-1]
				if gap, near := p.x0-l.Box.X1, wordSpace(row[i-1].text, p.text); gap < near*size && !walledOff(rules, l.Box.X1/scale, p.x0/scale, base/scale) {
					if !unspaced(l.Text, p.text) {
						l.Text, l.Edges = l.Text+" ", append(l.Edges, l.Box.X1)
					}
					l.Text, l.Edges = l.Text+p.text, append(l.Edges, edges...)
					l.Box.X1 = max(l.Box.X1, p.x1)
					of[len(of)-1] = append(of[len(of)-1], p.n)
					continue
				}
			}
			lines = append(lines, Line{Text: p.text, Box: Box{p.x0, base - 0.8*size, p.x1, base + 0.2*size}, Size: size, Edges: edges})
			of = append(of, []int{p.n})
		}
		from = to
	}
	// As recognition has read them.
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of[a][0], of[b][0]) })
	sortedLines, sortedOf := make([]Line, len(lines)), make([][]int, len(lines))
	for i, at := range order {
		sortedLines[i], sortedOf[i] = lines[at], of[at]
		sortedLines[i].at = i
	}
	lines, of = withLabelWords(sortedLines, sortedOf)
	return lines, of, scale
}

// withLabelWords joins labels to their titles as [withLabels] does, and the words of both.
func withLabelWords(lines []Line, of [][]int) (joined []Line, words [][]int) {
	joined = withLabels(lines)
	if len(joined) == len(lines) {
		return lines, of
	}
	kept := map[int]bool{}
	for i := range joined {
		kept[joined[i].at] = true
		words = append(words, slices.Clone(of[joined[i].at]))
		joined[i].at = i
	}
	for at, l := range lines {
		if i := slices.IndexFunc(joined, func(j Line) bool { return j.Box.holds(l.Box) && !kept[at] }); i >= 0 {
			words[i] = append(words[i], of[at]...)
		}
	}
	return joined, words
}

// sizeOf is the size of a row of n words: the usual one, unless most of them are clearly smaller or larger. Boxes of single words are off.
func sizeOf(n int, of func(i int) float64) float64 {
	sizes := make([]float64, n)
	for i := range sizes {
		sizes[i] = of(i)
	}
	slices.Sort(sizes)
	if size := sizes[n/2]; size < 0.75*usualSize || size > 1.35*usualSize {
		return size
	}
	return usualSize
}

// wordSpace is how wide, in sizes, the space between two words of a line can be.
func wordSpace(before, after string) float64 {
	if isNumber(before) && isNumber(after) {
		return 0.5
	}
	return 0.9
}

// walledOff reports whether an upright rule is between two words.
func walledOff(rules []Box, left, right, base float64) bool {
	return slices.ContainsFunc(rules, func(r Box) bool {
		x := (r.X0 + r.X1) / 2
		return r.height() > r.width() && x > left && x < right && r.Y0 < base && r.Y1 > base
	})
}

// withoutRules returns a word without the rules of a table beside it: upright ones that were taken for signs, and level ones in its box.
func withoutRules(w Word, rules []Box) Word {
	const walls = "|[]!"
	for _, r := range rules {
		x, y := (r.X0+r.X1)/2, (r.Y0+r.Y1)/2
		switch high := w.Box.height(); {
		case r.height() > r.width():
			if near := 0.1 * high; x >= w.Box.X0-near && x <= w.Box.X1+near && r.Y0 <= w.Box.Y1 && r.Y1 >= w.Box.Y0 {
				w.Text = strings.Trim(w.Text, walls)
			}
		case overlap(r, w.Box) < 0.8*w.Box.width():
		case y > w.Box.Y0 && y < w.Box.Y0+high/3:
			w.Box.Y0 = r.Y1
		case y < w.Box.Y1 && y > w.Box.Y1-high/3:
			w.Box.Y1 = r.Y0
		}
	}
	return w
}

// inkOf returns how far the ink of a word reaches above its baseline and below it, in sizes of its type; nothing for dashes and dots.
func inkOf(text string) (up, down float64) {
	const small, tall, below, wide = 0.52, 0.72, 0.21, 0.85
	for _, r := range text {
		switch {
		case isWide(r):
			up, down = max(up, wide), max(down, 0.1)
		case unicode.IsLower(r) && !strings.ContainsRune("bdfhijklßtäöüéèáàíóúâêîôûñ", r):
			up = max(up, small)
		case unicode.IsLetter(r) || unicode.IsDigit(r), strings.ContainsRune("()[]{}|/%&$€£§!?", r):
			up = max(up, tall)
		}
		switch {
		case strings.ContainsRune("gjpqyç()[]{}|§$", r):
			down = max(down, below)
		case r == ',' || r == ';':
			down = max(down, below/2)
		}
	}
	if up == 0 {
		return 0, 0
	}
	return up, down
}
