package main

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// A cancelled run says so once.
func TestWriteRun_cancelled(t *testing.T) {
	t.Parallel()
	cancelled := failure.New(failure.Cancelled, "", "cancelled")
	for _, c := range []struct {
		run  engine.RunRecord
		want string
	}{
		{engine.RunRecord{ID: "r1", Workflow: "Digest", Status: engine.Cancelled, Reason: "cancelled", Failure: cancelled}, "r1  Digest  cancelled\n"},
		{engine.RunRecord{ID: "r2", Workflow: "Digest", Status: engine.Failed, Failure: failure.New(failure.Provider, "", "no answer")}, "r2  Digest  failed\n  provider: no answer\n"},
	} {
		var out strings.Builder
		writeRun(&out, c.run)
		if got := out.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
