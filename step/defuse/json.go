package defuse

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// loadKeys are the members of JSON whose addresses are loaded when the file is shown: those of a canvas's nodes, and pictures.
var loadKeys = []string{"url", "background", "src", "image", "icon", "cover", "banner", "thumbnail", "picture", "poster"}

// scanJSON looks at the strings of a JSON text, or of lines of it. It reports false for a text that is no JSON.
func scanJSON(f format, text string, own map[string]bool, r Rules) (marks []mark, valid bool) {
	for line := range strings.SplitAfterSeq(text, "\n") {
		if strings.TrimSpace(line) != "" && !json.Valid([]byte(line)) {
			if !json.Valid([]byte(text)) {
				return nil, false
			}
			break
		}
	}
	key := ""
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '"')
		if i < 0 {
			break
		}
		start := at + i + 1
		value, places := decode(text[start:])
		at = start + places[len(places)-1] + 1
		isKey := strings.HasPrefix(strings.TrimLeft(text[at:], " \t\r\n"), ":")
		for _, m := range scanString(f, value, key, own, r) {
			m.at = start + places[m.at]
			marks = append(marks, m)
		}
		if isKey {
			key = strings.ToLower(value)
		}
	}
	line, from := 1, 0
	for i := range marks {
		line += strings.Count(text[from:marks[i].at], "\n")
		from = marks[i].at
		marks[i].line = line
	}
	return marks, true
}

// scanString scans the string value of a key.
func scanString(f format, value, key string, own map[string]bool, r Rules) []mark {
	s := newScanner(markdown, value, own, r)
	s.blocks = true
	_, s.strict = s.regions(false)
	if f == properties && !slices.Contains(linkKeys, key) || f == structured && slices.Contains(loadKeys, key) {
		s.strict = []span{{0, len(value) + 1}}
	}
	return s.run()
}

// decode reads a JSON string up to its closing quote. places has the offset in the text of each byte of the value, and that
// of the closing quote.
func decode(text string) (value string, places []int) {
	var b strings.Builder
	put := func(c rune, at int) {
		for range utf8.RuneLen(c) {
			places = append(places, at)
		}
		b.WriteRune(c)
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			return b.String(), append(places, i)
		case c != '\\' || i+1 >= len(text):
			places = append(places, i)
			b.WriteByte(c)
			i++
		case text[i+1] == 'u':
			first, second := hex4(text[i+2:]), rune(-1)
			size := 6
			if utf16.IsSurrogate(first) && strings.HasPrefix(text[min(len(text), i+6):], `\u`) {
				second = hex4(text[i+8:])
			}
			if pair := utf16.DecodeRune(first, second); second >= 0 && pair != utf8.RuneError {
				first, size = pair, 12
			} else if utf16.IsSurrogate(first) {
				first = utf8.RuneError
			}
			put(first, i)
			i += size
		default:
			escapes := map[byte]rune{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}
			c, known := escapes[text[i+1]]
			if !known {
				c = rune(text[i+1])
			}
			put(c, i)
			i += 2
		}
	}
	return b.String(), append(places, len(text))
}

func hex4(text string) rune {
	n, err := strconv.ParseUint(text[:min(4, len(text))], 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
