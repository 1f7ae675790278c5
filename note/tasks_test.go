package note

import (
	"strings"
	"testing"
)

func TestMergeTasks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, note, text, want string }{
		{"one is ticked, one is added", "# A\n## Today\n- [ ] Call mum\n- [x] Bread\n\n## Next\n- [ ] Call mum\n", "- [x] Call mum\n- [ ] Bread\n- [ ] Milk", "# A\n## Today\n- [x] Call mum\n- [x] Bread\n- [ ] Milk\n\n## Next\n- [ ] Call mum\n"},
		{"words without case and blanks", "## Today\n*  [ ]   Call   MUM ^abc\n", "- [X] call mum", "## Today\n*  [x]   Call   MUM ^abc\n"},
		{"a tick has a date", "## Today\n- [x] Milk ✅ 2026-03-01\n", "- [ ] Milk", "## Today\n- [x] Milk ✅ 2026-03-01\n"},
		{"the mark of the list", "## Today\n* [ ] A\n", "- [ ] B", "## Today\n* [ ] A\n* [ ] B\n"},
		{"numbers go on", "## Today\n1. [ ] A\n2. [ ] B\n", "- [ ] C\n- [ ] D", "## Today\n1. [ ] A\n2. [ ] B\n3. [ ] C\n4. [ ] D\n"},
		{"begun is ticked", "## Today\n- [/] A\n", "- [x] A", "## Today\n- [x] A\n"},
		{"other marks stay", "## Today\n- [-] A\n- [>] B\n- [!] C\n- [?] D\n", "- [x] A\n- [x] B\n- [ ] C\n- [/] D", "## Today\n- [-] A\n- [>] B\n- [!] C\n- [?] D\n"},
		{"a new one keeps its mark", "## Today\n- [ ] A\n", "- [/] B", "## Today\n- [ ] A\n- [/] B\n"},
		{"the same words twice", "## Today\n- [x] Water\n- [ ] Water\n", "- [x] Water", "## Today\n- [x] Water\n- [ ] Water\n"},
		{"the second of two", "## Today\n- [x] Water\n- [ ] Water\n", "- [x] Water\n- [x] Water", "## Today\n- [x] Water\n- [x] Water\n"},
		{"a third of two", "## Today\n- [x] Water\n- [ ] Water\n", "- [ ] Water\n- [ ] Water\n- [ ] Water", "## Today\n- [x] Water\n- [ ] Water\n- [ ] Water\n"},
		{"nested in one that is there", "## Today\n- [ ] Trip\n\t- [ ] Pack\n- [ ] B\n", "- [ ] Trip\n  - [x] Pack\n  - [ ] Tickets", "## Today\n- [ ] Trip\n\t- [x] Pack\n\t- [ ] Tickets\n- [ ] B\n"},
		{"the first that is nested", "## Today\n1. [ ] Trip\n2. [ ] B\n", "- [ ] Trip\n  - [ ] Pack\n    - [ ] Socks", "## Today\n1. [ ] Trip\n   - [ ] Pack\n     - [ ] Socks\n2. [ ] B\n"},
		{"the first that is nested, with tabs", "## Today\n- [ ] Trip\n- [ ] B\n\t- [ ] C\n", "- [ ] Trip\n  - [ ] Pack", "## Today\n- [ ] Trip\n\t- [ ] Pack\n- [ ] B\n\t- [ ] C\n"},
		{"the same words in two trips", "## Today\n- [ ] Rome\n  - [ ] Pack\n- [ ] Oslo\n  - [ ] Pack\n", "- [ ] Oslo\n  - [x] Pack", "## Today\n- [ ] Rome\n  - [ ] Pack\n- [ ] Oslo\n  - [x] Pack\n"},
		{"not of another trip", "## Today\n- [ ] Rome\n  - [ ] Pack\n- [ ] Oslo\n", "- [ ] Oslo\n  - [x] Pack", "## Today\n- [ ] Rome\n  - [ ] Pack\n- [ ] Oslo\n  - [x] Pack\n"},
		{"nested in the note alone", "## Today\n- [ ] Rome\n  - [ ] Pack\n", "- [x] Pack", "## Today\n- [ ] Rome\n  - [x] Pack\n"},
		{"nested in the answer alone", "## Today\n- [ ] Pack\n", "- [ ] Rome\n  - [x] Pack\n  - [ ] Map", "## Today\n- [x] Pack\n- [ ] Rome\n  - [ ] Map\n"},
		{"a new one before a nested one", "## Today\n- [ ] A\n", "- [ ] B\n- [ ] A\n  - [ ] A1", "## Today\n- [ ] A\n  - [ ] A1\n- [ ] B\n"},
		{"what is nested in a new one", "## Today\n- [ ] A\n", "- [ ] B\n  why\n  - because\n", "## Today\n- [ ] A\n- [ ] B\n  why\n  - because\n"},
		{"not in code", "## Today\n```\n- [ ] A\n```\n- [ ] B\n", "- [x] A\n- [x] B", "## Today\n```\n- [ ] A\n```\n- [x] B\n- [x] A\n"},
		{"not in a comment", "## Today\n%%\n- [ ] A\n%%\n- [ ] B\n", "- [x] A", "## Today\n%%\n- [ ] A\n%%\n- [ ] B\n- [x] A\n"},
		{"in a callout", "## Today\n> [!todo]\n> - [ ] A\n> - [ ] B\n\nEnd\n", "- [x] A\n- [ ] C", "## Today\n> [!todo]\n> - [x] A\n> - [ ] B\n> - [ ] C\n\nEnd\n"},
		{"not a link", "## Today\n- [x](http://a) A\n- [[x]] A\n", "- [ ] A", "## Today\n- [x](http://a) A\n- [[x]] A\n- [ ] A\n"},
		{"an answer in code", "## Today\n- [ ] A\n", "```markdown\n- [x] A\n```", "## Today\n- [x] A\n"},
		{"the heading again", "## Today\n- [ ] A\n", "## Today\n\n- [x] A", "## Today\n- [x] A\n"},
		{"before what is below a lower heading", "## Today\n- [ ] A\n### Work\n- [ ] B\n## Next\n", "- [ ] C\n- [x] B", "## Today\n- [ ] A\n- [ ] C\n### Work\n- [x] B\n## Next\n"},
		{"no task of its own", "## Today\nText\n\n### Work\n- [ ] B\n", "- [ ] C\n- [ ] D", "## Today\nText\n\n- [ ] C\n- [ ] D\n\n### Work\n- [ ] B\n"},
		{"nothing below the heading", "## Today\n## Next\n", "- [ ] C", "## Today\n\n- [ ] C\n\n## Next\n"},
		{"no heading", "Text\n", "Sure:\n\n- [ ] C\n  - [x] D\n\nBye", "Text\n\n## Today\n\n- [ ] C\n  - [x] D\n"},
		{"a new note", "", "- [ ] C", "## Today\n\n- [ ] C\n"},
		{"no final break", "## Today\n- [ ] A", "- [ ] B\n- [x] A", "## Today\n- [x] A\n- [ ] B"},
		{"CRLF", "## Today\r\n- [ ] A\r\n\r\n## Next\r\n", "- [x] A\n- [ ] B\n  - [ ] C", "## Today\r\n- [x] A\r\n- [ ] B\r\n  - [ ] C\r\n\r\n## Next\r\n"},
		{"no tasks", "## Today\n- [ ] A\n", "Nothing to do.", "## Today\n- [ ] A\n"},
		{"no words", "## Today\n- [ ] \n- [ ] A\n", "- [x] \n- [x] A", "## Today\n- [ ] \n- [x] A\n"},
		{"properties stay", "---\na: 1\n---\n## Today\n- [ ] A\n", "- [x] A", "---\na: 1\n---\n## Today\n- [x] A\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := MergeTasks([]byte(tt.note), "Today", tt.text)
			if err != nil || string(got) != tt.want {
				t.Errorf("MergeTasks(%q, %q):\n%q, %v, want\n%q", tt.note, tt.text, got, err, tt.want)
			}
			if again, _, err := MergeTasks(got, "Today", tt.text); err != nil || string(again) != string(got) {
				t.Errorf("the second time it is %q, %v, want no change", again, err)
			}
		})
	}
}

