package prompt

import (
	"bytes"
	"strings"
	"testing"
)

// A text with a few NUL bytes is one; a file of other bytes is not, whatever its name.
func TestRecognise_textWithNul(t *testing.T) {
	t.Parallel()
	wide := strings.ReplaceAll("A note in UTF-16.\n", "", "\x00")[1:]
	for _, tt := range []struct {
		name string
		head string
		want kind
	}{
		{"a.md", "a\x00b", kindMarkdown},
		{"a.txt", "one line\x00\x00\nanother\n", kindText},
		{"a.md", wide, kindMarkdown},
		{"a.txt", wide, kindText},
		{"a.md", string(bytes.Repeat([]byte{0}, 100)), kindOpaque},
		{"a.md", "\x00\x01\x02\x03\xfe\xff\x90\x80\x00\x01", kindOpaque},
		{"a.bin", "one\x00\x01\x02", kindOpaque},
		{"a", "one\x00two", kindOpaque},
		{"a.md", "PK\x03\x04\x00\x00", kindOpaque},
	} {
		if got := recognise(tt.name, []byte(tt.head)); got.kind != tt.want {
			t.Errorf("%s %.20q: got %d, want %d", tt.name, tt.head, got.kind, tt.want)
		}
	}
}
