// Package cite turns the page references in a model's answer into links, and checks them: the page must exist, the model must have been
// shown it, and, if wanted, the quotations before a reference must be on its page. What fails gets a mark that readers see. Code, links
// that are no page references, and everything else stay byte for byte.
//
// A reference is a pair of brackets with the document's name and its pages: [Workbook, p. 131], [Workbook, pp. 12–14],
// [Workbook, p. iv; Reader, p. #9]. A page is what is printed on it. Unlabelled pages, and pages after #, are counted from 1.
package cite

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The marks.
const (
	MarkNotFound   = "[page not found]"
	MarkNotShown   = "[page not shown]"
	MarkNoQuote    = "[quotation not found]"
	MarkNotChecked = "[quotation not checked]"
	MarkNoPage     = "[quotation without page]"
)

// Document is something with pages that an answer may refer to.
type Document struct {
	ID    string   // differs for each document
	Name  string   // for readers
	Names []string // what answers may call it, with and without folders and extensions
	Pages []Page

	Shown func(n int) bool                            // whether the model was shown a page; nil: none
	Text  func(n int) (text string, found bool)       // of a page, as Markdown
	Link  func(n int, shown string) (markdown string) // to a page, with the text to show
}

// Page is a page of a document.
type Page struct {
	N     int    // from 1
	Label string // printed on it; "" if there is none
}

// Shelf finds documents.
type Shelf interface {
	// Shown returns the documents of which the model was shown at least one page.
	Shown() []*Document
	// Find returns a document of the vault by name, or nil.
	Find(name string) *Document
	// Linked returns the document of a link's target. isFile reports whether the target is a file at all.
	Linked(target string) (d *Document, isFile bool)
}

// Finding is a reference or a quotation that got a mark.
type Finding struct {
	Text   string `json:"text"` // as the model wrote it
	Mark   string `json:"mark"` // in the answer, such as [page not shown]
	Reason string `json:"reason"`
}

// String describes the finding.
func (f Finding) String() string { return f.Text + " " + f.Mark + ": " + f.Reason }

// Result is an answer with links and marks.
type Result struct {
	Text     string
	Pages    int // references to pages that were checked
	Quotes   int // quotations that were checked
	Findings []Finding
}

// Answer returns an answer with links for its page references. quotes reports whether quotations are looked up, too.
func Answer(text string, shelf Shelf, quotes bool) Result {
	w := &writer{shelf: shelf, src: text, skip: codeOf(text)}
	w.references()
	w.name = len(w.cited) > 1
	if quotes {
		w.quotations()
	}
	w.res.Text = w.write()
	return w.res
}

// writer collects the changes of one answer.
type writer struct {
	shelf Shelf
	src   string
	skip  []span
	refs  []reference
	edits []edit
	cited map[string]bool // documents by ID
	name  bool            // references name their document, because there are several
	res   Result
}

// edit replaces a part of the answer, or inserts a mark.
type edit struct {
	span
	text string
}

// reference is one pair of brackets, or a link to a page.
type reference struct {
	span
	cites []cited
	link  bool // it is a link that the model wrote
}

// cited is one page, or a range of pages, of a document.
type cited struct {
	doc    *Document
	pages  []int  // all of it that exist
	said   string // the pages as written: "12–14"
	plural bool
	mark   string
	reason string

	relative bool // a link copied from the document's own note: only there it leads to the file beside it
}

func (w *writer) references() {
	w.cited = map[string]bool{}
	for _, found := range find(w.src, w.skip) {
		ref := reference{span: found.span, link: found.link != nil}
		if found.link != nil {
			c, ours := w.linked(*found.link)
			if !ours {
				continue
			}
			ref.cites, ref.link = []cited{c}, !c.relative
		} else if ref.cites = w.resolve(found.parts); ref.cites == nil {
			continue
		}
		for _, c := range ref.cites {
			w.res.Pages++
			if c.doc != nil && len(c.pages) > 0 {
				w.cited[c.doc.ID] = true
			}
			if c.mark != "" {
				w.found(w.src[ref.from:ref.to], c.mark, c.reason)
			}
		}
		w.refs = append(w.refs, ref)
	}
}

func (w *writer) found(text, mark, reason string) {
	w.res.Findings = append(w.res.Findings, Finding{Text: strings.Join(strings.Fields(text), " "), Mark: mark, Reason: reason})
}

