package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/vault"
)

// TestOverview_held: files that wait for a run are listed by name, with the reason and the time, and no run seems to be running when
// no process works.
func TestOverview_held(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	ownVault(t, dir, state)
	for name, head := range map[string]string{"Often": "watch: In/*.md\nmax_runs_per_day: 1", "Calm": "watch: In/*.md", "Each": "on_import: true"} {
		text := "---\n" + head + "\nenabled: true\n---\n## A\n@model none\n@for_each trigger\n@input file: {item}\n@output file: Out/" + name + " {item-name}\n"
		file := filepath.Join(dir, "Workflows", name+".md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := openTest(t, Options{Dir: dir, StateDir: state})
	j, err := journal.Open(t.Context(), a.StateDir)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().In(a.Zone)
	run := func(id, workflow string, status engine.Status, files ...string) {
		t.Helper()
		e := engine.Entry{Lane: id, Spec: []byte(`{}`), Run: engine.RunRecord{
			ID: id, Kind: engine.KindWorkflow, Workflow: workflow, Key: id, Status: status, Created: now, Trigger: engine.Trigger{Kind: engine.TriggerWatch, Files: files},
		}}
		if _, _, err := j.Runs.Create(t.Context(), e, false); err != nil {
			t.Fatal(err)
		}
		if e.Run.Finished = now; !status.Finished() {
			return
		}
		if err := j.Runs.Save(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	run("r1", "Often", engine.Done, "In/old.md")
	run("r2", "Each", engine.Running, "Imported/a/a.md")
	run("r3", "Each", engine.Queued, "Imported/b/b.md")
	if err := j.Watches.Notice(t.Context(), []engine.Notice{
		{Workflow: "Often", File: vault.File{Name: "In/1.md"}, Batch: "b1", Time: now},
		{Workflow: "Often", File: vault.File{Name: "In/2.md"}, Batch: "b1", Time: now},
		{Workflow: "Calm", File: vault.File{Name: "In/1.md"}, Batch: "b2", Time: now},
	}); err != nil {
		t.Fatal(err)
	}
	held := func(j *journal.Journal) (string, engine.Overview) {
		t.Helper()
		o, err := a.Overviews.At(t.Context(), j, now)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, h := range o.Held {
			b.WriteString(strings.Join(h.Files, ",") + " for " + h.Workflow + ": " + h.Why(a.Zone) + "\n")
		}
		return b.String(), o
	}
	got, o := held(j)
	y, m, d := now.Date()
	for _, want := range []string{
		"In/1.md,In/2.md for Often: max_runs_per_day: 1 runs today; due " + time.Date(y, m, d+1, 0, 0, 0, 0, a.Zone).Format("2006-01-02 15:04") + "\n",
		"In/1.md for Calm: until the files are quiet (watch.debounce); due ", "Imported/b/b.md for Each: for the end of run r2\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("held lacks %q:\n%s", want, got)
		}
	}
	if len(o.Running) != 1 || o.Running[0].Interrupted || !j.Held() {
		t.Errorf("running: %+v", o.Running)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	err = a.Reading(t.Context(), func(j *journal.Journal) error {
		if got, o = held(j); strings.Count(got, ": serve is not running\n") != 3 || len(o.Running) != 1 || !o.Running[0].Interrupted {
			t.Errorf("without a process: %+v\n%s", o.Running, got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
