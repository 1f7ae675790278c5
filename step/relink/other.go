package relink

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/vault"
)

var (
	jsonKey    = regexp.MustCompile(`("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*")`)
	yamlString = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'`)
)

// canvas rewrites the files and the links in the texts of a canvas.
func (w *writer) canvas(data []byte) {
	if !json.Valid(data) {
		return
	}
	for _, m := range jsonKey.FindAllSubmatchIndex(data, -1) {
		value, places := unquote(data[m[4]:m[5]])
		place := func(start, end int, text string) edit {
			return edit{m[4] + places[start], m[4] + places[end], quoted(text)}
		}
		switch string(data[m[2]:m[3]]) {
		case `"file"`:
			if is := w.file(value); is != "" {
				w.edits = append(w.edits, place(0, len(value), is))
			}
		case `"text"`:
			w.links(chunking.Links([]byte(value)), 0, place)
		}
	}
}

// file returns the new name of a file that a canvas or base names, or "" if it stays.
func (w *writer) file(name string) string {
	for was, is := range w.to {
		if vault.Fold(was) == vault.Fold(name) {
			return is
		}
	}
	return ""
}

// base rewrites the wikilinks and the whole names of files in a base.
func (w *writer) base(data []byte) {
	links := chunking.QuotedLinks(data, 0)
	at := 0
	for _, m := range yamlString.FindAllIndex(data, -1) {
		n := 0
		for at+n < len(links) && links[at+n].Start < m[0] {
			n++
		}
		w.links(links[at:at+n], 0, nil)
		at += n
		inside := string(data[m[0]+1 : m[1]-1])
		if !strings.ContainsAny(inside, "/.") || strings.Contains(inside, "[[") {
			continue
		}
		if is := w.file(inside); is != "" && !strings.ContainsAny(is, `\"'`) {
			w.edits = append(w.edits, edit{m[0] + 1, m[1] - 1, is})
		}
	}
	w.links(links[at:], 0, nil)
}

// unquote returns the value of a JSON string, and for each of its bytes, and its end, where that is written.
func unquote(raw []byte) (value string, places []int) {
	var b strings.Builder
	add := func(c rune, at int) {
		before := b.Len()
		b.WriteRune(c)
		for range b.Len() - before {
			places = append(places, at)
		}
	}
	for i := 1; i < len(raw)-1; {
		if raw[i] != '\\' {
			c, size := utf8.DecodeRune(raw[i : len(raw)-1])
			add(c, i)
			i += size
			continue
		}
		at := i
		c := rune(raw[i+1])
		if short := strings.IndexRune(`bfnrt`, c); short >= 0 {
			c = rune("\b\f\n\r\t"[short])
		}
		i += 2
		if c == 'u' {
			c = hex(raw[i:])
			i += 4
			if utf16.IsSurrogate(c) && i+6 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
				c = utf16.DecodeRune(c, hex(raw[i+2:]))
				i += 6
			}
		}
		add(c, at)
	}
	return b.String(), append(places, len(raw)-1)
}

// hex reads four hexadecimal digits.
func hex(raw []byte) rune {
	var n rune
	for _, c := range raw[:min(4, len(raw))] {
		n = n<<4 | rune(strings.IndexByte("0123456789abcdef", c|0x20))
	}
	return n
}

// quoted returns a text as the inside of a JSON string.
func quoted(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
}