// resolve finds the pages of a reference; nil if these are no references after all.
func (w *writer) resolve(parts []part) []cited {
	var list []cited
	for _, p := range parts {
		doc, why := w.document(p)
		for _, said := range p.pages {
			c := cited{doc: doc, said: said, plural: plural(said)}
			switch {
			case doc == nil && !numbered(said):
				return nil
			case doc == nil:
				c.mark, c.reason = MarkNotFound, why
			default:
				if c.pages, c.reason = pagesOf(doc, said); c.reason != "" {
					if !numbered(said) {
						return nil
					}
					c.mark = MarkNotFound
				} else if missing := notShown(doc, c.pages); len(missing) > 0 {
					c.mark, c.reason = MarkNotShown, "the model was not shown "+pageWords(doc, missing)+" of "+doc.Name
				}
			}
			list = append(list, c)
		}
	}
	return list
}

// document finds the document that a reference means.
func (w *writer) document(p part) (doc *Document, why string) {
	shown := w.shelf.Shown()
	var fits []*Document
	for _, d := range shown {
		if p.name == "" || d.called(p.name) {
			fits = append(fits, d)
		}
	}
	if len(fits) > 1 { // one of them may be the only one with such a page
		with := slices.DeleteFunc(slices.Clone(fits), func(d *Document) bool {
			return !slices.ContainsFunc(p.pages, func(said string) bool {
				pages, fault := pagesOf(d, said)
				return fault == "" && len(notShown(d, pages)) == 0
			})
		})
		if len(with) == 1 {
			fits = with
		}
	}
	switch {
	case len(fits) == 1:
		return fits[0], ""
	case len(fits) > 1:
		var names []string
		for _, d := range fits {
			names = append(names, d.ID)
		}
		return nil, "several documents fit: " + strings.Join(names, ", ")
	case p.name == "":
		return nil, "the model was shown no document, and the reference names none"
	}
	if doc = w.shelf.Find(p.name); doc != nil {
		return doc, ""
	}
	return nil, "there is no document " + p.name
}

// linked checks a link to a page that the model wrote. ours is false for links to other things.
func (w *writer) linked(l pageLink) (c cited, ours bool) {
	doc, isFile := w.shelf.Linked(l.target)
	beside, relative := strings.CutPrefix(l.target, "./")
	if relative = relative && doc == nil && !isFile; relative {
		doc, _ = w.document(part{name: beside})
	}
	switch {
	case doc == nil && (isFile || l.block):
		return c, false // a block of a note
	case doc == nil:
		return cited{said: strconv.Itoa(l.page), mark: MarkNotFound, reason: "there is no document " + l.target}, true
	}
	c = cited{doc: doc, said: "#" + strconv.Itoa(l.page), relative: relative}
	if c.pages, c.reason = pagesOf(doc, c.said); c.reason != "" {
		c.mark = MarkNotFound
	} else if missing := notShown(doc, c.pages); len(missing) > 0 {
		c.mark, c.reason = MarkNotShown, "the model was not shown "+pageWords(doc, missing)+" of "+doc.Name
	}
	return c, true
}

// called reports whether an answer means the document by a name: one of its names, or the end of its path.
func (d *Document) called(name string) bool {
	name = plainName(name)
	return name != "" && slices.ContainsFunc(d.Names, func(own string) bool {
		own = plainName(own)
		return own == name || strings.HasSuffix(own, "/"+name)
	})
}

// plainName compares names without case, extension and repeated blanks.
func plainName(name string) string {
	name = fold(strings.Join(strings.Fields(strings.Trim(name, `"“”„'*_ `)), " "))
	for _, ext := range []string{".pdf", ".md"} {
		name = strings.TrimSuffix(name, ext)
	}
	return strings.Trim(name, "/")
}

// pagesOf returns the pages that an expression such as 12–14, iv or #9 means, or what is wrong with it.
func pagesOf(d *Document, said string) (pages []int, fault string) {
	n, fault := d.page(said)
	if fault == "" {
		return []int{n}, ""
	}
	from, to, ranged := cutRange(said)
	if !ranged {
		return nil, fault
	}
	first, fault := d.page(from)
	if fault != "" {
		return nil, fault
	}
	last, fault := d.page(to)
	switch {
	case fault != "":
		return nil, fault
	case last < first:
		return nil, "the range " + said + " runs backwards"
	}
	for _, p := range d.Pages {
		if p.N >= first && p.N <= last {
			pages = append(pages, p.N)
		}
	}
	if len(pages) != last-first+1 {
		return nil, d.Name + " does not have all pages of " + said
	}
	return pages, ""
}

