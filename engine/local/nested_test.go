package local_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/enginetest"
	"github.com/vaultflow/vaultflow/engine/local"
)

// A step that waits longer than it may leaves no nested run behind, also where failed batches are skipped: it ends the run.
func TestNested_stepTimeout(t *testing.T) {
	t.Parallel()
	for _, properties := range []string{"", `,"for_each":{"on_error":"skip"}`} {
		w := enginetest.NewWorld()
		w.Items["a"] = [][]engine.Item{{{Name: "x", SHA256: "x"}}, {{Name: "y", SHA256: "y"}}}
		w.Talk["a"] = []engine.GenerateOut{{Raw: "r", Stop: engine.StopToolUse}}
		w.Nested["a"] = engine.Request{Kind: engine.KindWorkflow, Subject: "child", Plan: json.RawMessage(`{"name":"child","steps":[{"name":"c"}]}`)}
		w.Before = untilOver(engine.ActivityGenerate, "c")
		inTime(t, w, func(t *testing.T, c local.Config) {
			c.MaxRuns = 1
			x := local.New(c)
			w.StartsAt(x)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- x.Run(ctx) }()
			s, err := x.Start(ctx, timed(properties))
			if err != nil {
				t.Fatal(err)
			}
			got, err := x.Wait(ctx, s.Run)
			if err != nil {
				t.Fatal(err)
			}
			wantTimeout(t, got)
			ids := w.NestedRuns()
			if len(ids) != 1 {
				t.Fatalf("nested runs: %v, want one", ids)
			}
			if child, err := x.Wait(ctx, ids[0]); err != nil || child.Status != engine.Cancelled || child.Finished.Sub(child.Started) != time.Minute {
				t.Errorf("the nested run: %s (%s), %v; want it cancelled after a minute", child.Status, child.Reason, err)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
