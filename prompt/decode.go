package prompt

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// encoding is how the characters of a text are stored.
type encoding int

const (
	utf8Plain  encoding = iota
	utf8Marked          // with a byte order mark
	utf8Broken          // with bytes that are no UTF-8
	utf16LE
	utf16BE
	latin // Windows-1252, for want of a better guess
)

// String names the encoding for a person.
func (e encoding) String() string {
	return [...]string{"UTF-8", "UTF-8", "UTF-8 with bytes that are none", "UTF-16", "UTF-16", "an 8-bit encoding, read as Windows-1252"}[e]
}

// decoded is a text in UTF-8, with the positions of its bytes in the file.
type decoded struct {
	raw      []byte
	text     []byte
	encoding encoding
	mark     int // length of the byte order mark

	// The place that was asked for last: offsets in the text and in the file. Questions come in order.
	at, there int
}

// decode reads a text. Bytes that are UTF-8 stay as they are; a byte order mark is no part of the text.
func decode(data []byte) *decoded {
	d := &decoded{raw: data, text: data, encoding: encodingOf(data)}
	switch d.encoding {
	case utf8Plain:
	case utf8Marked:
		d.mark = 3
		d.text = data[3:]
	case utf16LE, utf16BE:
		if wide(data) == utf8Plain {
			d.mark = 2
		}
		d.text = decode16(data[d.mark:], d.encoding)
	case utf8Broken:
		if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
			d.mark = 3
		}
		d.text = replaceEach(data[d.mark:])
	case latin:
		d.text = make([]byte, 0, len(data)+len(data)/8)
		for _, c := range data {
			d.text = utf8.AppendRune(d.text, shownRune(charmap.Windows1252.DecodeByte(c)))
		}
	}
	d.there = d.mark
	return d
}

// shownRune returns U+FFFD for NUL, which services refuse and programs take for the end of a text.
func shownRune(r rune) rune {
	if r == 0 {
		return utf8.RuneError
	}
	return r
}

// replaceEach puts U+FFFD for each byte that is NUL or no UTF-8.
func replaceEach(data []byte) []byte {
	out := make([]byte, 0, len(data)+len(data)/16)
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		out = utf8.AppendRune(out, shownRune(r))
		i += n
	}
	return out
}

func decode16(data []byte, e encoding) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		r, n := rune16(data[i:], e)
		out = utf8.AppendRune(out, shownRune(r))
		i += n
	}
	return out
}

// rune16 is the first character, and how many bytes it takes. What is none is U+FFFD.
func rune16(data []byte, e encoding) (r rune, n int) {
	if len(data) < 2 {
		return utf8.RuneError, len(data)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if e == utf16BE {
		order = binary.BigEndian
	}
	r = rune(order.Uint16(data))
	if utf16.IsSurrogate(r) && len(data) >= 4 {
		if pair := utf16.DecodeRune(r, rune(order.Uint16(data[2:]))); pair != utf8.RuneError {
			return pair, 4
		}
	}
	if utf16.IsSurrogate(r) {
		r = utf8.RuneError
	}
	return r, 2
}

// encodingOf guesses. A text that is nearly all UTF-8 is UTF-8, one whose high bytes are mostly not is an older text.
func encodingOf(data []byte) encoding {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			return utf8Broken
		}
		return utf8Marked
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return utf16LE
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return utf16BE
	case wide(data) != utf8Plain:
		return wide(data)
	case utf8.Valid(data) && bytes.IndexByte(data, 0) >= 0:
		return utf8Broken
	case utf8.Valid(data):
		return utf8Plain
	}
	good, bad := 0, 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		i += n
	}
	if good > bad {
		return utf8Broken
	}
	return latin
}

// wide returns how a text in UTF-16 is stored that has no byte order mark, or utf8Plain for any other. Two in five of its characters
// are Latin letters, digits or white space, with a NUL as their high byte, and no low byte is NUL.
func wide(data []byte) encoding {
	if len(data) < headBytes && len(data)%2 != 0 {
		return utf8Plain
	}
	head := data[:min(len(data), headBytes)]
	var nul [2]int
	for i, c := range head {
		if c == 0 {
			nul[i%2]++
		}
	}
	for order, e := range [2]encoding{utf16BE, utf16LE} {
		if nul[1-order] == 0 && nul[order] > 1 && 5*nul[order] >= len(head) && sane16(head, e) {
			return e
		}
	}
	return utf8Plain
}

// sane16 reports whether nearly all characters are ones that texts have.
func sane16(data []byte, e encoding) bool {
	odd, all := 0, 0
	for i := 0; i+1 < len(data); all++ {
		r, n := rune16(data[i:], e)
		if r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			odd++
		}
		i += n
	}
	return 20*odd <= all
}

// place is the offset in the file of an offset in the text. It walks on from the last answer, or again from the start.
func (d *decoded) place(at int) int {
	switch {
	case at == 0 || d.encoding == utf8Plain:
		return at
	case at >= len(d.text):
		return len(d.raw)
	case at < d.at:
		d.at, d.there = 0, d.mark
	}
	for d.at < at {
		_, n := utf8.DecodeRune(d.text[d.at:])
		d.at += n
		d.there += d.width()
	}
	return d.there
}

// width is how many bytes of the file the character at d.there takes.
func (d *decoded) width() int {
	rest := d.raw[d.there:]
	switch d.encoding {
	case latin:
		return 1
	case utf16LE, utf16BE:
		_, n := rune16(rest, d.encoding)
		return n
	}
	_, n := utf8.DecodeRune(rest)
	return n
}
