package office

import (
	"strconv"
	"strings"
	"unicode"
)

// run is a piece of text in one style.
func (d *docx) run(r *node, s span, boxes *blocks, depth int) []span {
	pr := r.child("rPr")
	s.bold = s.bold || on(pr, "b")
	s.italic = s.italic || on(pr, "i")
	s.code = s.code || codeStyle(pr.child("rStyle").attr("val"))
	s.strike = s.strike || on(pr, "strike") || on(pr, "dstrike")
	if at := or(pr.child("vertAlign").attr("val"), d.scripts[pr.child("rStyle").attr("val")]); at != "" {
		s.script = scriptOf(at)
	}
	if on(pr, "vanish") {
		return nil
	}
	var list []span
	add := func(text string) {
		t := s
		t.text = text
		list = append(list, t)
	}
	for _, k := range r.kids {
		switch k.name {
		case "t":
			add(escape(withSigns(k.flat(), pr.child("rFonts").attr("ascii"))))
		case "tab", "ptab":
			add(" ")
		case "br", "cr":
			if k.attr("type") == "" || k.attr("type") == "textWrapping" {
				list = append(list, span{text: "\\\n", raw: true})
			}
		case "noBreakHyphen":
			add("-")
		case "sym":
			if c, err := strconv.ParseInt(k.attr("char"), 16, 32); err == nil && c >= 0x20 {
				sign := withSigns(string(rune(c)), k.attr("font"))
				if unicode.Is(unicode.Co, []rune(sign)[0]) {
					sign = "\uFFFD" // of a font that is not known
				}
				add(escape(sign))
			}
		case "fldChar":
			if answer := fieldAnswer(k.child("ffData")); answer != "" {
				add(escape(answer))
			}
		case "ruby":
			if word := k.child("rubyBase"); word != nil {
				list = append(list, d.spans(word, s, boxes, depth)...)
			}
			if above := k.child("rt"); above != nil {
				add(escape("(" + above.flat() + ")"))
			}
		case "footnoteReference", "endnoteReference":
			list = append(list, d.note(strings.TrimSuffix(k.name, "Reference")+k.attr("id"))...)
		case "drawing", "pict", "object":
			list = append(list, d.drawing(k, boxes, depth)...)
		case "AlternateContent":
			if c := choice(k); c != nil {
				list = append(list, d.drawing(c, boxes, depth)...)
			}
		}
	}
	return list
}

// fieldAnswer is what a form's field shows that has no text of its own: a box, ticked or not, or the chosen entry of a list.
func fieldAnswer(field *node) string {
	if box := field.child("checkBox"); box != nil {
		if on(box, "checked") || box.child("checked") == nil && on(box, "default") {
			return "☒"
		}
		return "☐"
	}
	list := field.child("ddList")
	if list == nil {
		return ""
	}
	chosen, _ := strconv.Atoi(or(list.child("result").attr("val"), list.child("default").attr("val"))) // the first one if nothing says
	for _, k := range list.kids {
		if k.name != "listEntry" {
			continue
		}
		if chosen == 0 {
			return k.attr("val")
		}
		chosen--
	}
	return ""
}

// codeStyle recognises the character styles that programs use for code.
func codeStyle(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "verbatim") || strings.Contains(name, "code") || strings.HasPrefix(name, "sourcetext") || name == "teletype"
}

// on reads a switch of run properties: present without a value means on.
func on(pr *node, name string) bool {
	k := pr.child(name)
	if k == nil {
		return false
	}
	v := k.attr("val")
	return v != "0" && v != "false" && v != "off" && v != "none"
}

func (d *docx) note(key string) []span {
	if d.notes[key] == nil {
		return nil
	}
	number := 0
	for i, k := range d.noteOrder {
		if k == key {
			number = i + 1
		}
	}
	if number == 0 {
		d.noteOrder = append(d.noteOrder, key)
		number = len(d.noteOrder)
	}
	return []span{{text: "[^" + strconv.Itoa(number) + "]", raw: true}}
}

// drawing is a picture, a text box, or both.
func (d *docx) drawing(n *node, boxes *blocks, depth int) []span {
	var list []span
	alt := ""
	if pr := n.first("docPr"); pr != nil {
		alt = pr.attr("descr")
	}
	var ids []string
	for _, blip := range n.all("blip") {
		ids = append(ids, blip.attr("embed"))
	}
	for _, image := range n.all("imagedata") { // VML, of Word before 2010
		ids = append(ids, image.attr("id"))
	}
	for _, id := range ids {
		if r, ok := d.rels[id]; ok && !r.external && d.a.has(r.target) {
			list = append(list, span{text: d.doc.picture(r.target, alt, d.a.limits), raw: true})
		}
	}
	for _, box := range n.all("txbxContent") {
		d.blocks(box, boxes, depth+1)
	}
	for _, c := range n.all("chart") {
		if r, ok := d.rels[c.attr("id")]; ok {
			boxes.add(chart(d.a.optional(r.target)))
		}
	}
	if rel := n.first("relIds"); rel != nil { // SmartArt
		if r, ok := d.rels[rel.attr("dm")]; ok {
			boxes.add(smartArt(d.a.optional(r.target)))
		}
	}
	return list
}
