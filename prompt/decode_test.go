package prompt

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

func TestDecode_guesses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		data string
		want encoding
		text string
	}{
		{"", utf8Plain, ""},
		{"Grün", utf8Plain, "Grün"},
		{"\xef\xbb\xbfa", utf8Marked, "a"},
		{"\xff\xfea\x00\x3d\xd8\x00\xde", utf16LE, "a😀"},
		{"\xfe\xff\x00a\xd8\x3d", utf16BE, "a\uFFFD"},
		{"\xff\xfea\x00b", utf16LE, "a\uFFFD"},
		{"Gr\xfcn", latin, "Grün"},
		{"\x80uro", latin, "€uro"},
		{"Grün Öl \xff", utf8Broken, "Grün Öl \uFFFD"},
		{"a\x00b", utf8Broken, "a\uFFFDb"},
		{"ab\x00c", utf8Broken, "ab\uFFFDc"},
		{"Gr\xfcn\x00", latin, "Grün\uFFFD"},
		{"\xef\xbb\xbfa\x00", utf8Broken, "a\uFFFD"},
		{"\xff\xfea\x00\x00\x00", utf16LE, "a\uFFFD"},
		{"G\x00r\x00\xfc\x00n\x00", utf16LE, "Grün"},
		{"\x00H\x00i\x26\x3a\x00.", utf16BE, "Hi☺."},
	} {
		if d := decode([]byte(c.data)); d.encoding != c.want || string(d.text) != c.text {
			t.Errorf("%q: %q as %s, want %q as %s", c.data, d.text, d.encoding, c.text, c.want)
		}
	}
}

// FuzzDecode: the text is UTF-8, and the places of its characters in the file ascend and cover it.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "abc", "\xff\xfe", "\xff\xfea\x00\x3d\xd8\x00\xde", "\xfe\xff\x00a\xd8", "Gr\xfcn", "Grün \xff", "\xef\xbb\xbfx", "\uFFFD\xff\uFFFD\uFFFD", "a\x00b", "a\x00b\x00", "\xef\xbb\xbf\x00"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, back int) {
		d := decode(data)
		if !utf8.Valid(d.text) {
			t.Fatalf("%q is no UTF-8", d.text)
		}
		last := 0
		for at := range string(d.text) {
			place := d.place(at)
			if at > 0 && place <= last || place > len(data) {
				t.Fatalf("byte %d of %q stands at %d, behind %d", at, d.text, place, last)
			}
			last = place
		}
		if got := d.place(len(d.text)); got != len(data) && len(d.text) > 0 {
			t.Errorf("the end stands at %d of %d", got, len(data))
		}
		if d.encoding == utf8Plain && !bytes.Equal(d.text, data) {
			t.Errorf("%q became %q", data, d.text)
		}
		if back = min(max(back, 0), len(d.text)); back > 0 && back < len(d.text) && utf8.RuneStart(d.text[back]) {
			if first, again := d.place(back), d.place(back); first != again {
				t.Errorf("place %d is %d, then %d", back, first, again)
			}
		}
	})
}
