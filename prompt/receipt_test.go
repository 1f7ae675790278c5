package prompt_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/prompt"
)

// A warning in words says where it stands, the target as written, and similar names, each once.
func TestWarning_words(t *testing.T) {
	t.Parallel()
	for want, w := range map[string]prompt.Warning{
		"the prompt is full": {Message: "the prompt is full"},
		"n.md: too large":    {Note: "n.md", Message: "too large"},
		"n.md:3: image not found: gone.png (similar: a/gone1.png, gon.png)": {
			Note: "n.md", Line: 3, Target: "gone.png", Near: []string{"a/gone1.png", "gon.png"}, Message: "image not found",
		},
		"n.md:3: the embedded note has no b: a#b": {Note: "n.md", Line: 3, Target: "a#b", Message: "the embedded note has no b"},
		"n.md:1: the link matches several files; b/x.md is used: x (similar: a/x.md, b/x.md)": {
			Note: "n.md", Line: 1, Target: "x", Near: []string{"a/x.md", "b/x.md"}, Message: "the link matches several files; b/x.md is used",
		},
		"input file: a*: no file was found": {Target: "file: a*", Message: "input file: a*: no file was found"},
	} {
		if got := w.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
