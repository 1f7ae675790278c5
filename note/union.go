package note

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"
)

// united is what becomes of a property that is united with an answer's value: the items that it has, in their order, then those
// of the answer that it lacks. Nothing is ever taken from it, so null changes nothing.
func united(m member, now *yaml.Node) (c change, changes bool, err error) {
	c.key = m.key
	added, ok := answered(m)
	if !ok {
		return c, false, errors.New("the answer has a mapping where a list is united; ask for a list, or write union=none to replace the property")
	}
	var had []any
	if now != nil {
		if had, ok = listed(m.key, now); !ok {
			return c, false, errors.New("it is a mapping, and a list cannot be united with one; make it a list, or write union=none to replace it")
		}
	}
	known := map[string]bool{}
	for _, item := range had {
		known[identity(m.key, item)] = true
	}
	c.more = []any{}
	for _, item := range added {
		if id := identity(m.key, item); !known[id] {
			known[id] = true
			c.more = append(c.more, item)
		}
	}
	c.value = slices.Concat(had, c.more)
	if now == nil {
		c.value = c.more
		return c, m.value != nil, nil
	}
	return c, len(c.more) > 0, nil
}

// answered lists the items of an answer's value.
func answered(m member) ([]any, bool) {
	var items []any
	switch v := m.value.(type) {
	case nil:
	case Object:
		return nil, false
	case []any:
		items = v
	case string:
		items = texts(m.key, v)
	default:
		items = []any{v}
	}
	if isTags(m.key) {
		items = slices.Clone(items)
		for i, item := range items {
			if text, ok := item.(string); ok {
				items[i] = strings.TrimLeft(strings.TrimSpace(text), "#")
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(items), func(item any) bool { return item == nil || item == "" }), true
}

// listed lists the items of a property as Obsidian reads them: a text is one item, of tags as many as it has words, of aliases
// as many as commas divide.
func listed(key string, n *yaml.Node) ([]any, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch value := itemOf(n).(type) {
	case nil:
		return nil, true
	case Object:
		return nil, false
	case []any:
		return value, true
	case string:
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && !isTags(key) {
			return []any{value}, true
		}
		return texts(key, value), true
	default:
		return []any{value}, true
	}
}

// texts divides the text of a property that should be a list.
func texts(key, text string) []any {
	parts := []string{text}
	switch {
	case isTags(key):
		parts = strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' })
	case isAliases(key):
		parts = strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == '\n' })
	}
	var items []any
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			items = append(items, part)
		}
	}
	return items
}

func isTags(key string) bool { return strings.EqualFold(key, "tags") || strings.EqualFold(key, "tag") }

func isAliases(key string) bool {
	return strings.EqualFold(key, "aliases") || strings.EqualFold(key, "alias")
}

// identity is equal for items that are the same: of tags without # and case.
func identity(key string, item any) string {
	text, ok := item.(string)
	if number, isNumber := item.(json.Number); isNumber {
		text, ok = number.String(), true
	}
	if !ok {
		raw, err := MarshalJSON(item)
		if err != nil {
			return "?"
		}
		text = string(raw)
	}
	text = norm.NFC.String(strings.TrimSpace(text))
	if isTags(key) {
		text = strings.ToLower(strings.TrimLeft(text, "#"))
	}
	return text
}

// itemOf is a node's value as [ReadJSON] has them; a scalar that is no text keeps its spelling.
func itemOf(n *yaml.Node) any { return itemTo(n, 0) }

func itemTo(n *yaml.Node, depth int) any {
	if depth > maxJSONDepth {
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return itemTo(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, itemTo(item, depth+1))
		}
		return list
	case yaml.MappingNode:
		all := Object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			all = all.with(n.Content[i].Value, itemTo(n.Content[i+1], depth+1))
		}
		return all
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!str", "!!timestamp":
		return n.Value
	}
	return json.Number(n.Value)
}

// lengthened are ways to write a property with more items at its end, and with everything else as it is. The best comes first;
// which of them reads as wanted is for the caller to find out.
func lengthened(front string, e entry, n *yaml.Node, c change, eol string) []string {
	switch {
	case n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0:
		var lines strings.Builder
		indent := strings.Repeat(" ", max(n.Column-1, 0))
		for _, item := range c.more {
			text := yamlText(item, indent)
			if _, isMap := item.(Object); isMap {
				text = strings.Replace(text, "\n"+indent+"  ", " ", 1)
			}
			lines.WriteString(indent + "-" + text + "\n")
		}
		var ways []string
		for _, end := range []int{e.end, withComments(front, e.end)} { // what looks like a comment may be the last item's text
			head := front[:end]
			if !strings.HasSuffix(head, "\n") {
				head += eol
			}
			ways = append(ways, head+strings.ReplaceAll(lines.String(), "\n", eol)+front[end:])
		}
		return ways
	case n.Kind == yaml.SequenceNode:
		inside, closed := strings.CutSuffix(front[e.value:e.valueEnd], "]")
		if !closed {
			return nil
		}
		head, tail, items := front[:e.value], "]"+front[e.valueEnd:], flowItems(c.more)
		bare := strings.TrimRight(inside, " \t\r\n")
		blank := inside[len(bare):]
		switch {
		case strings.HasSuffix(bare, "["):
			return []string{head + inside + items + tail}
		case strings.HasSuffix(bare, ","):
			return []string{head + bare + " " + items + "," + blank + tail}
		}
		// The second way is for a comment behind the last item.
		return []string{head + bare + ", " + items + blank + tail, head + bare + eol + "  , " + items + eol + "  " + tail}
	case n.Kind == yaml.ScalarNode && e.value < e.valueEnd && !strings.Contains(front[e.value:e.valueEnd], "\n"):
		had, _ := listed(c.key, n)
		behind := flowItems(c.more) + "]" + front[e.valueEnd:]
		asWritten := front[:e.value] + "[" + front[e.value:e.valueEnd] + ", " + behind
		return []string{asWritten, front[:e.value] + "[" + flowItems(had) + ", " + behind}
	}
	return nil
}

// flowItems are items as they are written between brackets.
func flowItems(items []any) string {
	var list []string
	for _, item := range items {
		switch v := item.(type) {
		case string:
			if plainYAML(v) && !strings.ContainsAny(v, ",[]{}") {
				list = append(list, v)
			} else {
				list = append(list, quotedYAML(v))
			}
		case []any:
			list = append(list, "["+flowItems(v)+"]")
		case Object:
			var members []string
			for _, m := range v {
				members = append(members, quotedYAML(m.key)+": "+flowItems([]any{m.value}))
			}
			list = append(list, "{"+strings.Join(members, ", ")+"}")
		default:
			list = append(list, yamlScalar(v))
		}
	}
	return strings.Join(list, ", ")
}
