package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

func TestRenewNote(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CET", 3600)
	at := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	var o engine.Overview
	o.Day.Runs, o.Day.Failed = 4, 1
	o.Month.Spending = cost.Spending{Calls: 9, Cost: cost.Amount{USD: 1.23456, Tokens: 5000}}
	o.Next = []engine.SlotRecord{{Workflow: "daily/plan", Slot: at.Add(24 * time.Hour)}}
	o.Failures = []engine.RunBrief{{Run: "r1", Kind: engine.KindWorkflow, Subject: "daily/plan", Status: engine.Refused, Reason: "said: ![[secret]]\n# %% vaultflow: end %%", Since: at}}
	o.Waiting = []engine.FileBrief{{Name: "Import/a [x].pdf", State: engine.ImportNeedsPassword}}
	p := propertiesOf(o, zone)
	section := writeNote(o, zone, "Workflows")
	made, err := renewNote(nil, p, section)
	if err != nil {
		t.Fatal(err)
	}
	want := `---
next_run: 2026-11-22T08:00:00
next_workflow: daily/plan
runs_today: 4
failed_today: 1
cost_today_usd: 0
cost_month_usd: 1.2346
tokens_month: 5000
files_waiting: 1
approvals: 0
failures: 1
paused: []
invalid_workflows: 0
---
` + noteBegins + `
Today: 4 runs, 1 failed.
This month: 0 runs; $1.23, 5000 tokens.

### Files waiting

- Import/a \[x\].pdf: needs password

### Failed

- [[Workflows/daily/plan|daily/plan]]: refused: said: \!\[\[secret\]\] \# \%\% vaultflow: end \%\% (run r1, Sat 2026-11-21 08:00)

### Next

- Sun 2026-11-22 08:00 [[Workflows/daily/plan|daily/plan]]
` + noteEnds + "\n"
	if diff := cmp.Diff(want, string(made)); diff != "" {
		t.Errorf("a new note (-want +got):\n%s", diff)
	}
	again := func(note string, p noteProperties) string {
		t.Helper()
		renewed, err := renewNote([]byte(note), p, section)
		if err != nil {
			t.Fatal(err)
		}
		return string(renewed)
	}
	if diff := cmp.Diff(want, again(want, p)); diff != "" {
		t.Errorf("written twice (-want +got):\n%s", diff)
	}
	dated := strings.Replace(want, "invalid_workflows: 0\n", "invalid_workflows: 0\nupdated: 2026-11-21T08:00:00\n", 1)
	if diff := cmp.Diff(dated, again(dated, p)); diff != "" {
		t.Errorf("nothing but the time had changed (-want +got):\n%s", diff)
	}
	// What a person wrote stays where it is.
	edited := "---\n# mine\ncolour: blue\n" + strings.TrimPrefix(want, "---\n") + "\nMy own words.\n"
	edited = strings.Replace(edited, noteBegins, "# Status\n\n"+noteBegins, 1)
	o.Next, p.NextRun, p.NextWorkflow = nil, nil, nil
	section = writeNote(o, zone, "Workflows")
	got := again(edited, p)
	for _, stays := range []string{"---\n# mine\ncolour: blue\nruns_today: 4\n", "# Status\n\n" + noteBegins, noteEnds + "\n\nMy own words.\n"} {
		if !strings.Contains(got, stays) {
			t.Errorf("it lacks %q:\n%s", stays, got)
		}
	}
	if strings.Contains(got, "next_run") || strings.Contains(got, "### Next") {
		t.Errorf("what is not there any more still stands:\n%s", got)
	}
	// A note that is not ours gets a section, and nothing of it goes; a mark without the other one is a person's text.
	for _, theirs := range []string{"some words", "words\n" + noteBegins + "\nmore\n", noteEnds + "\n" + noteBegins + "\n"} {
		got := again(theirs, p)
		if !strings.Contains(got, theirs) || strings.Count(got, section) != 1 {
			t.Errorf("%q became\n%s", theirs, got)
		}
	}
	if _, err := renewNote([]byte("---\nopen: [\n---\n"), p, section); err == nil {
		t.Error("frontmatter that cannot be read was written over")
	}
}

// The note follows what happens, is left alone when nothing does, and fires no workflow, not even one that watches it.
func TestServe_statusNote(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "engine: {status_note: State/Status.md}\n")
	s.write("Workflows/Watch.md", "---\nwatch: \"**/*.md\"\nenabled: true\n---\n## A\n@model none\n@output file: Log.txt\n@write_mode append\nfired\n")
	s.write("Workflows/Hand.md", "## A\n@model none\n@output file: Out.txt\nsome text\n")
	d := s.serve()
	note := func(holds string) string {
		t.Helper()
		s.wait(patience, "the status note to say "+holds, func() (bool, string) {
			text := s.read("State/Status.md")
			return strings.Contains(text, holds), text
		})
		return s.read("State/Status.md")
	}
	note("runs_today: 0")
	if out := s.must("status"); !strings.Contains(out, "at work; dashboard at http://127.0.0.1:") {
		t.Errorf("status beside serve says\n%s", out)
	}
	s.must("run", "Hand")
	before := note("runs_today: 1")
	mine := strings.Replace(before, noteBegins, "My words.\n"+noteBegins, 1) + "More of mine.\n"
	s.write("State/Status.md", mine)
	s.write("Other.md", "what the workflow watches") // comes after the note's changes, and fires
	s.wait(patience, "the watching workflow", func() (bool, string) { return len(s.runs("Watch")) > 0, "" })
	after := note("runs_today: 2")
	if !strings.Contains(after, "My words.\n"+noteBegins) || !strings.HasSuffix(after, noteEnds+"\nMore of mine.\n") {
		t.Errorf("a person's words are gone:\n%s", after)
	}
	for _, r := range s.runs("Watch") {
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
	j, err := journal.Open(t.Context(), s.state)
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
	s.wait(patience, "three runs to go", func() (bool, string) { n := len(s.runs("Hand")); return n == 3, "" })
}
