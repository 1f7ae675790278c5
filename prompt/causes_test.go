package prompt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
)

// excluded are the reasons of lines that are not in the prompt because their author or a setting wants it so.
var excluded = []string{
	"comment", "images=ignore", "embeds=ref", "refs_only", "it would embed itself", "its text is in this note", "no text", "section", "heading", "its pages follow",
	"its pages are shown", "beside pages that are not shown", "none of its pages is in the prompt",
}

// checkCauses fails the test if something that is not in the prompt has no cause, or what is there has one.
func checkCauses(t testing.TB, r prompt.Receipt) {
	t.Helper()
	for _, l := range r.Chunks {
		there := l.Step == "" && (l.Fate.Attached() || l.Fate == policy.Converted || l.Fate == policy.Deduplicated)
		cut := strings.Trim(strings.NewReplacer("lines", "", "head", "", "tail", "", "properties", "").Replace(l.Reason), ", ") == ""
		wanted := (l.Fate == policy.Omitted || l.Fate == policy.Reference) &&
			(cut || slices.Contains(excluded, l.Reason) || strings.HasPrefix(l.Reason, "remote image, ") || strings.HasPrefix(l.Reason, "longest side"))
		switch {
		case l.Why.IsZero() != (there || wanted):
			t.Errorf("%s %s %q: cause %q", l.Kind, l.Fate, l.Reason, l.Why.Cause())
		case !l.Why.IsZero() && (l.Why.Remedy() == "" || l.Reason == "" || l.Place().File == "" && l.Source.Variable == ""):
			t.Errorf("%+v: want a reason, a remedy and a place", l)
		}
	}
}

// What a step requires and did not get keeps the model from being asked.
func TestUnmet(t *testing.T) {
	t.Parallel()
	v := vaultFiles{
		"gone.md": "![[gone.png]]\n", "words.md": "Words.\n\n![[gone.png]]\n", "a.zip": "PK\x03\x04\x00\x00\x00\x00", "bad.png": "bad corrupt",
		"empty.pdf": "", "empty.docx": "", "empty.epub": "", "empty.md": "", "empty.txt": "", "n.md": "![[empty.odt]]", "empty.odt": "",
		"ok.png": "image 640x480 png 9000",
	}
	for value, want := range map[string]omission.Cause{
		"file: a.zip (required)":             omission.Kind,
		"file: a.zip":                        "",
		"file: empty.pdf (required)":         omission.Empty,
		"file: empty.docx (required)":        omission.Empty,
		"file: empty.epub (required)":        omission.Empty,
		"file: n.md (required)":              omission.Empty,
		"file: empty.md (required)":          "",
		"file: empty.txt (required)":         "",
		"file: bad.png (required)":           omission.Unreadable,
		"file: gone.md (required)":           omission.Missing,
		"file: words.md (required)":          "",
		"file: words.md (images=required)":   omission.Missing,
		"file: bad.png (images=required)":    omission.Unreadable,
		"file: ok.png (required)":            "",
		"file: ok.png (images=required)":     "",
		"file: words.md (refs_only)":         "",
		"file: [[words.md#None]] (required)": omission.Section,
		"file: words.md (required, head=3)":  "",
	} {
		name, _, _ := strings.Cut(strings.Trim(strings.TrimPrefix(value, "file: "), "["), " ")
		name, _, _ = strings.Cut(name, "#")
		p := build(t, v, spec(input(t, value, name)))
		got := omission.Cause("")
		if len(p.Unmet) > 0 {
			got = p.Unmet[0].Why.Cause()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}
