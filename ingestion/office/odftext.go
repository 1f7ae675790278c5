package office

import (
	"path"
	"strconv"
	"strings"
)

// inline returns the text of a paragraph. Its frames with text follow it as blocks of their own.
func (o *odf) inline(n *node, b *blocks) string {
	if o.style(n.attr("style-name"), 0).display == "none" || n.child("hidden-paragraph").attr("is-hidden") == "true" {
		return ""
	}
	return strings.TrimSpace(join(o.spans(n, span{}, b)))
}

func (o *odf) spans(n *node, s span, b *blocks) []span {
	var list []span
	add := func(text string) {
		t := s
		t.text, t.font = text, ""
		list = append(list, t)
	}
	for _, k := range n.kids {
		switch k.name {
		case "":
			add(escape(strings.Join(strings.Fields(" "+withSigns(k.text, s.font)+" "), " ")))
			list[len(list)-1].text = edges(k.text, list[len(list)-1].text)
		case "s":
			add(" ")
		case "tab":
			add(" ")
		case "line-break":
			list = append(list, span{text: "\\\n", raw: true})
		case "span":
			inner := s
			st := o.style(k.attr("style-name"), 0)
			if st.display == "none" {
				continue
			}
			inner.bold, inner.italic, inner.strike, inner.font = s.bold || st.bold, s.italic || st.italic, s.strike || st.strike, or(st.font, s.font)
			if st.script != "" {
				inner.script = scriptOf(st.script)
			}
			inner.code = s.code || o.named(k.attr("style-name"), "source_", "teletype", "verbatim")
			list = append(list, o.spans(k, inner, b)...)
		case "a":
			inner := s
			inner.link = safeLink(k.attr("href"))
			if to, inside := strings.CutPrefix(k.attr("href"), "#"); inside {
				inner.link = o.anchors[to]
			}
			list = append(list, o.spans(k, inner, b)...)
		case "note":
			var text blocks
			o.blocks(k.child("note-body"), &text, 1)
			o.notes = append(o.notes, text.String())
			list = append(list, span{text: "[^" + strconv.Itoa(len(o.notes)) + "]", raw: true})
		case "frame":
			if text := o.image(k); text != "" {
				list = append(list, span{text: text, raw: true})
			} else {
				o.frame(k, b, 1)
			}
		case "fieldmark":
			add(escape(markAnswer(k)))
			list = append(list, o.spans(k, s, b)...)
		case "hidden-text":
			if k.attr("is-hidden") != "true" {
				list = append(list, o.spans(k, s, b)...)
			}
		case "annotation", "annotation-end", "tracked-changes", "bookmark", "change":
		default:
			list = append(list, o.spans(k, s, b)...)
		}
	}
	return list
}

// markAnswer is what a form's field shows that has no text of its own, as in [fieldAnswer].
func markAnswer(field *node) string {
	ticked, chosen := "☐", 0
	var entries []string
	for _, k := range field.kids {
		switch value := k.attr("value"); k.attr("name") {
		case "Checkbox_Checked":
			if value == "true" {
				ticked = "☒"
			}
		case "Dropdown_ListEntry":
			entries = append(entries, value)
		case "Dropdown_Selected":
			chosen, _ = strconv.Atoi(value)
		}
	}
	switch {
	case strings.HasSuffix(field.attr("type"), "FORMCHECKBOX"):
		return ticked
	case chosen >= 0 && chosen < len(entries):
		return entries[chosen]
	}
	return ""
}

// edges keeps one blank at each end of a text that had white space there.
func edges(raw, text string) string {
	if strings.TrimSpace(raw) == "" {
		if raw == "" {
			return ""
		}
		return " "
	}
	if strings.TrimLeft(raw, " \t\r\n") != raw {
		text = " " + text
	}
	if strings.TrimRight(raw, " \t\r\n") != raw {
		text += " "
	}
	return text
}

func (o *odf) style(name string, depth int) odfStyle {
	s := o.styles[name]
	if s.parent != "" && depth < 8 {
		p := o.style(s.parent, depth+1)
		s.bold, s.italic, s.strike = s.bold || p.bold, s.italic || p.italic, s.strike || p.strike
		s.script, s.display, s.font = or(s.script, p.script), or(s.display, p.display), or(s.font, p.font)
	}
	return s
}

// image is the mark of a frame's picture, "" when it holds none.
func (o *odf) image(frame *node) string {
	if frame.child("table") != nil {
		return "" // the picture shows the table
	}
	for _, object := range frame.elements() {
		part := path.Join(object.attr("href"), "content.xml")
		if object.name != "object" || !o.a.has(part) {
			continue
		}
		if f := formula(o.a.optional(part).first("math")); f != "" {
			return f // the picture shows the formula
		}
	}
	for _, k := range frame.kids {
		if k.name != "image" {
			continue
		}
		to := path.Clean(strings.TrimPrefix(k.attr("href"), "./"))
		if !o.a.has(to) {
			continue
		}
		alt := ""
		for _, name := range []string{"desc", "title"} {
			if d := frame.child(name); d != nil && alt == "" {
				alt = strings.TrimSpace(d.flat())
			}
		}
		return o.doc.picture(to, alt, o.a.limits)
	}
	return ""
}

// frame adds a picture, a text box, a table, or the shapes of a group.
func (o *odf) frame(k *node, b *blocks, depth int) {
	if text := o.image(k); text != "" {
		b.add(text)
		return
	}
	o.blocks(k, b, depth+1)
}

func (o *odf) footnotes(b *blocks) {
	for i, text := range o.notes {
		b.footnote(i+1, text)
	}
	o.notes = nil
}
