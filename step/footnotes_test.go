package step

import (
	"regexp"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
)

// labels are those of footnotes, as digests.
var labels = regexp.MustCompile(`\[\^([0-9a-f]{6,})\]`)

// numbered gives footnotes numbers in place of digests, in the order of their first mark.
func numbered(text string) string {
	seen := map[string]string{}
	return labels.ReplaceAllStringFunc(text, func(label string) string {
		if seen[label] == "" {
			seen[label] = "[^" + string(rune('1'+len(seen))) + "]"
		}
		return seen[label]
	})
}

func TestFootnoted(t *testing.T) {
	t.Parallel()
	// cite is a citation for the last words of an answer that begin and end with given ones.
	cite := func(text, words, passage string, from, to int) llm.Citation {
		at := strings.LastIndex(text, words)
		return llm.Citation{Start: at, End: at + len(words), Document: "report.pdf", From: from, To: to, Text: passage}
	}
	for _, c := range []struct {
		name, text string
		citations  func(text string) []llm.Citation
		want       string
	}{
		{"none", "Plain.\n", func(string) []llm.Citation { return nil }, "Plain.\n"},
		{"one page", "Größe is 5. And so on.\n", func(s string) []llm.Citation {
			return []llm.Citation{cite(s, "Größe is 5.", "size: 5", 3, 3)}
		}, "Größe is 5.[^1] And so on.\n\n[^1]: [[report.pdf#page=3]]: “size: 5”"},
		{"several pages, without words", "It is.", func(s string) []llm.Citation {
			return []llm.Citation{cite(s, "It is.", " \n", 3, 5)}
		}, "It is.[^1]\n\n[^1]: [[report.pdf#page=3]] to page 5"},
		{"no page", "It is.", func(s string) []llm.Citation {
			return []llm.Citation{cite(s, "It is.", "so", 0, 0)}
		}, "It is.[^1]\n\n[^1]: [[report.pdf]]: “so”"},
		{"one passage for two sentences, and two for one", "One.\nTwo.\n", func(s string) []llm.Citation {
			return []llm.Citation{
				cite(s, "Two.\n", "a", 1, 1), cite(s, "Two.\n", "b", 2, 2), cite(s, "Two.\n", "a", 1, 1), cite(s, "One.", "b", 2, 2),
			}
		}, "One.[^1]\nTwo.[^2][^1]\n\n[^1]: [[report.pdf#page=2]]: “b”\n[^2]: [[report.pdf#page=1]]: “a”"},
		{"offsets that are none", "Short.", func(string) []llm.Citation {
			return []llm.Citation{{Start: -1, End: 2}, {Start: 2, End: 90}, {Start: 3, End: 3}, {Start: 5, End: 2}}
		}, "Short."},
		{"blank words", "A  \n\nB", func(string) []llm.Citation { return []llm.Citation{{Start: 1, End: 4, Document: "a"}} }, "A  \n\nB"},
		{"the last cell of a table", "| a | b |\n|---|---|\n| c | d |\n", func(s string) []llm.Citation {
			return []llm.Citation{cite(s, "| c | d |\n", "x", 1, 1)}
		}, "| a | b |\n|---|---|\n| c | d[^1] |\n\n[^1]: [[report.pdf#page=1]]: “x”"},
		{"code", "See:\n```sh\nls [^a]\n```\nDone `x`.", func(s string) []llm.Citation {
			return []llm.Citation{cite(s, "ls", "x", 1, 1), cite(s, "```\n", "y", 1, 1)}
		}, "See:\n```sh\nls [^a]\n```\n\n[^1][^2]\nDone `x`.\n\n[^1]: [[report.pdf#page=1]]: “x”\n[^2]: [[report.pdf#page=1]]: “y”"},
		{"code that never ends", "See.\n````\n```\n", func(s string) []llm.Citation {
			return []llm.Citation{cite(s, "See.", "x", 1, 1)}
		}, "See.\n````\n```\n"},
		{"a passage that would be more than text", "It is.", func(s string) []llm.Citation {
			return []llm.Citation{cite(s, "It is.", "a]]\n\n# H\r\n[^1]: ![[x]] #tag %% `c` <b> $1$ \\ k:: v ==h== http://e.example\u202e\u00ad*b* _i_ {{t}} &lt; ~s~ | ^id", 1, 1)}
		}, "It is.[^1]\n\n[^1]: [[report.pdf#page=1]]: “a\\]\\] \\# H \\[\\^1\\]: !\\[\\[x\\]\\] \\#tag \\%\\% \\`c\\` \\<b\\> \\$1\\$ \\\\ k\\:\\: v \\=\\=h\\=\\= http:\\/\\/e.example\\*b\\* \\_i\\_ \\{\\{t\\}\\} \\&lt; \\~s\\~ \\| \\^id”"},
		{"a long passage", "It is.", func(s string) []llm.Citation {
			return []llm.Citation{cite(s, "It is.", strings.Repeat("ä", 300), 1, 1)}
		}, "It is.[^1]\n\n[^1]: [[report.pdf#page=1]]: “" + strings.Repeat("ä", 240) + " …”"},
	} {
		if got := numbered(footnoted(c.text, c.citations(c.text))); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

// TestFootnoted_names: a name that would end its link or begin something else stands as text.
func TestFootnoted_names(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Files/My report (2).pdf": "[[Files/My report (2).pdf#page=3]]",
		"50% off.pdf":             "[[50% off.pdf#page=3]]",
		"a]] [[b.pdf":             `a\]\] \[\[b.pdf, page 3`,
		"a|b#c^d.pdf":             `a\|b\#c\^d.pdf, page 3`,
		"a\nb.pdf":                "a b.pdf, page 3",
		"%%a.pdf":                 `\%\%a.pdf, page 3`,
	} {
		got := footnoted("x", []llm.Citation{{End: 1, Document: name, From: 3, To: 3}})
		if _, note, _ := strings.Cut(got, "]: "); note != want {
			t.Errorf("%q: %q, want %q", name, note, want)
		}
	}
}

// TestFootnoted_labels: they are the same for the same passage, in whatever answer, and never one that the answer has.
func TestFootnoted_labels(t *testing.T) {
	t.Parallel()
	citation := llm.Citation{End: 1, Document: "a.pdf", From: 3, To: 3, Text: "so"}
	first := labels.FindString(footnoted("x", []llm.Citation{citation}))
	if again := labels.FindString(footnoted("y z", []llm.Citation{citation})); again != first || first == "" {
		t.Errorf("labels %q and %q, want one", first, again)
	}
	taken := footnoted("x, as I said"+first, []llm.Citation{citation})
	if found := labels.FindAllString(taken, -1); len(found) != 3 || found[0] == first || found[1] != first || found[2] != found[0] {
		t.Errorf("labels %q in %q", found, taken)
	}
}
