package note

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/chunking"
)

func TestReplaceSection(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, note, heading, text, want string }{
		{"in the middle", "# A\n\n## Plan\n\nold\nlines\n\n## Next\nrest\n", "Plan", "new", "# A\n\n## Plan\n\nnew\n\n## Next\nrest\n"},
		{"with its subsections", "## Plan\nold\n### Deep\nmore\n# Top\n", "Plan", "new", "## Plan\nnew\n# Top\n"},
		{"at the end", "## Plan\nold\n", "plan", "new\nlines\n", "## Plan\nnew\nlines\n"},
		{"missing final newline", "## Plan\nold", "Plan", "new", "## Plan\nnew"},
		{"no text yet", "## Plan\n## Next\n", "Plan", "new", "## Plan\n\nnew\n\n## Next\n"},
		{"blank lines only", "## Plan\n\n\n## Next\n", "Plan", "new", "## Plan\n\nnew\n\n## Next\n"},
		{"one blank line only", "## Plan\n\n## Next\n", "Plan", "new", "## Plan\n\nnew\n\n## Next\n"},
		{"the heading ends the file", "Text\n\n## Plan", "Plan", "new", "Text\n\n## Plan\n\nnew"},
		{"the heading's line ends the file", "## Plan\n", "Plan", "new", "## Plan\n\nnew\n"},
		{"setext", "Plan\nof mine\n---\nold\n\nNext\n====\n", "Plan of mine", "new", "Plan\nof mine\n---\nnew\n\nNext\n====\n"},
		{"CRLF", "## Plan\r\n\r\nold\r\n\r\n## Next\r\n", "Plan", "a\nb", "## Plan\r\n\r\na\r\nb\r\n\r\n## Next\r\n"},
		{"missing", "Text\n", "Plan", "new", "Text\n\n## Plan\n\nnew\n"},
		{"missing, level given", "Text", "### Plan", "new", "Text\n\n### Plan\n\nnew"},
		{"missing, blank line there", "Text\n\n", "Plan", "new", "Text\n\n## Plan\n\nnew\n"},
		{"missing, CRLF", "Text\r\n", "Plan", "new", "Text\r\n\r\n## Plan\r\n\r\nnew\r\n"},
		{"new file", "", "Plan", "new", "## Plan\n\nnew\n"},
		{"a heading in code is none", "```\n## Plan\n```\n", "Plan", "new", "```\n## Plan\n```\n\n## Plan\n\nnew\n"},
		{"punctuation as Obsidian has it", "## What: C# (now)\nold\n", "What C# now", "new", "## What: C# (now)\nnew\n"},
		{"the model repeats the heading", "## Plan\n\nold\n", "Plan", "## Plan\n\nnew", "## Plan\n\nnew\n"},
		{"properties stay", "---\na: 1\n---\n## Plan\nold\n", "Plan", "new", "---\na: 1\n---\n## Plan\nnew\n"},
		{"closing marks", "## Plan ##\nold\n", "Plan", "new", "## Plan ##\nnew\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ReplaceSection([]byte(tt.note), tt.heading, tt.text)
			if err != nil || string(got) != tt.want {
				t.Errorf("section %q of %q: %q, %v, want %q", tt.heading, tt.note, got, err, tt.want)
			}
			if again, err := ReplaceSection(got, tt.heading, tt.text); err != nil || string(again) != string(got) {
				t.Errorf("again: %q, %v, want no change of %q", again, err, got)
			}
		})
	}
}

func TestReplaceSection_refused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ note, heading, text string }{
		{"```\nopen code\n", "Plan", "new"},
		{"Text\n", "##", "new"},
		{"More\n", "", "new"},
		{"## Plan\nold\n## Next\nrest\n", "Plan", "```\nopen code"},
	} {
		if got, err := ReplaceSection([]byte(tt.note), tt.heading, tt.text); err == nil {
			t.Errorf("section %q of %q = %q, want an error", tt.heading, tt.note, got)
		}
	}
}

func TestReplaceSection_answerWithHeadings(t *testing.T) {
	t.Parallel()
	note := []byte("## Plan\nold\n## Next\nrest\n")
	got, err := ReplaceSection(note, "Plan", "a\n\n## More\n\nb")
	if want := "## Plan\na\n\n## More\n\nb\n\n## Next\nrest\n"; err != nil || string(got) != want || !Spills(got, "Plan", "a\n\n## More\n\nb") {
		t.Errorf("got %q, %v, Spills %t, want %q and spills", got, err, Spills(got, "Plan", "b"), want)
	}
	if deep, err := ReplaceSection(note, "Plan", "a\n\n### More\n\nb"); err != nil || Spills(deep, "Plan", "a\n\n### More\n\nb") {
		t.Errorf("got %q, %v: a deeper heading ends no section", deep, err)
	}
}

// TestReplaceSection_touchesNothingElse replaces sections of random notes: the bytes before and behind the section are
// the old ones, the blank lines around its text too, and the section holds the text.
func TestReplaceSection_touchesNothingElse(t *testing.T) {
	t.Parallel()
	lines := []string{"# A\n", "## B\n", "### C\n", "text\n", "\n", "- item\n", "  indented  \n", "> quote\n", "## B\n", "```\n## B\n```\n", "D\n---\n", "a | b\n"}
	found := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 11))
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(lines[r.IntN(len(lines))])
		}
		note := b.String()
		if r.IntN(4) == 0 {
			note = strings.TrimSuffix(note, "\n")
		}
		if r.IntN(3) == 0 {
			note = strings.ReplaceAll(note, "\n", "\r\n")
		}
		heading := []string{"A", "B", "C", "D"}[r.IntN(4)]
		got, err := ReplaceSection([]byte(note), heading, "new\ntext")
		if err != nil {
			t.Fatalf("seed %d: %v in %q", seed, err, note)
		}
		start, end, ok := chunking.Section([]byte(note), heading)
		if !ok {
			if !bytes.HasPrefix(got, []byte(note)) {
				t.Fatalf("seed %d: %q became %q", seed, note, got)
			}
			continue
		}
		found++
		if !bytes.HasPrefix(got, []byte(note[:start])) || !bytes.HasSuffix(got, []byte(note[end:])) {
			t.Fatalf("seed %d: section %s of %q became %q", seed, heading, note, got)
		}
		from, to, ok := chunking.Section(got, heading)
		if !ok || from != start || string(got[to:]) != note[end:] {
			t.Fatalf("seed %d: section %s of %q is not where it was in %q", seed, heading, note, got)
		}
		want := "new" + LineEnd([]byte(note)) + "text"
		body := string(got[from+headingLength(got[from:to]) : to])
		if strings.TrimSpace(body) != want {
			t.Fatalf("seed %d: section %s of %q holds %q", seed, heading, note, body)
		}
	}
	if found < 1000 {
		t.Fatalf("only %d notes had the heading", found)
	}
}
