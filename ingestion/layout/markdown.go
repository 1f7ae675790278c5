package layout

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
)

// Text returns the text of page n, counted from 1, as plain text and as Markdown. It takes time in proportion to the page's lines;
// of rules, it reads a limited number.
func (p Profile) Text(page Page, n int) (plain, markdown string) {
	read := p.TextAfter(page, n, func() *Tail { return nil })
	return read.Plain, read.Markdown
}

// Read is the text of a page.
type Read struct {
	Plain, Markdown string
	Tail            *Tail         // the table that ends the page; nil if none does
	Doubts          []doubt.Doubt // what may be wrong with it
	Complex         bool          // the page has columns or tables: its order is a conclusion, and not the order of the lines
	Edges           []string      // what is printed at the page's edge, apart from its text, which does not have it; without its number, and without what an earlier page shows
	Formulas        []Box         // what [FormulaMark] means in Markdown: formulas that only a picture shows; their text is below
}

// TextAfter is Text for a page that may begin with the rest of a table. It calls before for the table that ended the page before,
// if this page begins with one.
func (p Profile) TextAfter(page Page, n int, before func() *Tail) Read {
	upright, stamps := p.withoutStamps(withoutOverhang(clean(page.Lines)))
	lines, heads := p.withoutHeads(upright, page.Height, n)
	lines, edges := p.withoutEdges(withoutLineNumbers(lines), page.Height, n)
	lines, page.Rules = withCombs(lines, page.Rules)
	lines, drawn := withFormulas(lines, page.Rules)
	if page.Turned {
		drawn = nil
	}
	lines, page = mirrored(withInitials(link(withInline(lines, page.Rules), page.Links)), page)
	w := writer{profile: p, page: n, compounds: compoundsOf(lines), links: page.Links, drawn: drawn}
	w.headed = slices.ContainsFunc(page.Tags, func(t Tag) bool { return t.Role == RoleHeading })
	items, structure := structured(lines, page.Tags)
	complexity := false
	till := false
	if !structure {
		items, till = receipt(lines, page.Width, page.Rules)
	}
	if !structure && !till {
		items, complexity = found(lines, page.Rules)
		w.doubt(doubt.Order, disorder(items))
	}
	all, from := blocks(items), (*Tail)(nil)
	if len(all) > 0 && all[0].table != nil {
		if from = before(); !all[0].table.continues(from, page.Height) {
			from = nil
		}
	}
	for i, b := range all {
		if b.table != nil && !structure {
			b.table.check()
		}
		if b.table != nil && b.table.doubt != "" {
			w.doubt(doubt.Table, b.table.doubt)
		}
		if i == 0 && from != nil {
			w.writeContinued(*b.table, from)
			continue
		}
		w.add(b)
	}
	w.addStamps(stamps)
	return Read{
		Plain: w.plain.String(), Markdown: w.marked.String(), Tail: w.tail(all, page.Height, from),
		Doubts: w.doubts, Complex: complexity || rises(items), Formulas: w.formulas, Edges: p.shown(slices.Concat(heads, edges), n),
	}
}

// rises reports whether something is read after what is below it, as the second of two columns is.
func rises(items []item) bool {
	for i := 1; i < len(items); i++ {
		if items[i].box.Y1 <= items[i-1].box.Y0 {
			return true
		}
	}
	return false
}

// found finds the tables of a page by the way they are set, and returns them with the other lines, in the order in which they are read.
// The page is complex if it has tables or columns; listings are read as they are written.
func found(lines []Line, rules []Box) (items []item, complexity bool) {
	forms, lines, rules := takeForms(lines, rules)
	listings, lines := framedListings(lines, rules)
	counted, lines := numberedListings(lines)
	listings, lines = append(listings, counted...), withEntries(lines)
	tables, rest := ruledTables(lines, rules)
	text := uprightBox(rest)
	var turned []item // stamps beside the text
	rest = slices.DeleteFunc(slices.Clone(rest), func(l Line) bool {
		beside := l.Turns != 0 && overlap(l.Box, text) <= 0
		if beside {
			turned = append(turned, itemOf(l))
		}
		return beside
	})
	items, complexity = arranged(rest, slices.Concat(itemsFor(tables), listings, forms), levelRules(rules), 0)
	at := len(items)
	if at > 0 && items[at-1].table != nil { // which may continue on the next page
		at--
	}
	return slices.Insert(items, at, turned...), complexity
}

// arranged finds the tables without upright rules among lines, and returns them with the other lines and items, in the order in which they are read.
func arranged(lines []Line, all []item, level []Box, depth int) (items []item, complexity bool) {
	if depth < deepest {
		var parts [][][]Line
		parts, lines = written(lines, all, level)
		for _, columns := range parts {
			all = append(all, group(columns, level, depth+1))
		}
	}
	spaced, rest := spacedTables(lines, level)
	for i := range spaced {
		raiseSpans(&spaced[i], level)
	}
	all = slices.Concat(all, itemsOn(rest), itemsFor(spaced))
	parts := regions(all, 0)
	complexity = len(parts) > 1 || slices.ContainsFunc(all, func(it item) bool { return it.table != nil && it.table.listing == nil })
	for _, part := range parts {
		var own []item
		var others []Line
		for _, it := range part {
			if it.table != nil {
				own = append(own, it)
			} else {
				others = append(others, it.line)
			}
		}
		aligned, others := alignedTables(others, level)
		complexity = complexity || len(aligned) > 0
		for i := range aligned {
			raiseSpans(&aligned[i], level)
			checkWritten(&aligned[i], level)
		}
		items = append(items, inOrder(slices.Concat(own, itemsFor(aligned), itemsOn(others)), 0)...)
	}
	return ungrouped(asInFile(items)), complexity
}

