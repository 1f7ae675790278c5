package assistantmd

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// oldLine is a directive line, split as AssistantMD split it, with the offsets of its parts.
type oldLine struct {
	text    string
	place   diag.Position // of the first character of the line
	name    string        // canonical
	nameEnd int
	value   piece // everything after the name
	base    piece // the value without its parameters
	block   piece // the parameters with their parentheses; empty without any
	items   []oldItem
}

// piece is a part of a line.
type piece struct {
	text       string
	start, end int // offsets in the line
}

// oldItem is one parameter.
type oldItem struct {
	piece
	key, value string // key is canonical, value without quotes
	valueAt    piece  // with quotes; empty for a bare key
}

func readOldLine(text string, at diag.Position) oldLine {
	l := oldLine{text: strings.TrimRight(text, " \t"), place: at}
	start := strings.IndexByte(l.text, '@') + 1
	l.nameEnd = start
	for l.nameEnd < len(l.text) && isOldName(l.text[l.nameEnd]) {
		l.nameEnd++
	}
	l.name = canonicalName(l.text[start:l.nameEnd])
	rest := strings.TrimLeft(strings.TrimPrefix(l.text[l.nameEnd:], ":"), " \t")
	l.value = piece{rest, len(l.text) - len(rest), len(l.text)}
	l.base = l.value
	if open := l.blockStart(); open >= 0 {
		l.block = l.slice(open, len(l.text))
		l.items = l.readItems(open+1, len(l.text)-1)
		base := strings.TrimRight(l.text[l.value.start:open], " \t")
		l.base = piece{base, l.value.start, l.value.start + len(base)}
	}
	return l
}

func isOldName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func canonicalName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

func (l oldLine) slice(start, end int) piece { return piece{l.text[start:end], start, end} }

// blockStart returns the offset of the parenthesis that the last character closes, if there are only parameters in between.
func (l oldLine) blockStart() int {
	if !strings.HasSuffix(l.value.text, ")") {
		return -1
	}
	for open := l.value.start; open < len(l.text); open++ {
		if l.text[open] == '(' && l.closing(open) == len(l.text)-1 {
			items := l.readItems(open+1, len(l.text)-1)
			if len(items) == 0 || slices.ContainsFunc(items, func(i oldItem) bool { return i.key == "" }) {
				return -1
			}
			return open
		}
	}
	return -1
}

// closing returns the offset of the parenthesis that closes the one at open, ignoring those in quoted values.
func (l oldLine) closing(open int) int {
	depth := 0
	for i := open; i < len(l.text); i++ {
		switch c := l.text[i]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'':
			if end := strings.IndexByte(l.text[i+1:], c); end >= 0 && strings.HasSuffix(strings.TrimRight(l.text[:i], " "), "=") {
				i += end + 1
			}
		}
	}
	return -1
}

// readItems splits parameters at the commas outside quotes and parentheses.
func (l oldLine) readItems(from, to int) []oldItem {
	var items []oldItem
	depth, quote, start := 0, byte(0), from
	for i := from; i <= to; i++ {
		switch {
		case i == to || l.text[i] == ',' && depth == 0 && quote == 0:
			if it, ok := l.readItem(start, i); ok {
				items = append(items, it)
			}
			start = i + 1
		case quote != 0:
			if l.text[i] == quote {
				quote = 0
			}
		case l.text[i] == '"' || l.text[i] == '\'':
			quote = l.text[i]
		case l.text[i] == '(':
			depth++
		case l.text[i] == ')':
			depth--
		}
	}
	return items
}

// readItem parses `key` or `key=value`; anything else has no key.
func (l oldLine) readItem(start, end int) (oldItem, bool) {
	text := strings.TrimSpace(l.text[start:end])
	if text == "" {
		return oldItem{}, false
	}
	start += strings.Index(l.text[start:end], text)
	it := oldItem{piece: piece{text, start, start + len(text)}}
	key, value, assigned := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if key == "" || strings.Trim(canonicalName(key), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return it, true
	}
	it.key = canonicalName(key)
	if assigned {
		value = strings.TrimSpace(value)
		it.valueAt = piece{value, it.end - len(value), it.end}
		it.value = value
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			it.value = value[1 : n-1]
		}
	}
	return it, true
}

// item returns the parameter with a key.
func (l oldLine) item(key string) (oldItem, bool) {
	i := slices.IndexFunc(l.items, func(it oldItem) bool { return it.key == key })
	if i < 0 {
		return oldItem{}, false
	}
	return l.items[i], true
}

// on reports whether a parameter is true.
func (l oldLine) on(key string) bool {
	it, ok := l.item(key)
	if !ok {
		return false
	}
	b, err := directives.ParseBool(it.value)
	return it.valueAt.text == "" || err == nil && b
}

// late reports whether the line uses a form that AssistantMD added at the end of March.
func (l oldLine) late() bool {
	return l.name == "input" && slices.ContainsFunc(l.items, func(it oldItem) bool {
		return slices.Contains([]string{"pending", "latest", "limit", "order", "dir", "tail", "dt_pattern", "dt_format"}, it.key)
	})
}

// column returns the column of an offset.
func (l oldLine) column(offset int) int {
	return l.place.Column + utf8.RuneCountInString(l.text[:offset])
}

func (l oldLine) at(offset int) diag.Position {
	at := l.place
	at.Column = l.column(offset)
	return at
}

func (l oldLine) nameAt() diag.Position { return l.at(strings.IndexByte(l.text, '@')) }

// replace returns an edit that replaces the text between two offsets.
func (l oldLine) replace(start, end int, text string) diag.Edit {
	return diag.Replace(l.at(start), utf8.RuneCountInString(l.text[start:end]), text)
}

// deleted returns an edit that removes the line.
func (l oldLine) deleted() diag.Edit { return deleteLine(l.place.Line) }

func deleteLine(line int) diag.Edit {
	return diag.Edit{Line: line, Column: 1, EndLine: line + 1, EndColumn: 1}
}

// without returns an edit that removes a parameter with its comma, or with the parentheses if it is the only one.
func (l oldLine) without(it oldItem) diag.Edit {
	i := slices.IndexFunc(l.items, func(o oldItem) bool { return o.start == it.start })
	switch {
	case len(l.items) == 1:
		return l.replace(l.base.end, len(l.text), "")
	case i == 0:
		return l.replace(it.start, l.items[1].start, "")
	}
	return l.replace(l.items[i-1].end, it.end, "")
}

// with returns an edit that adds parameters.
func (l oldLine) with(params ...string) diag.Edit {
	list := strings.Join(params, ", ")
	switch {
	case l.block.text == "":
		return l.replace(len(l.text), len(l.text), " ("+list+")")
	case len(l.items) == 0:
		return l.replace(l.block.start+1, l.block.end-1, list)
	}
	end := l.items[len(l.items)-1].end
	return l.replace(end, end, ", "+list)
}