// page finds a page by what is printed on it. A page without a label is known by its number; #9 is the ninth page.
func (d *Document) page(said string) (n int, fault string) {
	if counted, is := strings.CutPrefix(said, "#"); is {
		if n, err := strconv.Atoi(counted); err == nil && d.has(n) {
			return n, ""
		}
		return 0, d.Name + " has no page " + said
	}
	var fits []int
	for _, p := range d.Pages {
		if p.Label == said || p.Label == "" && strconv.Itoa(p.N) == said {
			fits = append(fits, p.N)
		}
	}
	if len(fits) == 0 {
		for _, p := range d.Pages {
			if strings.EqualFold(p.Label, said) {
				fits = append(fits, p.N)
			}
		}
	}
	if len(fits) > 1 && d.Shown != nil {
		if seen := slices.DeleteFunc(slices.Clone(fits), func(n int) bool { return !d.Shown(n) }); len(seen) == 1 {
			fits = seen
		}
	}
	switch len(fits) {
	case 0:
		return 0, d.Name + " has no page " + said
	case 1:
		return fits[0], ""
	}
	return 0, d.Name + " has several pages " + said + ": the model should count them, such as #" + strconv.Itoa(fits[0])
}

func (d *Document) has(n int) bool {
	return slices.ContainsFunc(d.Pages, func(p Page) bool { return p.N == n })
}

// maxLabel is the longest label of a page that is written into links, in characters.
const maxLabel = 12

// label returns how readers know a page: by what is printed on it, if that is harmless, otherwise by its number.
func (d *Document) label(n int) string {
	for _, p := range d.Pages {
		if p.N == n && utf8.RuneCountInString(p.Label) <= maxLabel && harmless().MatchString(p.Label) {
			return p.Label
		}
	}
	return strconv.Itoa(n)
}

func notShown(d *Document, pages []int) []int {
	return slices.DeleteFunc(slices.Clone(pages), func(n int) bool { return d.Shown != nil && d.Shown(n) })
}

// pageWords names pages: "p. 3", "pp. 3, 4 and 9 more".
func pageWords(d *Document, pages []int) string {
	const most = 5
	var labels []string
	for _, n := range pages[:min(most, len(pages))] {
		labels = append(labels, d.label(n))
	}
	words := "p. "
	if len(pages) > 1 {
		words = "pp. "
	}
	words += strings.Join(labels, ", ")
	if more := len(pages) - most; more > 0 {
		words += " and " + strconv.Itoa(more) + " more"
	}
	return words
}

// render returns a reference as links with marks.
func (w *writer) render(r reference) string {
	if r.link {
		return w.src[r.from:r.to] + marked(r.cites[0].mark)
	}
	gone := !slices.ContainsFunc(r.cites, func(c cited) bool { return c.mark != MarkNotFound })
	if gone {
		return w.src[r.from:r.to] + marked(MarkNotFound)
	}
	var b strings.Builder
	for i, c := range r.cites {
		if i > 0 {
			b.WriteString("; ")
		}
		words := "p. "
		if c.plural {
			words = "pp. "
		}
		if c.mark == MarkNotFound {
			b.WriteString(words + c.said + marked(MarkNotFound))
			continue
		}
		words += c.doc.label(c.pages[0])
		if last := len(c.pages) - 1; last > 0 {
			words += "–" + c.doc.label(c.pages[last])
		}
		if w.name {
			words = harmlessName(c.doc.Name) + words
		}
		link := c.doc.Link(c.pages[0], words)
		if inTable(w.src, r.from) {
			link = strings.ReplaceAll(link, "|", `\|`)
		}
		b.WriteString(link + marked(c.mark))
	}
	return b.String()
}

func marked(mark string) string {
	if mark == "" {
		return ""
	}
	return " " + mark
}

// write makes all changes. A link never joins what is beside it: not to ! as an embed, nor to brackets as a link's label or address.
func (w *writer) write() string {
	for _, r := range w.refs {
		text := w.render(r)
		if text == w.src[r.from:r.to] {
			continue
		}
		if r.from > 0 && w.src[r.from-1] == '!' && !r.link {
			text = " " + text
		}
		if r.to < len(w.src) && strings.IndexByte("[(:", w.src[r.to]) >= 0 {
			text += " "
		}
		w.edits = append(w.edits, edit{r.span, text})
	}
	slices.SortStableFunc(w.edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, e := range w.edits {
		b.WriteString(w.src[at:e.from] + e.text)
		at = e.to
	}
	b.WriteString(w.src[at:])
	return b.String()
}
