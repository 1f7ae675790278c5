package mail

import (
	"fmt"
	"testing"
)

func TestRead_isBounded(t *testing.T) {
	t.Parallel()
	deep := "Subject: deep\n"
	for i := range 40 {
		deep += fmt.Sprintf("Content-Type: multipart/mixed; boundary=level%d.\n\n--level%d.\n", i, i)
	}
	if _, _, err := Read([]byte(deep)); err == nil {
		t.Error("a message of 40 levels was taken")
	}
	if _, _, err := Read([]byte("no header at all")); err == nil {
		t.Error("text without a header was taken")
	}
}

// Without a blank line, Markdown shows an answer within the quote that it follows: as words of somebody else.
func TestLines_endsQuotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ada wrote:\n> Can you come?\nNo.\n> How many?\nSeven.": "Ada wrote:\n\n> Can you come?\n\nNo.\n\n> How many?\n\nSeven.",
		">> a\n> b\nc":       ">> a\n>\n> b\n\nc",
		"> > > a\n> b":       "> > > a\n>\n> b",
		"> a\n>> b":          "> a\n>> b",
		"> a\n> b\n\nc":      "> a\n> b\n\nc",
		"> C:\\\nb\n\n\n> c": "> C:\\\n\nb\n\n\n> c",
		"> a\n>\nb\nc":       "> a\n>\n\nb\\\nc",
	} {
		if got := Lines(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("From: a\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Transfer-Encoding: base64\n\nAA==\n--x--"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, parts, err := Read(data)
		if err != nil {
			return
		}
		for _, p := range parts {
			_ = p.Text()
		}
		if len(parts) > maxParts {
			t.Errorf("%d parts", len(parts))
		}
	})
}
