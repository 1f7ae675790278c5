package note

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestRenewSection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, had, own, text, want string }{
		{"nothing of others", "a\n\nb", "a\n\nb", "c\nd", "c\nd"},
		{"a line at the end", "a\n\nMINE", "a", "b\n\nc", "b\n\nc\n\nMINE"},
		{"right below the text", "a\nMINE", "a", "a", "a\nMINE"},
		{"below a text that grows", "a\n\nMINE", "a", "a\n\nb", "a\n\nb\n\nMINE"},
		{"at the top", "MINE\n\na", "a", "b", "MINE\n\nb"},
		{"between lines that stay", "a\nMINE\nb", "a\nb", "a\nb\nc", "a\nMINE\nb\nc"},
		{"below a line that goes", "a\n\nold\nMINE\n\nb", "a\n\nold\n\nb", "a\n\nnew\n\nb", "a\n\nnew\n\nMINE\n\nb"},
		{"an edited line", "- a (or b)\n- c", "- a\n- c", "- a\n- c\n- d", "- a (or b)\n- a\n- c\n- d"},
		{"a deleted line", "- c", "- a\n- c", "- a\n- c", "- a\n- c"},
		{"nothing known: a person wrote it", "My plan\nfor today", "", "new", "My plan\nfor today\n\nnew"},
		{"the answer has the line, too", "a\nMINE", "a", "b\nMINE", "b\nMINE"},
		{"a line that was moved", "b\na\nMINE", "a\nb", "a\nb", "a\nb\n\nMINE"},
		{"in a list", "- a\n- MINE\n- b", "- a\n- b", "- c\n- d", "- c\n- d\n- MINE"},
		{"below an item", "- a\n  - MINE\n- b", "- a\n- b", "- a\n- c", "- a\n  - MINE\n- c"},
		{"below an item that goes", "- x\n- a\n  - MINE\n- b", "- x\n- a\n- b", "- c", "- c\n- a\n  - MINE"},
		{"below the last item, which stays", "- a\n  MINE", "- a", "- a\n- b", "- a\n  MINE\n- b"},
		{"a row", "| a | b |\n|---|---|\n| 1 | 2 |\n| MINE | 3 |", "| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 4 | 5 |", "| a | b |\n|---|---|\n| 4 | 5 |\n| MINE | 3 |"},
		{"a table of its own", "t\n\n| MINE | b |\n|---|---|\n| 1 | 2 |", "t\n\n| a | b |\n|---|---|\n| 3 | 4 |", "| a | b |\n|---|---|\n| 5 | 6 |", "| a | b |\n|---|---|\n| 5 | 6 |\n\n| MINE | b |\n|---|---|\n| 1 | 2 |"},
		{"code with the same fences", "t\n\n```\na\n```\n\n```\nMINE\n```", "t\n\n```\na\n```", "u\n\n```\nb\n```", "u\n\n```\nb\n```\n\n```\nMINE\n```"},
		{"edited code", "```\na MINE\n```", "```\na\n```", "```\nb\n```", "```\na MINE\n```\n\n```\nb\n```"},
		{"code that nothing closes", "a\n\n```\nMINE", "a", "b", "b\n\n```\nMINE"},
		{"a comment", "%%\nMINE\n%%\na", "a", "b", "%%\nMINE\n%%\n\nb"},
		{"a heading of their own", "a\n\n### MINE\n\nwords", "a", "b", "b\n\n### MINE\n\nwords"},
		{"a rule behind their words", "a\n\n---\n\nMINE\n\n---\n\nb", "a\n\n---\n\nb", "c", "c\n\nMINE\n\n---"},
		{"blanks at ends of lines", "a  \n b", "a\nb", "c", "c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, eol := range []string{"\n", "\r\n"} {
				in := func(text string) string {
					return strings.ReplaceAll("# Note\n\n## Log\n\n"+text+"\n\n## Next\nrest\n", "\n", eol)
				}
				got, kept, err := RenewSection([]byte(in(tt.had)), "Log", tt.text, []string{tt.own})
				if err != nil || tt.name != "code that nothing closes" && string(got) != in(tt.want) {
					t.Errorf("%q, %v, want %q", got, err, in(tt.want))
				}
				if strings.Contains(tt.had, "MINE") && !strings.Contains(string(got), "MINE") {
					t.Errorf("%q: the words of others are gone", got)
				}
				again, keptAgain, err := RenewSection(got, "Log", tt.text, []string{tt.text})
				if err != nil || string(again) != string(got) {
					t.Errorf("again: %q (kept %q, then %q), %v", again, kept, keptAgain, err)
				}
			}
		})
	}
}

// However texts of two writers are mixed: no line of the other one is lost, none is added, and a text without them is the new one.
func TestRenewSection_losesNoLine(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "- b", "  - c", "```\nd\n```", "| e |\n|---|\n| f |", "---", "### g", "\n", "> h", "~~~", "$$\ni\n$$", "<!-- j", "k -->", "1. l"}
	any := func(r *rand.Rand, mark string) (lines []string) {
		for range r.IntN(8) {
			lines = append(lines, strings.ReplaceAll(pieces[r.IntN(len(pieces))], "a", "a"+mark))
		}
		return lines
	}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		own, next := any(r, ""), strings.Join(any(r, "2"), "\n")
		had := slices.Clone(own)
		for n := range r.IntN(4) {
			had = slices.Insert(had, r.IntN(len(had)+1), strings.Repeat(" ", r.IntN(3))+"MINE"+string(rune('A'+n)))
		}
		text, kept := renew(strings.Join(had, "\n"), next, []string{strings.Join(own, "\n")})
		for _, line := range strings.Split(strings.Join(had, "\n"), "\n") {
			if strings.Contains(line, "MINE") && strings.Count(text, strings.TrimSpace(line)) != 1 {
				t.Fatalf("seed %d: %q became %q, which has %q not once", seed, had, text, line)
			}
		}
		for _, u := range unitsOf(next) {
			if !contains(unitsOf(text), u) && len(kept) > 0 && !strings.Contains(text, u.text) {
				t.Fatalf("seed %d: %q became %q without %q", seed, had, text, u.text)
			}
		}
		if len(had) == len(own) && len(kept) > 0 {
			t.Fatalf("seed %d: of its own text %q, %q was kept", seed, own, kept)
		}
	}
}
