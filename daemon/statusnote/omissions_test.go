package statusnote

import (
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/omission"
)

// The note has place, reason and remedy of the first omission of each run, whatever its cause.
func TestWriteNote_omissions(t *testing.T) {
	t.Parallel()
	for _, row := range omission.Table {
		o := engine.Omit("Attachments/a picture with quite a long name.png", omission.Of(row.Cause), "refused", row.Words+", and some details about it that a reader wants")
		o.Note, o.Line = "Projects/2026/Plan.md", 31
		line := engine.OmissionLines([]engine.Omission{o})[0]
		run := engine.RunBrief{Run: "r", Kind: engine.KindWorkflow, Subject: "Plan", Status: engine.DoneWithOmissions, Reason: "the model got less than was written: " + line}
		note := strings.NewReplacer(`\`, "").Replace(writeNote(engine.Overview{Omissions: []engine.RunBrief{run}}, time.UTC, "Workflows"))
		for _, want := range []string{"Projects/2026/Plan.md:31: ", row.Words, row.Remedy} {
			if !strings.Contains(note, want) {
				t.Errorf("%s: no %q in\n%s", row.Cause, want, note)
			}
		}
	}
}
