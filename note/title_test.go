package note

import "testing"

func TestTitle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"---\ntitle: \"A:  B\"\n---\n# Other\n":        "A: B",
		"---\ntitle: 2026\n---\n":                      "2026",
		"---\ntitle:\n---\n```\n# code\n```\n## C\n":   "C",
		"---\ntitle: [a]\n---\n> # quoted\n\nD\n===\n": "D",
		"---\n: {\n---\n# E":                           "E",
		"text":                                         "",
	} {
		if got := Title([]byte(text)); got != want {
			t.Errorf("Title(%q) = %q, want %q", text, got, want)
		}
	}
}
