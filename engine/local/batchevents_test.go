package local_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/enginetest"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
)

// What the batches of a run say is stored once each, however often a resumed body says it again.
func TestEvents_ofBatchesOnce(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld()
	w.Items["a"] = [][]engine.Item{{{Name: "x"}}, {{Name: "y"}}, {{Name: "z"}}}
	w.Before = untilOver(engine.ActivityGenerate, "a#3")
	inJournal(t, w, func(t *testing.T, c local.Config, j *journal.Journal) {
		x := local.New(c)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- x.Run(ctx) }()
		s, err := x.Start(ctx, timed(`,"for_each":{"parallel":2}`))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		cancel()
		<-ended
		w.Before = nil
		x = local.New(c)
		ctx, cancel = context.WithCancel(t.Context())
		go func() { ended <- x.Run(ctx) }()
		if _, err := x.Resume(ctx); err != nil {
			t.Fatal(err)
		}
		if got, err := x.Wait(ctx, s.Run); err != nil || got.Status != engine.Done || got.Resumed != 1 {
			t.Fatalf("got %s (%s), resumed %d times, %v", got.Status, got.Reason, got.Resumed, err)
		}
		cancel()
		<-ended
		events, err := j.Events.List(t.Context(), s.Run, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]int{}
		for _, e := range events {
			if e.Kind == engine.EventBatch {
				said[fmt.Sprintf("%d %s %v", e.Batch, e.Status, e.Work.Answer != "")]++
			}
		}
		want := map[string]int{}
		for batch := 1; batch <= 3; batch++ {
			for _, what := range []string{"running false", "running true", "done true"} {
				want[fmt.Sprintf("%d %s", batch, what)] = 1
			}
		}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("stored events of batches (-want +got):\n%s", diff)
		}
	})
}
