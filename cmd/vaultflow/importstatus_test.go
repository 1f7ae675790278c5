package main

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

// A line break or tab in the name of a file breaks no table.
func TestImportRow_isOneLine(t *testing.T) {
	t.Parallel()
	row := importRow(engine.ImportRecord{ID: "i", State: engine.ImportDone, Source: "Import/a\nb\tc.txt", Bundle: "Imported/a\nb"})
	if strings.Contains(row, "\n") || strings.Count(row, "\t") != 5 || !strings.Contains(row, "a<U+000A>b<U+0009>c.txt") {
		t.Errorf("got %q", row)
	}
	if line := importLine(engine.ImportRecord{Source: "Import/a\nb.txt"}); strings.Contains(line, "\n") {
		t.Errorf("got %q", line)
	}
}