func itemsFor(tables []table) []item {
	out := make([]item, len(tables))
	for i := range tables {
		out[i] = item{box: tables[i].box, table: &tables[i]}
	}
	return out
}

// writer collects the blocks of a page.
type writer struct {
	profile       Profile
	page          int
	compounds     map[string]bool
	links         []Link
	headed        bool // the page's own structure has headings
	plain, marked strings.Builder
	kind          byte      // of the last block: '-' or '1' for items, 0 for others
	lefts         []float64 // of the lists that are open, the outermost first
	doubts        []doubt.Doubt

	drawn, formulas []Box // formulas that only a picture shows: all, and those whose place is written
}

// doubt records what may be wrong with the page's text, such as w.doubt(doubt.Order, "lines overlap"). A page keeps a few.
func (w *writer) doubt(code, words string) { w.doubts = doubt.Add(w.doubts, code, words) }

func (w *writer) add(b block) {
	if b.table != nil {
		plain, marked := b.table.markdown(w)
		w.put(plain, marked, 0)
		return
	}
	w.mark(b.lines[0])
	if b.lines[0].latex != "" {
		w.put(b.lines[0].latex, "$$"+b.lines[0].latex+"$$", 0)
		return
	}
	if b.tag.Role == roleLines && !b.code {
		plain, marked := w.kept(b.lines)
		w.put(plain, marked, 0)
		return
	}
	if b.code {
		text := listingText(b.lines)
		w.put(text, fenced(text), 0)
		return
	}
	signed := joinLines(b.lines, w.compounds)
	text := unsigned(signed)
	if level := w.profile.level(text, b, w.page); level > 0 && !w.isParagraph(text, b) {
		w.put(text, strings.Repeat("#", level)+" "+w.markdown(signed, true), 0)
		return
	}
	switch {
	case b.item:
		n, _ := ordinalOf(text)
		w.putItem(b, text, strconv.Itoa(n)+". "+w.markdown(withoutMark(signed, ordinal), false), '1')
	case b.bulleted:
		w.putItem(b, text, "- "+w.markdown(withoutMark(signed, b.mark()), false), '-')
	case brokenByHand(b.lines):
		plain, marked := w.kept(b.lines)
		if b.bold && len(text) <= maxBold {
			marked = "**" + strings.ReplaceAll(marked, "\n", "**\n**") + "**"
		}
		w.put(plain, marked, 0)
	case b.bold && len(text) <= maxBold:
		w.put(text, "**"+w.markdown(signed, false)+"**", 0)
	default:
		w.put(text, escapeOrdinal(w.markdown(signed, false)), 0)
	}
}

const maxBold = 800 // bytes; a longer text in bold type has no emphasis

// isParagraph reports whether a block in large type is none the less a paragraph: its document says so where it has headings too, or it is
// tagged as one and is a sentence. Programs without styles tag everything as paragraphs.
func (w *writer) isParagraph(text string, b block) bool {
	return b.tag.Role == RoleParagraph && (w.headed || sentence(text))
}

// sentence reports whether a text is set like a sentence, as no heading is.
func sentence(text string) bool {
	return strings.HasSuffix(text, ".") && strings.Count(text, " ") >= 4 && strings.ContainsFunc(text, unicode.IsLower)
}

// addStamps writes stamps below the text, each once.
func (w *writer) addStamps(stamps []Line) {
	var seen []string
	for _, l := range stamps {
		if !slices.Contains(seen, l.Text) {
			seen = append(seen, l.Text)
			w.put(l.Text, escapeOrdinal(w.markdown(l.signed(), false)), 0)
		}
	}
}

// mark marks the place of the formula that a line begins.
func (w *writer) mark(l Line) {
	if l.drawn == 0 || l.drawn > len(w.drawn) || slices.Contains(w.formulas, w.drawn[l.drawn-1]) {
		return
	}
	w.formulas = append(w.formulas, w.drawn[l.drawn-1])
	if w.marked.Len() > 0 {
		w.marked.WriteString("\n\n")
	}
	w.marked.WriteRune(FormulaMark)
	w.kind, w.lefts = 0, nil
}

// put adds a block. Items of a list stand under one another, with empty lines between everything else.
func (w *writer) put(plain, marked string, kind byte) {
	if w.plain.Len() > 0 {
		w.plain.WriteString("\n\n")
	}
	if w.marked.Len() > 0 {
		w.marked.WriteString("\n")
		if kind == 0 || kind != w.kind && (w.kind == 0 || len(w.lefts) == 1) {
			w.marked.WriteString("\n")
		}
	}
	w.plain.WriteString(plain)
	w.marked.WriteString(marked)
	if w.kind = kind; kind == 0 {
		w.lefts = nil
	}
}

// putItem adds an item of a list, deeper than the last one when it stands further right.
func (w *writer) putItem(b block, plain, marked string, kind byte) {
	line := b.lines[0]
	near := line.Size * 0.7
	for len(w.lefts) > 1 && line.Box.X0 < w.lefts[len(w.lefts)-1]-near {
		w.lefts = w.lefts[:len(w.lefts)-1]
	}
	switch n := len(w.lefts); {
	case n == 0:
		w.lefts = []float64{line.Box.X0}
	case line.Box.X0 > w.lefts[n-1]+near && line.Box.X0 < w.lefts[n-1]+6*line.Size:
		w.lefts = append(w.lefts, line.Box.X0)
	case math.Abs(line.Box.X0-w.lefts[n-1]) > near:
		w.lefts[n-1] = line.Box.X0
	}
	w.put(plain, strings.Repeat("    ", len(w.lefts)-1)+marked, kind)
}
