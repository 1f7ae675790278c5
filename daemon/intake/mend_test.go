package intake

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
)

// Pages of low quality are made again by themselves, into the bundle that has them, and not for ever. A page that failed for good is
// left to people.
func TestMend_byItself(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	j, err := journal.Open(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	made := map[string][]engine.ImportPlan{} // by source
	lacking := map[string]int{"Import/better.pdf": 1, "Import/never.pdf": 99}
	exec := local.New(local.Config{Journal: j.Executor(), Activities: engine.Activities{
		engine.ActivityClassify: engine.Handle(func(context.Context, engine.ClassifyIn) (engine.ClassifyOut, error) {
			return engine.ClassifyOut{Kind: "pdf", MediaType: "application/pdf"}, nil
		}),
		engine.ActivityExtract: engine.Handle(func(_ context.Context, in engine.ExtractIn) (engine.ExtractOut, error) {
			mu.Lock()
			defer mu.Unlock()
			made[in.Source] = append(made[in.Source], in.ImportPlan)
			out := engine.ExtractOut{Pages: 3}
			if len(made[in.Source]) <= lacking[in.Source] {
				out.Lacking = []int{2}
			}
			if in.Source == "Import/broken.pdf" {
				out.FailedPages = []int{3}
			}
			return out, nil
		}),
		engine.ActivityPublish: engine.Handle(func(_ context.Context, in engine.PublishIn) (engine.PublishOut, error) {
			return engine.PublishOut{Bundle: "Imported/x", Note: "Imported/x/x.md"}, nil
		}),
		engine.ActivityFile: engine.Handle(func(_ context.Context, in engine.FileIn) (engine.FileOut, error) {
			return engine.FileOut{Name: "Imported/x/x.pdf"}, nil
		}),
	}})
	var running sync.WaitGroup
	running.Go(func() { _ = exec.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		j.Close()
	})
	runs := map[string]string{}
	wait := func() {
		for _, id := range runs {
			if _, err := exec.Wait(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	for source, sha256 := range map[string]string{"Import/better.pdf": "aa", "Import/never.pdf": "bb", "Import/broken.pdf": "cc"} {
		s, err := exec.Start(ctx, engine.Request{
			Key: engine.ImportKey(sha256, "", source), Kind: engine.KindImport, Subject: source,
			Trigger: engine.Trigger{Kind: engine.TriggerDrop}, Import: &engine.ImportRequest{SHA256: sha256, Size: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		runs[source] = s.Run
	}
	wait()
	a := &Arrivals{journal: j, exec: exec, log: slog.New(slog.DiscardHandler)}
	for range 6 {
		if err := a.mendOnce(ctx); err != nil {
			t.Fatal(err)
		}
		wait()
	}
	mu.Lock()
	defer mu.Unlock()
	for source, want := range map[string]struct {
		times int
		state engine.ImportState
	}{
		"Import/better.pdf": {2, engine.ImportDone}, "Import/never.pdf": {1 + mendMost, engine.ImportPartial}, "Import/broken.pdf": {1, engine.ImportPartial},
	} {
		r, err := j.Imports.Get(ctx, runs[source])
		if err != nil || r.State != want.state || len(made[source]) != want.times || r.Bundle != "Imported/x" {
			t.Errorf("%s: made %d times, %+v, %v; want %+v", source, len(made[source]), r, err, want)
		}
		if plans := made[source][1:]; slices.ContainsFunc(plans, func(p engine.ImportPlan) bool { return p.Mend != "Imported/x" || p.Where != "Imported/x/x.pdf" }) {
			t.Errorf("%s was made again by %+v", source, plans)
		}
	}
}
