package step

import (
	"testing"

	"github.com/vaultflow/vaultflow/directives"
)

var appends = directives.WriteMode{Mode: directives.ModeAppend}

func TestCompose(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, old, answer, want string
		c                       composition
	}{
		{"new file", "", "\nHello\n\n", "Hello\n", composition{mode: appends}},
		{"append", "One\n", "Two", "One\n\nTwo\n", composition{mode: appends}},
		{"append keeps a missing final newline", "One", "Two", "One\n\nTwo", composition{mode: appends}},
		{"append keeps CRLF", "One\r\nmore\r\n", "Two\nlines", "One\r\nmore\r\n\r\nTwo\r\nlines\r\n", composition{mode: appends}},
		{"replace", "Old\n", "New", "New\n", composition{}},
		{"replace keeps properties", "---\ntags: [a]\n---\nOld\n", "New", "---\ntags: [a]\n---\n\nNew\n", composition{}},
		{"replace with own properties", "---\na: 1\n---\nOld\n", "---\nb: 2\n---\nNew", "---\nb: 2\n---\nNew\n", composition{}},
		{"an unclosed frontmatter is text", "---\na: 1\nOld\n", "New", "New\n", composition{}},
		{"header", "", "Text", "# Title\n\nText\n", composition{header: "Title"}},
		{"header with its own level", "A\n", "Text", "A\n\n## Title\n\nText\n", composition{header: "## Title", mode: appends}},
		{"append leaves mixed line ends", "a\nb\r\nc\n", "Two", "a\nb\r\nc\n\nTwo\n", composition{mode: appends}},
		{"JSON lines", "{\"a\":1}\n", "{\"a\":2}", "{\"a\":1}\n{\"a\":2}\n", composition{mode: appends, lines: true}},
		{"replace keeps CRLF properties", "---\r\ntags: [a]\r\n---\r\nOld\r\n", "New", "---\r\ntags: [a]\r\n---\r\n\r\nNew\r\n", composition{}},
		{"append to an empty file", "", "Text", "Text\n", composition{mode: appends}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, _, err := tt.c.compose([]byte(tt.old), tt.answer); err != nil || string(got) != tt.want {
				t.Errorf("compose(%q, %q) = %q, %v, want %q", tt.old, tt.answer, got, err, tt.want)
			}
		})
	}
}
