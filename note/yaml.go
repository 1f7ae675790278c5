package note

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// ToYAML returns YAML as it is, and JSON as YAML.
func ToYAML(text string) (string, error) {
	if value, err := ReadJSON(text); err == nil && json.Valid([]byte(text)) {
		return strings.TrimLeft(outdented(yamlText(value, "  ")), "\n "), nil
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return "", plainYAMLError(err)
	}
	if len(node.Content) == 0 {
		return "", errors.New("there is nothing in it")
	}
	return text, nil
}

// outdented removes the indentation that yamlText adds to lists and mappings.
func outdented(text string) string { return strings.ReplaceAll(text, "\n    ", "\n") }

// yamlText writes a value as Obsidian writes properties: block style, lists indented by two blanks, strings in double
// quotes only where plain ones would be read as something else. It is what follows `key:`, with its line breaks
// as \n and none at the end: " value" for a scalar, "\n  - a\n  - b" for a list.
func yamlText(value any, indent string) string {
	switch v := value.(type) {
	case []any:
		return yamlList(v, indent)
	case Object:
		return yamlMap(v, indent)
	case string:
		return " " + yamlString(v, indent)
	}
	return " " + yamlScalar(value)
}

func yamlList(list []any, indent string) string {
	if len(list) == 0 {
		return " []"
	}
	var b strings.Builder
	for _, item := range list {
		text := yamlText(item, indent+"  ")
		if _, isMap := item.(Object); isMap {
			text = strings.Replace(text, "\n"+indent+"    ", " ", 1) // the first key follows the dash
		}
		b.WriteString("\n" + indent + "  -" + text)
	}
	return b.String()
}

func yamlMap(members Object, indent string) string {
	if len(members) == 0 {
		return " {}"
	}
	var b strings.Builder
	for _, m := range members {
		b.WriteString("\n" + indent + "  " + yamlKey(m.key) + ":" + yamlText(m.value, indent+"  "))
	}
	return b.String()
}

// yamlKey is a key of a mapping; a long one is read by no parser unless it is on one line.
func yamlKey(key string) string {
	if plainYAML(key) {
		return key
	}
	return quotedYAML(key)
}

func yamlScalar(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return quotedYAML(fmt.Sprint(value))
}

// yamlString is a string: plain, in double quotes, or as a block when it has several lines.
func yamlString(s, indent string) string {
	if plainYAML(s) {
		return s
	}
	if block, ok := yamlBlock(s, indent); ok {
		return block
	}
	return quotedYAML(s)
}

// yamlBlock is a text of several lines as a literal block, when nothing in it would be lost that way.
func yamlBlock(s, indent string) (string, bool) {
	body, end := strings.TrimSuffix(s, "\n"), ""
	if body == s {
		end = "-"
	}
	lines := strings.Split(body, "\n")
	odd := func(c rune) bool { return c != '\n' && (unicode.IsControl(c) || !printable(c)) }
	if len(lines) < 2 || strings.ContainsFunc(s, odd) || body != strings.Trim(body, " \n") {
		return "", false
	}
	var b strings.Builder
	b.WriteString("|" + end)
	for _, line := range lines {
		b.WriteString("\n")
		if strings.TrimSpace(line) == "" && line != "" {
			return "", false
		}
		if line != "" {
			b.WriteString(indent + "  " + line)
		}
	}
	return b.String(), true
}

// printable leaves out what YAML takes for the end of a line or does not allow.
func printable(c rune) bool {
	return c != '\u0085' && c != '\u2028' && c != '\u2029' && c != '\ufeff' && c != unicode.ReplacementChar && c < 0xfffe || c > 0xffff
}

// reservedWords are strings that old readers of YAML (1.1) take for true and false.
var reservedWords = []string{"yes", "no", "on", "off"}

// plainYAML reports whether a string needs no quotes: it is read as the same string again.
func plainYAML(s string) bool {
	switch {
	case s == "" || strings.TrimSpace(s) != s || slices.Contains(reservedWords, strings.ToLower(s)):
		return false
	case strings.ContainsAny(s[:1], "[]{},#&*!|>'\"%@`") || s == "-" || s == "?" || s == "---" || s == "...":
		return false
	case strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "? ") || strings.HasPrefix(s, ":") || strings.HasSuffix(s, ":"):
		return false
	case strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.Contains(s, "{{") || s == "<<" || s == "=":
		return false
	case strings.ContainsFunc(s, func(c rune) bool { return unicode.IsControl(c) || !printable(c) || c != ' ' && unicode.IsSpace(c) }):
		return false
	}
	var n yaml.Node
	if err := yaml.Unmarshal([]byte("k: "+s+"\n"), &n); err != nil || len(n.Content) != 1 || len(n.Content[0].Content) != 2 {
		return false
	}
	v := n.Content[0].Content[1]
	return v.Kind == yaml.ScalarNode && v.Value == s && (v.Tag == "!!str" || v.Tag == "!!timestamp")
}

// quotedYAML is a string in double quotes. JSON's escapes are YAML's.
func quotedYAML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case unicode.IsControl(c) && c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		case !printable(c) && c <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
