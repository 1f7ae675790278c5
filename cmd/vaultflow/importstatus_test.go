package main

import (
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// A line break or tab in the name of a file breaks no table.
func TestImportRow_isOneLine(t *testing.T) {
	t.Parallel()
	row := importRow(engine.ImportRecord{ID: "i", State: engine.ImportDone, Source: "Import/a\nb\tc.txt", Bundle: "Imported/a\nb"}, time.UTC)
	if strings.Contains(row, "\n") || strings.Count(row, "\t") != 5 || !strings.Contains(row, "a<U+000A>b<U+0009>c.txt") {
		t.Errorf("got %q", row)
	}
	if line := importLine(engine.ImportRecord{Source: "Import/a\nb.txt"}); strings.Contains(line, "\n") {
		t.Errorf("got %q", line)
	}
}

// What the file lacks, no other attempt finds: nobody is sent to repeat it.
func TestWriteImport_advisesRetryWhereItHelps(t *testing.T) {
	t.Parallel()
	for _, final := range []bool{false, true} {
		var out strings.Builder
		writeImport(&out, engine.RunRecord{}, engine.ImportRecord{ID: "i", State: engine.ImportPartial, Filed: "Imported/a/a.pdf", Final: final})
		if strings.Contains(out.String(), "--retry") == final {
			t.Errorf("final: %v: %q", final, out.String())
		}
	}
}
