// Package charset reads text whose encoding is not known.
package charset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/saintfish/chardet"
	"golang.org/x/text/encoding/htmlindex"
)

// Text is a text in UTF-8, and how it was read.
type Text struct {
	Text     string
	Encoding string // name, as the WHATWG Encoding Standard writes it, or UTF-16LE and the like
	Guessed  bool   // from the bytes alone, which can be wrong
	Bad      int    // bytes that are no text in the encoding and were replaced by U+FFFD
}

// Remark returns what is uncertain about the text, or "".
func (d Text) Remark() string {
	var parts []string
	if d.Guessed {
		parts = append(parts, "the file does not say its encoding; it was read as "+d.Encoding)
	}
	if d.Bad > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes are not valid %s and were replaced by �", d.Bad, d.Encoding))
	}
	return strings.Join(parts, "; ")
}

// Decode reads text of any encoding. A byte order mark decides, then UTF-8 (even with some broken bytes), then UTF-16 and UTF-32
// of mostly Latin text, then the encoding that the bytes resemble most. The last resort is Windows-1252.
func Decode(data []byte) Text {
	mark := Mark(data)
	wide := mark
	if wide == "" {
		wide = Wide(data)
	}
	switch wide {
	case "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE":
		d := decodeWide(data, wide)
		d.Text, d.Guessed = strings.TrimPrefix(d.Text, "\ufeff"), mark == ""
		return d
	case "UTF-8":
		return decode8(data[3:])
	}
	d := decode8(data)
	switch broken := d.Bad > 0; {
	case !broken && !bytes.Contains(data, []byte("\x1b$")): // ISO-2022 is written in 7 bits
		return d
	case broken && characters(data) > d.Bad:
		d.Guessed = true
		return d
	}
	return decodeGuess(data)
}

// characters counts those of several bytes.
func characters(data []byte) (n int) {
	for len(data) > 0 {
		_, width := utf8.DecodeRune(data)
		if width > 1 {
			n++
		}
		data = data[width:]
	}
	return n
}

func decode8(data []byte) Text {
	d := Text{Encoding: "UTF-8"}
	var b strings.Builder
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			d.Bad++
		}
		b.WriteRune(r)
		data = data[n:]
	}
	d.Text = b.String()
	return d
}

// wide are the encodings of two and four bytes.
var wide = map[string]struct {
	order binary.ByteOrder
	width int
}{
	"UTF-16LE": {binary.LittleEndian, 2}, "UTF-16BE": {binary.BigEndian, 2}, "UTF-32LE": {binary.LittleEndian, 4}, "UTF-32BE": {binary.BigEndian, 4},
}

func decodeWide(data []byte, name string) Text {
	e := wide[name]
	d := Text{Encoding: name, Bad: len(data) % e.width}
	var b strings.Builder
	for ; len(data) >= e.width; data = data[e.width:] {
		var r rune
		if e.width == 4 {
			r = rune(min(e.order.Uint32(data), unicode.MaxRune+1))
		} else if r = rune(e.order.Uint16(data)); utf16.IsSurrogate(r) && len(data) >= 4 {
			if pair := utf16.DecodeRune(r, rune(e.order.Uint16(data[2:]))); pair != utf8.RuneError {
				r, data = pair, data[2:]
			}
		}
		if !utf8.ValidRune(r) {
			r = utf8.RuneError
			d.Bad += e.width
		}
		b.WriteRune(r)
	}
	d.Text = b.String()
	return d
}

// Wide recognises UTF-16 and UTF-32 without a mark. In most European languages they have zeros in nearly every second byte, or
// in three of four. It requires at least 8 characters, all of them usual in text and 7 of 10 of them Latin.
func Wide(data []byte) string {
	if bytes.IndexByte(data, 0) < 0 {
		return ""
	}
	for _, name := range []string{"UTF-32LE", "UTF-32BE", "UTF-16LE", "UTF-16BE"} {
		e := wide[name]
		n, latin := 0, 0
		for at := 0; at+e.width <= len(data); at += e.width {
			r := rune(-1)
			if e.width == 2 {
				r = rune(e.order.Uint16(data[at:]))
			} else if v := e.order.Uint32(data[at:]); v <= unicode.MaxRune {
				r = rune(v)
			}
			if r < 0 || !utf16.IsSurrogate(r) && !unicode.IsPrint(r) && !strings.ContainsRune("\t\n\r\f\ufeff", r) {
				n = -1
				break
			}
			n++
			if r < 0x180 {
				latin++
			}
		}
		if n >= 8 && latin*10 >= n*7 {
			return name
		}
	}
	return ""
}

// surer is by how many of 100 points an encoding must be more likely than Windows-1252, which most texts of Western
// programs without UTF-8 have, and which few words are not enough to tell from its sisters.
const surer = 15

// likeliest is the encoding that the bytes are most like.
func likeliest(data []byte) string {
	const otherwise = "windows-1252"
	found, err := chardet.NewTextDetector().DetectAll(data)
	if err != nil || len(found) == 0 {
		return older(data, otherwise)
	}
	needed := surer
	for _, f := range found {
		if canonical(f) == otherwise {
			needed = max(needed, f.Confidence+surer)
		}
	}
	if foreign(data) {
		needed = 1 // few words of another script are more like it than like any Western language
	}
	if name := canonical(found[0]); name != "" && found[0].Confidence >= needed {
		return older(data, name)
	}
	return older(data, otherwise)
}

// canonical returns a finding's name in the Encoding Standard, or "" if it has none there. The library reports Latin-2 as Latin-1
// with another language.
func canonical(f chardet.Result) string {
	switch {
	case f.Charset == "GB-18030":
		return "gb18030"
	case f.Charset == "UTF-8":
		return ""
	case f.Charset == "ISO-8859-1" && strings.Contains("cs hu pl ro", f.Language):
		return "iso-8859-2"
	}
	e, err := htmlindex.Get(f.Charset)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return ""
	}
	return name
}

// foreign reports whether most letters are outside ASCII, so that the script is not Latin.
func foreign(data []byte) bool {
	high, latin := 0, 0
	for _, c := range data {
		switch {
		case c >= 0xa0:
			high++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			latin++
		}
	}
	return high >= 16 && high > 2*latin
}

func decodeGuess(data []byte) Text {
	name := likeliest(data[:min(len(data), 1<<16)])
	d := Text{Guessed: true, Encoding: name}
	e := encodingOf(name)
	text, err := e.NewDecoder().Bytes(data)
	if err != nil {
		d = decode8(data) // no decoder of the list returns errors; if one did, nothing is lost
		d.Guessed = true
		return d
	}
	d.Text = string(text)
	d.Bad = strings.Count(d.Text, "\ufffd")
	return d
}

// Mark returns the encoding that a byte order mark announces, or "".
func Mark(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return "UTF-32LE"
	case bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return "UTF-32BE"
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return "UTF-16LE"
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "UTF-16BE"
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) && bytes.IndexByte(head, 0) < 0:
		return "UTF-8"
	}
	return ""
}
