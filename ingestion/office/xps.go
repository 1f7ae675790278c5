package office

import (
	"errors"
	"math"
	"path"
	"strconv"
	"strings"
)

// sequence returns the name of the part that lists the documents of an XPS file (ECMA-388 §9.1.1), or "".
func (a *archive) sequence() string {
	for _, r := range a.relations("") {
		if r.kind == "fixedrepresentation" && a.has(r.target) {
			return r.target
		}
	}
	for name := range a.files { // the list of relationships is missing
		if strings.HasSuffix(name, ".fdseq") {
			return name
		}
	}
	return ""
}

// readXPS reads the text of printed pages. It is in the order of the file, a line for each baseline.
func readXPS(a *archive, doc *Document) error {
	doc.Kind = "xps"
	a.properties(doc, "docProps/core.xml")
	if doc.Title == "" {
		for _, r := range a.relations("") {
			if r.kind == "core-properties" {
				a.properties(doc, r.target)
			}
		}
	}
	sequence := a.sequence()
	for _, d := range a.optional(sequence).all("DocumentReference") {
		document := reference(sequence, d.attr("Source"))
		for _, p := range a.optional(document).all("PageContent") {
			name := reference(document, p.attr("Source"))
			number := len(doc.Parts) + 1
			if number > maxPages {
				doc.warn("the document has more than %d pages; the rest is not shown", maxPages)
				return nil
			}
			if !a.has(name) {
				doc.Damaged = true
				doc.warn("page %d is missing from the file", number)
			}
			page := a.optional(name)
			var lines fixedLines
			lines.glyphs(page, 0)
			doc.Parts = append(doc.Parts, Part{Label: "Page " + strconv.Itoa(number), text: lines.markdown()})
		}
	}
	if len(doc.Parts) == 0 {
		return errors.New("the file is damaged: the lists of its pages are missing or empty")
	}
	return nil
}

// reference resolves a reference from a part to another.
func reference(from, to string) string {
	if strings.HasPrefix(to, "/") {
		return strings.TrimPrefix(to, "/")
	}
	return path.Join(path.Dir(from), to)
}

// fixedLines are the lines of a page.
type fixedLines struct {
	lines []string
	x, y  float64 // where the last run ended, and its baseline
	size  float64
	gaps  []bool // whether there is a gap above a line
}

// glyphs adds the runs of text below an element (ECMA-388 §12.1).
func (f *fixedLines) glyphs(n *node, depth int) {
	if depth > 100 {
		return
	}
	for _, k := range n.kids {
		if k.name == "Glyphs" {
			f.add(k)
			continue
		}
		f.glyphs(k, depth+1)
	}
}

func (f *fixedLines) add(n *node) {
	text := strings.TrimPrefix(n.attr("UnicodeString"), "{}") // an escape for text that begins with a brace
	if strings.TrimSpace(text) == "" {
		return
	}
	x, y, size := number(n.attr("OriginX")), number(n.attr("OriginY")), number(n.attr("FontRenderingEmSize"))
	sameLine := len(f.lines) > 0 && math.Abs(y-f.y) < max(size, f.size)*0.4 && x >= f.x-size
	switch {
	case !sameLine:
		f.gaps = append(f.gaps, math.Abs(y-f.y) > 1.7*max(size, f.size))
		f.lines = append(f.lines, text)
	case x-f.x > size*0.15 && !strings.HasSuffix(f.lines[len(f.lines)-1], " ") && !strings.HasPrefix(text, " "):
		f.lines[len(f.lines)-1] += " " + text
	default:
		f.lines[len(f.lines)-1] += text
	}
	f.x, f.y, f.size = x+advance(n.attr("Indices"), text, size), y, size
}

// number reads a coordinate.
func number(s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// advance returns how wide a run is: the advances in hundredths of the type size where the file has them (ECMA-388 §12.1.3), else half of
// the size for each character.
func advance(indices, text string, size float64) float64 {
	var wide float64
	for i, entry := range strings.Split(indices, ";") {
		fields := strings.Split(entry, ",")
		if i < len([]rune(text)) && len(fields) > 1 && number(fields[1]) > 0 {
			wide += number(fields[1]) / 100 * size
			continue
		}
		if i < len([]rune(text)) {
			wide += size / 2
		}
	}
	return max(wide, float64(len([]rune(text)))*size*0.2)
}

// markdown returns the lines; a wide gap ends a paragraph.
func (f *fixedLines) markdown() string {
	var b strings.Builder
	for i, line := range f.lines {
		switch {
		case i == 0:
		case f.gaps[i]:
			b.WriteString("\n\n")
		default:
			b.WriteString("\n")
		}
		b.WriteString(paragraph(escape(strings.TrimSpace(line))))
	}
	return b.String()
}
