package webpage

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// answers writes what is filled in a form as text. A field that is empty, hidden or secret has none.
func answers(doc *html.Node) {
	for _, n := range all(doc, "input", "textarea", "select") {
		answer, lines := answerOf(n), n.Data == "textarea"
		for up := n.Parent; up != nil; up = up.Parent {
			if up.Data == "label" || up.Data == "form" && answer != "" { // the library that finds the readable part drops forms
				rename(up, "div")
			}
		}
		for n.FirstChild != nil {
			n.RemoveChild(n.FirstChild)
		}
		n.Attr = nil
		rename(n, "span")
		if lines {
			rename(n, "div")
		}
		for i, line := range strings.Split(answer, "\n") {
			if i > 0 {
				n.AppendChild(&html.Node{Type: html.ElementNode, Data: "br"})
			}
			n.AppendChild(&html.Node{Type: html.TextNode, Data: line})
		}
	}
}

func answerOf(field *html.Node) string {
	switch field.Data {
	case "textarea":
		return strings.TrimSpace(rawText(field))
	case "select":
		options, chosen := all(field, "option"), []string(nil)
		for _, o := range options {
			if has(o, "selected") {
				chosen = append(chosen, text(o))
			}
		}
		if len(chosen) == 0 && len(options) > 0 && !has(field, "multiple") {
			chosen = append(chosen, text(options[0])) // what the browser shows
		}
		return " " + strings.Join(chosen, ", ") + " "
	}
	switch strings.ToLower(attribute(field, "type")) {
	case "hidden", "password", "submit", "button", "reset", "image", "file", "range", "color":
		return ""
	case "checkbox", "radio":
		if has(field, "checked") {
			return "☑ "
		}
		return "☐ "
	}
	if value := oneLine(attribute(field, "value")); value != "" {
		return " " + value + " "
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// numbered divides lists where their numbers jump, because a list of Markdown counts from its first number.
func numbered(doc *html.Node) {
	for _, list := range all(doc, "ol") {
		part, expected := list, 0
		for n, li := range items(list) {
			switch {
			case part == list && expected == 0:
				list.Attr = []html.Attribute{{Key: "start", Val: strconv.Itoa(n)}}
			case n != expected:
				next := &html.Node{Type: html.ElementNode, Data: "ol", DataAtom: list.DataAtom, Attr: []html.Attribute{{Key: "start", Val: strconv.Itoa(n)}}}
				part.Parent.InsertBefore(next, part.NextSibling)
				part = next
			}
			if part != list {
				li.Parent.RemoveChild(li)
				part.AppendChild(li)
			}
			li.Attr = slices.DeleteFunc(li.Attr, func(a html.Attribute) bool { return a.Key == "value" })
			expected = n + 1
		}
	}
}
