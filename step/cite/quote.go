package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// quotation is a part of the answer in quotation marks, or a block quote.
type quotation struct {
	span          // with its marks; a mark of ours goes behind it
	inner  string // without them
	parted bool   // a block quote: our mark goes behind its reference
}

// quotations looks up each quotation on the pages of its reference: the next one in the same paragraph, list item or row, or else the
// one before. A quotation at the end of a paragraph may have its reference at the beginning of the next.
func (w *writer) quotations() {
	blocks := blocksOf(w.src)
	for i, b := range blocks {
		refs := w.refsIn(b)
		for _, q := range w.quotesIn(b, refs) {
			ref := nextRef(refs, q)
			if ref == nil && i+1 < len(blocks) {
				if next := w.refsIn(blocks[i+1]); len(next) > 0 && strings.Trim(w.src[blocks[i+1].from:next[0].from], " >\t—–-(") == "" {
					ref = &next[0]
				}
			}
			w.lookUp(q, ref)
		}
	}
}

func (w *writer) refsIn(b span) []reference {
	var list []reference
	for _, r := range w.refs {
		if r.from >= b.from && r.to <= b.to {
			list = append(list, r)
		}
	}
	return list
}

func nextRef(refs []reference, q quotation) *reference {
	for i := range refs {
		if refs[i].from >= q.to {
			return &refs[i]
		}
	}
	for i := len(refs) - 1; i >= 0; i-- {
		if refs[i].to <= q.from {
			return &refs[i]
		}
	}
	return nil
}

// shortQuote is the number of words up to which a quotation without a reference is left alone: a term or a title.
const shortQuote = 3

// lookUp checks one quotation, and marks it if it is not on its page.
func (w *writer) lookUp(q quotation, ref *reference) {
	place := q.to
	if ref == nil {
		if inside := w.refsIn(q.span); len(inside) > 0 {
			ref, q.inner = &inside[0], w.without(q.span, inside)
		}
	}
	if ref == nil {
		if len(strings.Fields(q.inner)) > shortQuote || ideographs(q.inner) > 2*shortQuote {
			w.res.Quotes++
			w.mark(place, q.inner, MarkNoPage, "no page reference follows")
		}
		return
	}
	if !slices.ContainsFunc(ref.cites, func(c cited) bool { return len(c.pages) > 0 }) {
		return // the reference has a mark already
	}
	w.res.Quotes++
	if q.parted && ref.from >= q.to {
		place = ref.to
	}
	texts, without := 0, 0
	for _, c := range ref.cites {
		var pages []letters
		for _, n := range c.pages {
			text, found := c.doc.Text(n)
			if !found || strings.TrimSpace(text) == "" {
				without++
				continue
			}
			texts++
			pages = append(pages, lettersOf(plainPage(text)))
		}
		if onPages(q.inner, pages) {
			return
		}
	}
	if texts == 0 {
		w.mark(place, q.inner, MarkNotChecked, "there is no text of the page")
		return
	}
	reason := "these words are not on the page"
	if without > 0 {
		reason += ", as far as there is text"
	}
	w.mark(place, q.inner, MarkNoQuote, reason)
}

// without returns the words of a quotation around its references.
func (w *writer) without(s span, refs []reference) string {
	var b strings.Builder
	at := s.from
	for _, r := range refs {
		b.WriteString(w.src[at:r.from])
		at = r.to
	}
	return unquoteLines(b.String() + w.src[at:s.to])
}

// mark puts a mark behind a quotation, or behind the reference that ends there.
func (w *writer) mark(at int, text, mark, reason string) {
	w.found(text, mark, reason)
	insert := " " + mark
	if at < len(w.src) && strings.IndexByte("[(:", w.src[at]) >= 0 {
		insert += " "
	}
	w.edits = append(w.edits, edit{span{at, at}, insert})
}

var blockStart = regexp.MustCompile(`^[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\|)`)

// blocksOf divides an answer into paragraphs, list items, table rows and block quotes.
func blocksOf(src string) []span {
	var list []span
	at, start, quoted := 0, -1, false
	end := func(to int) {
		if start >= 0 {
			list = append(list, span{start, to})
		}
		start = -1
	}
	for line := range strings.SplitAfterSeq(src, "\n") {
		inQuote := strings.HasPrefix(strings.TrimLeft(line, " "), ">")
		bare := strings.TrimSpace(strings.TrimLeft(line, "> \t"))
		switch {
		case bare == "":
			end(at)
		case start >= 0 && (inQuote != quoted || blockStart.MatchString(strings.TrimLeft(line, "> "))):
			end(at)
			start = at
		case start < 0:
			start = at
		}
		quoted = inQuote
		at += len(line)
	}
	end(at)
	return list
}

// marksOf are pairs of quotation marks. A straight one closes itself.
var marksOf = map[rune]string{'“': "”“", '„': "“”‟", '«': "»", '»': "«", '「': "」", '『': "』", '"': `"`, '＂': "＂", '‟': "”"}

// quotesIn returns the quotations of a block: those in quotation marks, or a block quote without any.
func (w *writer) quotesIn(b span, refs []reference) []quotation {
	var list []quotation
	outside := slices.Clone(w.skip)
	for _, r := range refs {
		outside = append(outside, r.span)
	}
	text := w.src[b.from:b.to]
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		closing, opens := marksOf[r]
		if at := b.from + i; !opens || touches(outside, at, at+size) || escaped(w.src, at) || r == '"' && !opensStraight(text, i) {
			i += size
			continue
		}
		end, width := closingMark(text, i+size, r, closing)
		if end < 0 && r == '"' {
			i += size
			continue
		} else if end < 0 { // never closed: as far as its reference
			end = len(text)
			for _, ref := range refs {
				if ref.from >= b.from+i {
					end = min(end, ref.from-b.from)
				}
			}
			end = max(len(strings.TrimRight(text[:end], " \n")), i+size)
		}
		list = append(list, quotation{span: span{b.from + i, b.from + end + width}, inner: unquoteLines(text[i+size : end])})
		i = end + width
	}
	if len(list) > 0 || !strings.HasPrefix(strings.TrimLeft(text, " "), ">") || strings.HasPrefix(strings.TrimLeft(text, "> "), "[!") {
		return list
	}
	end := len(text)
	if len(refs) > 0 {
		end = refs[0].from - b.from
	}
	if inner := strings.Trim(unquoteLines(text[:end]), " —–-("); inner != "" && !touches(w.skip, b.from, b.from+end) {
		list = append(list, quotation{span: span{b.from, b.from + len(strings.TrimRight(text[:end], " \n"))}, inner: inner, parted: true})
	}
	return list
}

// opensStraight reports whether a straight mark can open a quotation: something like a blank before it, and none after it.
func opensStraight(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+1:])
	return (at == 0 || strings.ContainsRune(" \t\n([{—–-/*_>:|“„«", before)) && !strings.ContainsRune(" \t\n", after)
}

// closingMark finds the end of a quotation. Nested marks of the same kind are counted.
func closingMark(text string, from int, open rune, closing string) (at, width int) {
	depth := 0
	for i := from; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case strings.ContainsRune(closing, r) && !(r == '"' && i+1 < len(text) && isWordByte(text[i+1]) && i > 0 && !isWordByte(text[i-1])):
			if depth == 0 {
				return i, size
			}
			depth--
		case r == open:
			depth++
		}
		i += size
	}
	return -1, 0
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// unquoteLines removes the > of block quotes.
func unquoteLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimSpace(strings.TrimLeft(line, "> \t")))
	}
	return strings.Join(lines, "\n")
}
