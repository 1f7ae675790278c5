//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// note is a workflow of one step that the offline model carries out.
func note(front, directives, ask string) string {
	return "---\n" + front + "\nenabled: true\n---\n\n## Step\n" + directives + "\n\n" + ask + "\n"
}

// ran waits until a workflow has so many runs and all have ended, and checks that they went well.
func (s *site) ran(workflow string, want int) []engine.RunRecord {
	s.T.Helper()
	var runs []engine.RunRecord
	s.Wait(patience, fmt.Sprintf("%d runs of %s", want, workflow), func() (bool, string) {
		runs = s.Runs(workflow)
		ended := 0
		for _, r := range runs {
			if r.Status.Finished() {
				ended++
			}
		}
		return ended >= want, fmt.Sprintf("%+v", runs)
	})
	if len(runs) != want {
		s.T.Fatalf("%s has %d runs, want %d: %+v", workflow, len(runs), want, runs)
	}
	for _, r := range runs {
		if r.Status != engine.Done {
			s.T.Errorf("run of %s: %s %s %+v", workflow, r.Status, r.Reason, r.Failure)
		}
	}
	return runs
}

func TestServe_firesOnceAndKeepsItsSlot(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Inbox/A.md", "Buy milk tomorrow.\n")
	s.write("Workflows/Daily.md", note(`schedule: "cron: 0 8 * * *"`, "@input file: Inbox/A.md\n@output file: Out/Daily", "Sum it up."))
	s.serve()
	// The moment must lie ahead when the running serve first sees the workflow, on a busy machine too.
	at := time.Now().Add(12 * time.Second).UTC().Truncate(time.Second)
	s.write("Workflows/Soon.md", note(`schedule: "once: `+at.Format(time.RFC3339)+`"`, "@input file: Inbox/A.md\n@output file: Out/Soon\n@write_mode append", "Sum it up."))
	run := s.ran("Soon", 1)[0]
	if run.Trigger.Kind != engine.TriggerOnce {
		t.Errorf("trigger %q", run.Trigger.Kind)
	}
	if strings.Count(s.Read("Out/Soon.md"), "Answer of the offline model") != 1 {
		t.Errorf("the output holds %q, want one answer", s.Read("Out/Soon.md"))
	}
	var slot engine.SlotRecord
	next := 0
	for _, row := range rows[engine.SlotRecord](s, "slots") {
		switch {
		case row.Workflow == "Soon":
			slot = row
		case row.Workflow == "Daily" && row.State == engine.SlotNext:
			next++
		}
	}
	if slot.State != engine.SlotRan || slot.Run != run.ID || !slot.Slot.Equal(at) {
		t.Errorf("slot %+v, want one that ran at %s as %s", slot, at, run.ID)
	}
	if next == 0 {
		t.Error("no time ahead is listed for the cron workflow")
	}
}

func TestServe_cronFiresOnItsMinute(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for a full minute; not under -short")
	}
	s := newSite(t, "", "")
	s.write("Inbox/A.md", "Buy milk tomorrow.\n")
	s.write("Workflows/Minute.md", note(`schedule: "cron: * * * * *"`, "@input file: Inbox/A.md\n@output file: Out/Minute\n@write_mode replace", "Sum it up."))
	s.serve()
	var run engine.RunRecord // the first one: by the time it is seen the next minute's may be under way
	s.Wait(4*patience, "a run on the minute", func() (bool, string) {
		runs := s.Runs("Minute")
		if len(runs) > 0 {
			run = runs[len(runs)-1]
		}
		return run.Status.Finished(), fmt.Sprint(runs)
	})
	if run.Status != engine.Done || run.At.Second() != 0 || run.Trigger.Kind != engine.TriggerCron {
		t.Errorf("run %+v, want one that is done, for a full minute", run)
	}
}

func TestServe_watchFiresOnAChangedNote(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Inbox/Old.md", "Old.\n")
	s.write("Workflows/Watch.md", note(`watch: "Inbox/*.md"`, "@input file: Inbox/New.md\n@output file: Out/Watch\n@write_mode append", "Sum it up."))
	s.serve()
	s.write("Inbox/New.md", "# Fresh heading\n")
	run := s.ran("Watch", 1)[0]
	if run.Trigger.Kind != engine.TriggerWatch || strings.Join(run.Trigger.Files, " ") != "Inbox/New.md" {
		t.Errorf("trigger %+v, want the note that was written", run.Trigger)
	}
	if !strings.Contains(s.Read("Out/Watch.md"), "Fresh heading") {
		t.Errorf("the output does not hold what the note says: %q", s.Read("Out/Watch.md"))
	}
	s.write("Inbox/New.md", "# Another heading\n")
	s.ran("Watch", 2)
}

