package pdftest

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// writer collects numbered objects and writes them with their cross-reference table.
type writer struct {
	objects [][]byte // object n is at n-1
	crypt   *cipher  // nil when the document is not encrypted
}

func (w *writer) reserve() int {
	w.objects = append(w.objects, nil)
	return len(w.objects)
}

func (w *writer) put(n int, body string) { w.objects[n-1] = []byte(body) }

func (w *writer) putStream(n int, entries string, data []byte) {
	if w.crypt != nil {
		data = w.crypt.apply(n, data)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<< /Length %d %s >>\nstream\n", len(data), entries)
	b.Write(data)
	b.WriteString("\nendstream")
	w.objects[n-1] = b.Bytes()
}

// str is a text string of object n: UTF-16 in hex, encrypted when the document is.
func (w *writer) str(n int, text string) string {
	data := []byte{0xfe, 0xff}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = append(data, byte(unit>>8), byte(unit))
	}
	if isASCII(text) {
		data = []byte(text)
	}
	if w.crypt != nil {
		data = w.crypt.apply(n, data)
	}
	return fmt.Sprintf("<%X>", data)
}

func (w *writer) write(out *bytes.Buffer, catalog, info int) {
	out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(w.objects))
	for i, object := range w.objects {
		offsets[i] = out.Len()
		fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(out, "%010d 00000 n \n", at)
	}
	encrypt := ""
	if w.crypt != nil {
		encrypt = w.crypt.dictionary()
	}
	fmt.Fprintf(out, "trailer\n<< /Size %d /Root %s /Info %s%s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, ref(catalog), ref(info), encrypt, start)
}

// literal is a string of a content stream in WinAnsiEncoding. What that cannot write becomes a question mark.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('(')
	for _, r := range text {
		c, ok := charmap.Windows1252.EncodeRune(r)
		switch {
		case !ok:
			b.WriteByte('?')
		case c == '(' || c == ')' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c > 0x7e:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte(')')
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] > 0x7e {
			return false
		}
	}
	return true
}
