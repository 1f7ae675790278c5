package prompt_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/prompt"
)

// A range of lines behind the end is said, and warned of, in notes, other texts and sections.
func TestSelection_linesBehindTheEnd(t *testing.T) {
	t.Parallel()
	v := vaultFiles{"n.md": "# A\none\n# B\ntwo\n", "n.txt": "one\ntwo\n"}
	for value, want := range map[string]string{
		"file: n.md (lines=9-12)":     "lines= begins at line 9, and the text has 4",
		"file: n.txt (lines=3-)":      "lines= begins at line 3, and the text has 2",
		"file: [[n#B]] (lines=7-7)":   "lines= begins at line 7, and the text has 2",
		"file: n.md (lines=5,head=1)": "lines= begins at line 5, and the text has 4",
	} {
		in := input(t, value, "n.md")
		if strings.Contains(value, "txt") {
			in.Names = []string{"n.txt"}
		}
		p := build(t, v, spec(in))
		if text := prompt.Text(p); !strings.Contains(text, "[shown: nothing; "+want+"]") {
			t.Errorf("%s: no word about it in\n%s", value, text)
		}
		if w := p.Receipt.Warnings; len(w) != 1 || w[0].Message != want {
			t.Errorf("%s: warnings %+v, want %q", value, w, want)
		}
	}
}

// The list of references that closes an input holds those before, in and behind what the note embeds.
func TestRefs_aroundEmbeds(t *testing.T) {
	t.Parallel()
	v := vaultFiles{"n.md": "![[gone1.png]]\n\n![[in]]\n\n![[gone3.png]]\n", "in.md": "![[gone2.png]]\n"}
	p := build(t, v, spec(input(t, "file: n.md"), input(t, "file: in.md")))
	_, first, _ := strings.Cut(prompt.Text(p), "IMAGE_REFS\n")
	first, rest, _ := strings.Cut(first, "</input-")
	want := "image 1 | gone1.png | - | - | - | - | missing\nimage 2 | gone2.png | - | - | - | - | missing\nimage 3 | gone3.png | - | - | - | - | missing\n"
	if first != want {
		t.Errorf("got %q, want %q", first, want)
	}
	if !strings.Contains(rest, "IMAGE_REFS\nimage 4 | gone2.png") || strings.Count(rest, " | missing") != 1 {
		t.Errorf("the second list is not that of its input:\n%s", rest)
	}
}
