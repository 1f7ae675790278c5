package engine

import (
	"strings"
	"testing"
)

// A step that is skipped because something it requires was left out shows in the outcome; one that has nothing to do does not.
func TestOutcomeOf_unmet(t *testing.T) {
	t.Parallel()
	step := func(s Status, unmet bool) StepRecord {
		return StepRecord{Step: "S", WorkRecord: WorkRecord{Status: s, Reason: "torn.png", Unmet: unmet, Omitted: []string{"torn.png"}}}
	}
	batches := StepRecord{Step: "S", WorkRecord: WorkRecord{Status: Skipped, Reason: "torn.png"}}
	batches.Put(BatchRecord{Batch: 1, WorkRecord: step(Skipped, true).WorkRecord})
	for name, tt := range map[string]struct {
		steps []StepRecord
		want  Status
	}{
		"nothing new":       {[]StepRecord{step(Skipped, false)}, Skipped},
		"unmet":             {[]StepRecord{step(Skipped, true)}, DoneWithOmissions},
		"unmet, then done":  {[]StepRecord{step(Skipped, true), step(Done, false)}, DoneWithOmissions},
		"done, then unmet":  {[]StepRecord{step(Done, false), step(Skipped, true)}, DoneWithOmissions},
		"unmet in a batch":  {[]StepRecord{batches}, DoneWithOmissions},
		"unmet, then fails": {[]StepRecord{step(Skipped, true), step(Empty, false)}, Empty},
	} {
		if got := outcomeOf(tt.steps); got.Status != tt.want || !strings.Contains(got.Reason, "torn.png") {
			t.Errorf("%s: got %s %q, want %s", name, got.Status, got.Reason, tt.want)
		}
	}
}
