package office

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// numbering holds the lists of a word processor file by number, as ECMA-376 describes them (part 1, section 17.9).
type numbering map[string]list

// list is a use of a definition. Lists of one definition continue one another, except at levels that begin again.
type list struct {
	definition string
	levels     map[string]listLevel
	again      map[string]bool
}

type listLevel struct {
	format, text string
	start        int    // the number before the first one
	restart      string // numbers of levels below this one begin it again
	legal        bool   // all its numbers are decimal
}

func readLevel(l *node, at listLevel) listLevel {
	if text := l.child("lvlText"); text != nil {
		at.text = text.attr("val")
	}
	at.format, at.restart = or(l.child("numFmt").attr("val"), at.format), or(l.child("lvlRestart").attr("val"), at.restart)
	at.start, at.legal = before(l.child("start"), at.start), at.legal || on(l, "isLgl")
	return at
}

func readNumbering(root *node) numbering {
	definitions, styled := map[string]map[string]listLevel{}, map[string]string{}
	for _, n := range root.all("abstractNum") {
		id, levels := n.attr("abstractNumId"), map[string]listLevel{}
		for i, l := range n.all("lvl") {
			at := l.attr("ilvl")
			levels[at] = readLevel(l, listLevel{restart: at, text: "%" + strconv.Itoa(i+1) + "."})
		}
		definitions[id], styled[n.child("styleLink").attr("val")] = levels, id
	}
	for _, n := range root.all("abstractNum") {
		if style := n.child("numStyleLink").attr("val"); style != "" {
			definitions[n.attr("abstractNumId")] = definitions[styled[style]]
		}
	}
	lists := numbering{}
	for _, n := range root.all("num") {
		of := list{n.child("abstractNumId").attr("val"), map[string]listLevel{}, map[string]bool{}}
		maps.Copy(of.levels, definitions[of.definition])
		for _, o := range n.all("lvlOverride") {
			at := o.attr("ilvl")
			level := readLevel(o.child("lvl"), of.levels[at])
			level.start = before(o.child("startOverride"), level.start)
			of.levels[at], of.again[at] = level, o.child("startOverride") != nil
		}
		lists[n.attr("numId")] = of
	}
	return lists
}

// before is the number before the one that an element has.
func before(n *node, otherwise int) int {
	if v, err := strconv.Atoi(n.attr("val")); err == nil && v >= 0 && v < 1e9 {
		return v - 1
	}
	return otherwise
}

// listItem is a paragraph's place in a list: its depth, and its mark in Markdown or what the program shows before it.
type listItem struct {
	indent        int
	marker, label string
}

// number finds the numbers of all paragraphs, in their order.
func (d *docx) number(n *node) {
	for _, k := range n.kids {
		if k.name == "AlternateContent" {
			if k = choice(k); k == nil {
				continue
			}
		}
		if pr := k.child("pPr"); k.name == "p" && !deleted(k) {
			if item, ok := d.item(pr); ok {
				d.items[pr] = item
			}
		}
		d.number(k)
	}
}

// item is a list item's mark and depth, when the paragraph is one. Styles named after lists count as bullets.
func (d *docx) item(pr *node) (listItem, bool) {
	num := pr.child("numPr")
	id, level := num.child("numId").attr("val"), num.child("ilvl").attr("val")
	name := pr.child("pStyle").attr("val")
	style := strings.ToLower(name)
	switch {
	case id != "":
	case strings.HasPrefix(style, "listbullet"):
		return listItem{trailing(style), "-", ""}, true
	case strings.HasPrefix(style, "listnumber"):
		return listItem{trailing(style), strconv.Itoa(d.count("style", strconv.Itoa(trailing(style)))) + ".", ""}, true
	}
	for steps := 0; name != "" && steps < 10; steps++ {
		num := d.styles[name].child("pPr", "numPr")
		id, level = or(id, num.child("numId").attr("val")), or(level, num.child("ilvl").attr("val"))
		name = d.styles[name].child("basedOn").attr("val")
	}
	if id == "" || id == "0" {
		return listItem{}, false // 0: a style's numbering taken off again
	}
	indent, err := strconv.Atoi(level)
	if err != nil || indent < 0 || indent > 8 {
		indent, level = 0, "0"
	}
	at := d.lists[id].levels[level]
	if at.format == "bullet" || at.format == "none" || at.format == "" {
		return listItem{indent, "-", ""}, true
	}
	d.count(id, level)
	label := placeOfNumber.ReplaceAllStringFunc(at.text, func(place string) string {
		other := string(place[1] - 1)
		l := d.lists[id].levels[other]
		n, counted := d.counters[d.lists[id].definition+"/"+other]
		if !counted {
			n = l.start + 1
		}
		if at.legal {
			l.format = "decimal"
		}
		return written(n, l.format)
	})
	if label = strings.TrimSpace(label); listNumber.MatchString(label) {
		return listItem{indent, label, ""}, true
	}
	return listItem{indent, "", escape(label)}, true
}

var (
	placeOfNumber = regexp.MustCompile(`%[1-9]`)
	listNumber    = regexp.MustCompile(`^(?:0|[1-9]\d{0,8})[.)]$`)
)

// count returns the next number of a list level and restarts deeper levels.
func (d *docx) count(id, level string) int {
	of := d.lists[id]
	definition := or(of.definition, id)
	key := definition + "/" + level
	if _, counted := d.counters[key]; !counted || of.again[level] {
		d.counters[key] = of.levels[level].start
	}
	delete(of.again, level)
	d.counters[key]++
	for other := range d.counters {
		l, deeper, _ := strings.Cut(other, "/")
		if l == definition && deeper > level && level < or(of.levels[deeper].restart, deeper) {
			delete(d.counters, other)
		}
	}
	return d.counters[key]
}

// written is a number in a format of lists. Those that programs do not write with letters, and unknown formats, are decimal.
func written(n int, format string) string {
	switch {
	case format == "none":
		return ""
	case format == "decimalZero" && n < 10:
		return "0" + strconv.Itoa(n)
	case strings.HasSuffix(format, "Letter") && n > 0 && n <= 780:
		return cased(strings.Repeat(string(rune('A'+(n-1)%26)), (n+25)/26), format)
	case strings.HasSuffix(format, "Roman") && n > 0 && n < 4000:
		roman := ""
		for i, value := range []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1} {
			for ; n >= value; n -= value {
				roman += []string{"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}[i]
			}
		}
		return cased(roman, format)
	}
	return strconv.Itoa(n)
}

func cased(s, format string) string {
	if strings.HasPrefix(format, "lower") {
		return strings.ToLower(s)
	}
	return s
}

// trailing is the depth in a style's name: listbullet3 is two deep.
func trailing(style string) int {
	n, err := strconv.Atoi(style[len(style)-1:])
	if err != nil || n < 1 {
		return 0
	}
	return n - 1
}
