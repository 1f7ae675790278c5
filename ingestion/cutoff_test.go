package ingestion

import (
	"strings"
	"testing"
)

// The renderers put a PDF together again that was cut off on its way, so that nothing but its end tells.
func TestImport_saysThatAPDFMayBeCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data string
		cut  bool
	}{
		"whole":            {"%PDF-1.7\nfake\n%%EOF\n", false},
		"more behind":      {"%PDF-1.7\nfake\n%%EOF\n" + strings.Repeat("\x00", 2000), false},
		"cut off":          {"%PDF-1.7\nfake\n", true},
		"its middle alone": {"%PDF-1.7\n%%EOF\n" + strings.Repeat("an update that has not arrived whole ", 200), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, report)
			made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", []byte(c.data)))
			if warnings := strings.Join(b.manifest(made).Import.Warnings, "\n"); strings.Contains(warnings, "mark of its end") != c.cut {
				t.Errorf("warnings %q, want one of a missing end: %v", warnings, c.cut)
			}
			if note := b.read(made.Note); strings.Contains(note, "cut off") != c.cut {
				t.Errorf("the note says that the file is cut off: %v, want %v\n%s", !c.cut, c.cut, note)
			}
		})
	}
}
