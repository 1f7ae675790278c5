package local_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/enginetest"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
)

// BenchmarkBatches runs a step over the largest selection, 500 files: what the engine adds to 500 model calls.
func BenchmarkBatches(b *testing.B) {
	for b.Loop() {
		w := enginetest.NewWorld()
		w.NoVars = true
		for i := range 500 {
			w.Items["a"] = append(w.Items["a"], []engine.Item{{Name: fmt.Sprintf("Inbox/a note with a name %d.md", i), Pending: true}})
		}
		j, err := journal.Open(b.Context(), b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		x := local.New(local.Config{Journal: j.Executor(), Activities: w.Activities()})
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- x.Run(ctx) }()
		s, err := x.Start(ctx, timed(`,"for_each":{}`))
		if err != nil {
			b.Fatal(err)
		}
		if got, err := x.Wait(ctx, s.Run); err != nil || got.Status != engine.Done {
			b.Fatal(got.Status, got.Reason, err)
		}
		cancel()
		<-ended
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