func TestMergeTasks_left(t *testing.T) {
	t.Parallel()
	note := "## Today\nMine\n- [-] A\n"
	got, left, err := MergeTasks([]byte(note), "Today", "Sure:\n\nMine\n\n- [x] A\nBye!")
	said := strings.Join(left, "\n")
	if err != nil || string(got) != note || !strings.Contains(said, `the task "A" is marked [-]`) || !strings.Contains(said, "2 lines of the answer were left out") || !strings.Contains(said, "Sure:") {
		t.Errorf("%q, %q, %v", got, left, err)
	}
}

func TestAppendSection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, note, text, want string }{
		{"an item joins its list", "## Today\n- a\n\n## Next\nb\n", "- c", "## Today\n- a\n- c\n\n## Next\nb\n"},
		{"an item joins a nested list", "## Today\n- a\n  - b\n## Next\n", "- c", "## Today\n- a\n  - b\n- c\n## Next\n"},
		{"text follows a blank line", "## Today\na\n## Next\n", "c\nd", "## Today\na\n\nc\nd\n## Next\n"},
		{"a list behind text", "## Today\na\n", "- c", "## Today\na\n\n- c\n"},
		{"a row joins its table", "## Today\n|a|\n|-|\n|b|\n", "|c|", "## Today\n|a|\n|-|\n|b|\n|c|\n"},
		{"a row with the same head", "## Today\n| a | b |\n|-|-:|\n|1|2|\n", "|A|b|\n| --- | --- |\n| 3 | 4 |", "## Today\n| a | b |\n|-|-:|\n|1|2|\n| 3 | 4 |\n"},
		{"the head alone again", "## Today\r\n|a|b|\r\n|-|-|\r\n", "|a|b|\n|-|-|", "## Today\r\n|a|b|\r\n|-|-|\r\n"},
		{"a row with another head", "## Today\n|a|\n|-|\n|1|\n", "|b|\n|-|\n|2|", "## Today\n|a|\n|-|\n|1|\n\n|b|\n|-|\n|2|\n"},
		{"before lower headings", "# Today\na\n\n## Log\nb\n# Next\n", "c", "# Today\na\n\nc\n\n## Log\nb\n# Next\n"},
		{"a heading comes last", "# Today\na\n\n## Log\nb\n\n# Next\n", "## More\nc", "# Today\na\n\n## Log\nb\n\n## More\nc\n\n# Next\n"},
		{"before an underlined heading", "# Today\n- a\nNext\n====\n", "- c", "# Today\n- a\nNext\n====\n\n- c\n"},
		{"nothing there", "## Today\n## Next\n", "c", "## Today\n\nc\n\n## Next\n"},
		{"no heading", "a\n", "c", "a\n\n## Today\n\nc\n"},
		{"the heading again", "## Today\n- a\n", "## Today\n- c", "## Today\n- a\n- c\n"},
		{"no final break", "## Today\n- a", "- c", "## Today\n- a\n- c"},
		{"CRLF", "## Today\r\n  a\r\n\r\n\r\n## Next\r\n", "c\nd", "## Today\r\n  a\r\n\r\nc\r\nd\r\n\r\n\r\n## Next\r\n"},
		{"an empty answer", "## Today\n- a\n", "\n", "## Today\n- a\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := AppendSection([]byte(tt.note), "Today", tt.text)
			if err != nil || string(got) != tt.want {
				t.Errorf("AppendSection(%q, %q):\n%q, %v, want\n%q", tt.note, tt.text, got, err, tt.want)
			}
		})
	}
	if got, err := AppendSection([]byte("## Today\na\n## Next\nb\n"), "Today", "```\nopen"); err == nil {
		t.Errorf("a code block that is left open gives %q, want an error", got)
	}
}
