package note

import "testing"

func TestNested(t *testing.T) {
	t.Parallel()
	const log = "# Day\n\n## Log\n\nold\n\n## After\n"
	for _, tt := range []struct{ note, heading, text, want string }{
		{log, "Log", "a\n\n### Deep\nb", "a\n\n### Deep\nb"},
		{log, "Log", "# Summary\na\n## Part\n\nb", "### Summary\na\n#### Part\n\nb"},
		{log, "Log", "## Log\n\na\n\n## More\nb", "a\n\n### More\nb"},
		{log, "# Log", "## More\nb", "### More\nb"}, // the note's heading has level 2
		{"", "# Log", "# More\nb", "## More\nb"},
		{log, "Log", "```\n# code\n```\n#tag\n", "```\n# code\n```\n#tag"},
		{log, "Log", "Title\n=====\n\ntext\n\nPart\n---\nb", "### Title\n\ntext\n\n#### Part\nb"},
		{"##### Low\n", "Low", "# A\n\n## B\n\n### C", "###### A\n\n###### B\n\n###### C"},
		{"- [ ] x\n\n## Log\n", "Log", "# A #\nb\n#", "### A #\nb\n### "},
	} {
		if got := Nested([]byte(tt.note), tt.heading, tt.text); got != tt.want {
			t.Errorf("%q below %q:\ngot  %q\nwant %q", tt.text, tt.heading, got, tt.want)
		}
	}
}

// An answer with headings replaces the one before it, however often.
func TestNested_isReplaced(t *testing.T) {
	t.Parallel()
	data := []byte("# Day\n\n## Log\n\nmine\n\n## After\n\nmine too\n")
	var own []string
	for range 3 {
		text := Nested(data, "Log", "# Summary\n\na\n\n## Part\n\nb")
		var err error
		if data, _, err = RenewSection(data, "Log", text, own); err != nil {
			t.Fatal(err)
		}
		own = []string{text}
	}
	if want := "# Day\n\n## Log\n\nmine\n\n### Summary\n\na\n\n#### Part\n\nb\n\n## After\n\nmine too\n"; string(data) != want {
		t.Errorf("got %q", data)
	}
}
