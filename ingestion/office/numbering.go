package office

import (
	"strconv"
	"strings"
)

// numbering holds the formats and first numbers of numbered lists in a word processor file, by list and level.
type numbering map[string]map[string]listLevel

type listLevel struct {
	format string
	start  int // the number before the first one
}

func readNumbering(root *node) numbering {
	abstract := map[string]map[string]listLevel{}
	for _, n := range root.all("abstractNum") {
		levels := map[string]listLevel{}
		for _, l := range n.all("lvl") {
			levels[l.attr("ilvl")] = listLevel{l.child("numFmt").attr("val"), before(l.child("start"), 0)}
		}
		abstract[n.attr("abstractNumId")] = levels
	}
	lists := numbering{}
	for _, n := range root.all("num") {
		levels := map[string]listLevel{}
		for l, f := range abstract[n.child("abstractNumId").attr("val")] {
			levels[l] = f
		}
		for _, o := range n.all("lvlOverride") {
			level := levels[o.attr("ilvl")]
			level.format = or(o.child("lvl", "numFmt").attr("val"), level.format)
			level.start = before(o.child("startOverride"), before(o.child("lvl", "start"), level.start))
			levels[o.attr("ilvl")] = level
		}
		lists[n.attr("numId")] = levels
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

// item is a list item's mark and depth, when the paragraph is one. Styles named after lists count as bullets.
func (d *docx) item(pr *node) (marker string, indent int, ok bool) {
	num := pr.child("numPr")
	id, level := num.child("numId").attr("val"), num.child("ilvl").attr("val")
	style := strings.ToLower(pr.child("pStyle").attr("val"))
	if id == "0" {
		return "", 0, false // a style's numbering taken off again
	}
	if id == "" {
		switch {
		case strings.HasPrefix(style, "listbullet"):
			return "-", trailing(style), true
		case strings.HasPrefix(style, "listnumber"):
			return d.count("style", strconv.Itoa(trailing(style))) + ".", trailing(style), true
		}
		return "", 0, false
	}
	indent, err := strconv.Atoi(level)
	if err != nil || indent < 0 || indent > 8 {
		indent, level = 0, "0"
	}
	switch format := d.lists[id][level].format; format {
	case "bullet", "none", "":
		return "-", indent, true
	default:
		return d.count(id, level) + ".", indent, true
	}
}

// count returns the next number of a list level and restarts deeper levels.
func (d *docx) count(list, level string) string {
	key := list + "/" + level
	if _, counted := d.counters[key]; !counted {
		d.counters[key] = d.lists[list][level].start
	}
	d.counters[key]++
	for other := range d.counters {
		if l, deeper, _ := strings.Cut(other, "/"); l == list && deeper > level {
			delete(d.counters, other)
		}
	}
	return strconv.Itoa(d.counters[key])
}

// trailing is the depth in a style's name: listbullet3 is two deep.
func trailing(style string) int {
	n, err := strconv.Atoi(style[len(style)-1:])
	if err != nil || n < 1 {
		return 0
	}
	return n - 1
}
