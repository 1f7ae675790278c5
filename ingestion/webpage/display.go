package webpage

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/vaultflow/vaultflow/ingestion/script"
)

var (
	displayStyle = regexp.MustCompile(`(?i)(?:^|;)\s*display\s*:\s*([a-z-]+)`)
	raisedStyle  = regexp.MustCompile(`(?i)(?:^|;)\s*vertical-align\s*:\s*(super|sub)\b`)
	inline       = []string{"a", "abbr", "b", "bdi", "bdo", "big", "button", "cite", "data", "del", "dfn", "em", "font", "i", "ins", "label", "mark", "output", "q", "s", "small", "span", "strong", "time", "u", "var"}
)

// displayed renames elements to what their own styles make of them: blocks, tables, raised text.
func displayed(doc *html.Node) {
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "div" && !slices.Contains(inline, n.Data) {
			continue
		}
		style := attribute(n, "style")
		if m := raisedStyle.FindStringSubmatch(style); m != nil && n.Data == "span" {
			rename(n, map[string]string{"super": "sup", "sub": "sub"}[strings.ToLower(m[1])])
			continue
		}
		m := displayStyle.FindStringSubmatch(style)
		if m == nil || n.Data == "a" {
			continue
		}
		switch strings.ToLower(m[1]) {
		case "block", "flex", "grid", "list-item", "flow-root":
			rename(n, "div")
		case "table":
			if rowsByStyle(n) {
				rename(n, "table")
			}
		}
	}
}

// scripts writes raised and lowered text so that it does not join what stands before it.
func scripts(doc *html.Node) {
	before := ""
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for k := n.FirstChild; k != nil; k = k.NextSibling {
			switch {
			case k.Type == html.TextNode:
				before = k.Data
			case k.Data == "sup" || k.Data == "sub":
				write := script.Raised
				if k.Data == "sub" {
					write = script.Lowered
				}
				whole := rawText(k)
				put(k, whole, write(before, whole))
				rename(k, "span")
				before = whole
			default:
				if !isInline(k) {
					before = ""
				}
				walk(k)
			}
		}
	}
	walk(doc)
}

// put replaces the text of an element, and leaves links in it.
func put(n *html.Node, was, text string) {
	if was == text {
		return
	}
	var last *html.Node
	texts := 0
	for d := range n.Descendants() {
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
			last, texts = d, texts+1
		}
	}
	switch {
	case last == nil:
	case texts == 1:
		last.Data = strings.Replace(last.Data, strings.TrimSpace(was), strings.TrimSpace(text), 1)
	case utf8.RuneCountInString(was) == utf8.RuneCountInString(text): // each character for itself
		runes := []rune(text)
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				size := min(utf8.RuneCountInString(d.Data), len(runes))
				d.Data, runes = string(runes[:size]), runes[size:]
			}
		}
	default:
		begin, end, _ := strings.Cut(text, strings.TrimSpace(was))
		n.InsertBefore(&html.Node{Type: html.TextNode, Data: begin}, n.FirstChild)
		n.AppendChild(&html.Node{Type: html.TextNode, Data: end})
	}
}

// rowsByStyle makes rows and cells of elements that are displayed as such, and reports whether there is nothing else in a table.
func rowsByStyle(table *html.Node) bool {
	var rows, cells []*html.Node
	only := func(n *html.Node, display string) (list []*html.Node, ok bool) {
		for k := range n.ChildNodes() {
			if k.Type == html.TextNode && strings.TrimSpace(k.Data) == "" || k.Type == html.CommentNode {
				continue
			}
			if m := displayStyle.FindStringSubmatch(attribute(k, "style")); m == nil || !strings.EqualFold(m[1], display) {
				return nil, false
			}
			list = append(list, k)
		}
		return list, len(list) > 0
	}
	rows, ok := only(table, "table-row")
	for _, r := range rows {
		in, all := only(r, "table-cell")
		cells, ok = append(cells, in...), ok && all
	}
	if !ok {
		return false
	}
	for _, r := range rows {
		rename(r, "tr")
	}
	for _, c := range cells {
		rename(c, "td")
	}
	return true
}

// apart puts a blank between elements that style sheets set apart, as a name and its price in a list. Nothing else in the
// page shows it, so it is done where the texts would make another number or word: at a digit, at a capital, and between elements of different classes.
func apart(doc *html.Node) {
	for n := range doc.Descendants() {
		next := n.NextSibling
		if !isInline(n) || !isInline(next) || code(n) {
			continue
		}
		left, right := rawText(n), rawText(next)
		l, _ := utf8.DecodeLastRuneInString(left)
		r, _ := utf8.DecodeRuneInString(right)
		single := utf8.RuneCountInString(left) == 1 || utf8.RuneCountInString(right) == 1
		differ := attribute(n, "class") != attribute(next, "class")
		digits := unicode.IsDigit(l) || unicode.IsDigit(r)
		switch {
		case !wordy(l) || !wordy(r):
		case digits && (!single || differ), !single && (differ || unicode.IsLower(l) && unicode.IsUpper(r)):
			n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, next)
		}
	}
}

func isInline(n *html.Node) bool {
	return n != nil && n.Type == html.ElementNode && slices.Contains(inline, n.Data)
}

// wordy reports whether a character would join another one: a letter, a digit, or the sign of a currency.
func wordy(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Sc, r)
}

// code reports whether an element is in code, whose parts are coloured.
func code(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		switch n.Data {
		case "code", "pre", "kbd", "samp", "math":
			return true
		}
	}
	return false
}
