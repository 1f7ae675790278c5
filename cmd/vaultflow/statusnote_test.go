//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/daemon/statusnote"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// The note follows what happens, is left alone when nothing does, and fires no workflow, not even one that watches it.
func TestServe_statusNote(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "engine: {status_note: State/Status.md}\n")
	s.write("Workflows/Watch.md", "---\nwatch: \"**/*.md\"\nenabled: true\n---\n## A\n@model none\n@output file: Log.txt\n@write_mode append\nfired\n")
	s.write("Workflows/Hand.md", "## A\n@model none\n@output file: Out.txt\nsome text\n")
	d := s.serve()
	note := func(holds string) string {
		t.Helper()
		s.Wait(patience, "the status note to say "+holds, func() (bool, string) {
			text := s.Read("State/Status.md")
			return strings.Contains(text, holds), text
		})
		return s.Read("State/Status.md")
	}
	note("runs_today: 0")
	if out := s.Must("status"); !strings.Contains(out, "running; dashboard at http://127.0.0.1:") {
		t.Errorf("status beside serve says\n%s", out)
	}
	s.Must("run", "Hand")
	before := note("runs_today: 1")
	mine := strings.Replace(before, statusnote.Begins, "My words.\n"+statusnote.Begins, 1) + "More of mine.\n"
	s.write("State/Status.md", mine)
	s.write("Other.md", "what the workflow watches") // comes after the note's changes, and fires
	s.Wait(patience, "the watching workflow", func() (bool, string) { return len(s.Runs("Watch")) > 0, "" })
	after := note("runs_today: 2")
	if !strings.Contains(after, "My words.\n"+statusnote.Begins) || !strings.HasSuffix(after, statusnote.Ends+"\nMore of mine.\n") {
		t.Errorf("a person's words are gone:\n%s", after)
	}
	for _, r := range s.Runs("Watch") {
		for _, file := range r.Trigger.Files {
			if file != "Other.md" {
				t.Errorf("%s fired", file)
			}
		}
	}
	d.alive()
}

// What is old goes when serve starts.
func TestServe_removesOldRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "engine: {retention: {runs: 2d}}\n")
	s.write("Workflows/Hand.md", "## A\n@model none\n@output file: Out.txt\nsome text\n")
	j, err := journal.Open(t.Context(), s.State)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := j.Blobs.Put(t.Context(), []byte("a prompt of old"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 6 {
		at := time.Now().Add(-time.Duration(9-n) * 24 * time.Hour)
		r := engine.RunRecord{
			ID: string(rune('a' + n)), Key: string(rune('a' + n)), Kind: engine.KindWorkflow, Workflow: "Hand", Status: engine.Done, Plan: digest,
			Created: at, Finished: at, At: at,
		}
		if _, _, err := j.Runs.Create(t.Context(), engine.Entry{Run: r, Spec: []byte(`{}`)}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	s.serve()
	s.Wait(patience, "three runs to go", func() (bool, string) { n := len(s.Runs("Hand")); return n == 3, "" })
}
