package local_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
)

// oldRun is the unfinished run of testdata/schema1.sql.
const oldRun = "20261121-095154-eb99j"

// A run that the version before branches has left unfinished goes on where it stood: its records are not asked for again.
func TestResume_journalOfSchema1(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, err := os.ReadFile("testdata/schema1.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), string(script)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	x := local.New(local.Config{Journal: j.Executor(), Activities: engine.Activities{
		engine.ActivityStage: engine.Handle(func(_ context.Context, in engine.StageIn) (engine.StageOut, error) {
			asked = append(asked, "stage "+in.Step+" "+in.Answer)
			return engine.StageOut{Files: []engine.StagedFile{{Name: "Two.md", New: in.Answer, Targets: []string{"output:0"}}}}, nil
		}),
		engine.ActivityCommit: engine.Handle(func(_ context.Context, in engine.CommitIn) (engine.CommitOut, error) {
			asked = append(asked, "commit "+in.Step)
			return engine.CommitOut{Written: in.Files}, nil
		}),
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	if n, err := x.Resume(ctx); n != 1 || err != nil {
		t.Fatalf("Resume: %d, %v", n, err)
	}
	got, err := x.Wait(ctx, oldRun)
	if err != nil || got.Status != engine.Done || got.Usage.InputTokens != 20 || len(got.Outputs) != 3 {
		t.Errorf("got %s (%s), %d tokens, outputs %v, %v; want done with 20 tokens and 3 outputs", got.Status, got.Reason, got.Usage.InputTokens, got.Outputs, err)
	}
	if len(asked) != 2 || asked[0] != "stage Two answer of Two" {
		t.Errorf("asked for %v; want only stage and commit of step Two", asked)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if spent, err := j.Spending.Since(t.Context(), "w", time.Time{}); spent.Calls != 2 || spent.Cost.USD != 0.5 || err != nil {
		t.Errorf("spending after the migration: %+v, %v; want 2 calls for 0.5", spent, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