func TestServe_rewrittenInputRunsOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Workflows/Loop.md", note(`watch: "Inbox/*.md"`, "@input file: Inbox/Loop.md\n@output file: Inbox/Loop\n@write_mode append", "Sum it up."))
	s.write("Workflows/Other.md", note(`watch: "Marks/*.md"`, "@input file: Marks/M.md\n@output file: Out/Other", "Sum it up."))
	if out, _, code := s.CLI("check", "Loop"); code != exitDone {
		t.Fatalf("the workflow cannot run: %s", out)
	}
	s.serve()
	s.write("Inbox/Loop.md", "# Round\n")
	s.ran("Loop", 1)
	// A change that comes later and has fired shows that the watcher has looked at the workflow's own write too.
	for i := range 3 {
		s.write("Marks/M.md", fmt.Sprintf("# Mark %d\n", i))
		s.ran("Other", i+1)
	}
	s.ran("Loop", 1)
	if got := strings.Count(s.Read("Inbox/Loop.md"), "Answer of the offline model"); got != 1 {
		t.Errorf("%d answers in the note, want 1", got)
	}
}

func TestServe_runByHandWhileServing(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Inbox/A.md", "# Heading A\n")
	s.write("Workflows/Hand.md", note("description: by hand", "@input file: Inbox/A.md\n@output file: Out/Hand\n@write_mode append", "Sum it up."))
	s.serve()
	s.Must("run", "Hand")
	run := s.ran("Hand", 1)[0]
	if run.Trigger.Kind != engine.TriggerManual || !strings.Contains(s.Read("Out/Hand.md"), "Heading A") {
		t.Errorf("run %+v, output %q", run, s.Read("Out/Hand.md"))
	}
	if _, errs, code := s.CLI("run", "Hant"); code != exitUsage || !strings.Contains(errs, `did you mean "Hand"`) {
		t.Errorf("an unknown workflow: exit code %d, %q", code, errs)
	}
}

func TestServe_editedWorkflowTakesEffect(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	d := s.serve()
	s.write("Workflows/Late.md", note(`watch: "Inbox/*.md"`, "@input file: Inbox/A.md\n@output file: Out/First", "Sum it up."))
	s.write("Inbox/A.md", "# One\n")
	s.ran("Late", 1)
	s.write("Workflows/Late.md", note(`watch: "Inbox/*.md"`, "@input file: Inbox/A.md\n@output file: Out/Second", "Sum it up."))
	s.write("Inbox/A.md", "# Two\n")
	s.ran("Late", 2)
	if s.Read("Out/First.md") == "" || s.Read("Out/Second.md") == "" {
		t.Errorf("outputs %q, want Out/First.md and Out/Second.md", s.Files("Out", ".md"))
	}
	s.write("Workflows/Late.md", "---\nwatch: [\n---\n## Step\n") // a broken one stops nobody
	at := time.Now().Add(8 * time.Second).UTC().Truncate(time.Second)
	s.write("Workflows/Soon.md", note(`schedule: "once: `+at.Format(time.RFC3339)+`"`, "@input file: Inbox/A.md\n@output file: Out/Soon", "Sum it up."))
	s.ran("Soon", 1)
	d.alive()
}

func TestServe_droppedTextBecomesANoteAndFires(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Workflows/Arrived.md", note(`on_import: "*.txt"`, "@input file: Imported/Hello/index.md (required)\n@output file: Out/Arrived\n@write_mode append", "Sum it up."))
	s.serve()
	s.write("Import/Hello.txt", "Grüße aus Bergen.\n")
	r := s.ended(1)["Import/Hello.txt"]
	if r.State != engine.ImportDone || !strings.Contains(s.Read(r.Note), "Grüße aus Bergen.") {
		t.Errorf("import %+v, note %q", r, s.Read(r.Note))
	}
	if left := s.Files("Import", ""); len(left) != 0 {
		t.Errorf("left in the import folder: %q", left)
	}
	run := s.ran("Arrived", 1)[0]
	if run.Trigger.Kind != engine.TriggerOnImport || run.Trigger.Import != r.ID {
		t.Errorf("trigger %+v, want import %s", run.Trigger, r.ID)
	}
}

func TestServe_tenTextsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	d := s.serve()
	want := map[string]string{}
	for i := range 10 {
		ext := []string{".txt", ".md", ".csv", ".json"}[i%4]
		name := fmt.Sprintf("Import/File %d%s", i, ext)
		want[name] = fmt.Sprintf("\"line %d\"", i)
		s.write(name, want[name]+"\n")
	}
	found := s.ended(10)
	for name, text := range want {
		r := found[name]
		if r.State != engine.ImportDone || !strings.Contains(s.Read(r.Note), strings.Trim(text, `"`)) {
			t.Errorf("%s: %+v, note %q", name, r, s.Read(r.Note))
		}
	}
	if left := s.Files("Import", ""); len(left) != 0 {
		t.Errorf("left in the import folder: %q", left)
	}
	if left := s.hidden("Imported"); len(left) != 0 {
		t.Errorf("left hidden in the bundles' folder: %q", left)
	}
	d.alive()
}
