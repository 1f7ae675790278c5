package office

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pageEdges collects what is printed at the top and the bottom of the pages, each text once: a letterhead has the sender's address and account there.
// Numbers of pages are left out.
type pageEdges []string

// take adds a paragraph's text. It counts the pages if it has such a field and few other words ("Page 1 of 3").
func (e *pageEdges) take(text string, hasNumber bool) {
	const words, letters = 4, 14
	text = strings.Join(strings.Fields(text), " ")
	counts := hasNumber && strings.Count(text, " ") < words && utf8.RuneCountInString(text) <= letters
	if strings.ContainsFunc(text, unicode.IsLetter) && !counts && !slices.Contains(*e, text) {
		*e = append(*e, text)
	}
}

func (e *pageEdges) write(b *blocks) {
	if len(*e) > 0 {
		b.add("*At the edge of the pages:* " + escape(strings.Join(*e, " · ")))
	}
}

// edges adds the headers and footers of the sections.
func (d *docx) edges(body *node, b *blocks) {
	var found pageEdges
	for _, s := range body.all("sectPr") {
		for _, k := range s.kids {
			r, ok := d.rels[k.attr("id")]
			if k.name != "headerReference" && k.name != "footerReference" || !ok || r.external {
				continue
			}
			for _, p := range d.a.optional(r.target).all("p") {
				number := slices.ContainsFunc(p.all("instrText"), func(f *node) bool { return strings.Contains(f.flat(), "PAGE") }) ||
					slices.ContainsFunc(p.all("fldSimple"), func(f *node) bool { return strings.Contains(f.attr("instr"), "PAGE") })
				found.take(lines(p), number)
			}
		}
	}
	found.write(b)
}

// edges adds the headers and footers of all kinds of pages that a text has.
func (o *odf) edges(styles *node, b *blocks) {
	var found pageEdges
	for _, page := range styles.all("master-page") {
		for _, k := range page.kids {
			if !strings.HasPrefix(k.name, "header") && !strings.HasPrefix(k.name, "footer") {
				continue
			}
			for _, p := range k.all("p") {
				found.take(o.lines(p), len(p.all("page-number")) > 0)
			}
		}
	}
	found.write(b)
}
