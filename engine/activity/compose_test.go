package activity

import "testing"

func TestCompose(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, old, answer, want string
		c                       composition
	}{
		{"new file", "", "\nHello\n\n", "Hello\n", composition{append: true}},
		{"append", "One\n", "Two", "One\n\nTwo\n", composition{append: true}},
		{"append keeps a missing final newline", "One", "Two", "One\n\nTwo", composition{append: true}},
		{"append keeps CRLF", "One\r\nmore\r\n", "Two\nlines", "One\r\nmore\r\n\r\nTwo\r\nlines\r\n", composition{append: true}},
		{"replace", "Old\n", "New", "New\n", composition{}},
		{"replace keeps properties", "---\ntags: [a]\n---\nOld\n", "New", "---\ntags: [a]\n---\n\nNew\n", composition{}},
		{"replace with own properties", "---\na: 1\n---\nOld\n", "---\nb: 2\n---\nNew", "---\nb: 2\n---\nNew\n", composition{}},
		{"an unclosed frontmatter is text", "---\na: 1\nOld\n", "New", "New\n", composition{}},
		{"header", "", "Text", "# Title\n\nText\n", composition{header: "Title"}},
		{"header with its own level", "A\n", "Text", "A\n\n## Title\n\nText\n", composition{header: "## Title", append: true}},
		{"append to an empty file", "", "Text", "Text\n", composition{append: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := string(tt.c.compose([]byte(tt.old), tt.answer)); got != tt.want {
				t.Errorf("compose(%q, %q) = %q, want %q", tt.old, tt.answer, got, tt.want)
			}
		})
	}
}
