//go:build unix

package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// example returns a shipped workflow, enabled.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/workflows/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(text), "enabled: false", "enabled: true", 1)
}

// notesWith returns the notes of a folder that contain a text.
func (s *site) notesWith(dir, text string) []string {
	var names []string
	for _, name := range s.Files(dir, ".md") {
		if strings.Contains(s.Read(name), text) {
			names = append(names, path.Base(name))
		}
	}
	return names
}

// Two meetings that arrive together have notes of their own, each about its own scan.
func TestStory_twoMeetings(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Workflows/Meeting.md", example(t, "Meeting scan to notes"))
	s.serve()
	s.write("Import/Team meeting.txt", "# Roof garden\n\nAnn buys soil.\n")
	s.write("Import/Board meeting.txt", "# Bicycle shed\n\nBob paints it.\n")
	s.ran("Meeting", 2)
	for topic, meeting := range map[string]string{"Roof garden": "Team meeting", "Bicycle shed": "Board meeting"} {
		if notes := s.notesWith("Meetings", topic); len(notes) != 1 || !strings.HasSuffix(notes[0], " "+meeting+".md") {
			t.Errorf("%s is in %q of %q, want the notes of %s alone", topic, notes, s.Files("Meetings", ".md"), meeting)
		}
	}
}

// Five documents that arrive at once are each read once, although the daemon is killed in between.
func TestStory_fiveAtOnce(t *testing.T) {
	t.Parallel()
	workerPath, kind := "", "txt"
	if long() {
		workerPath, kind = worker(t), "pdf"
	}
	s := newSite(t, workerPath, "")
	s.write("Workflows/Read.md", note("on_import: \"Paper*\"", "@input trigger\n@output file: Read/{trigger-name}", "Sum it up."))
	d := s.serve()
	for i := range 5 {
		text := fmt.Sprintf("Finding number %d", i)
		data := []byte("# " + text + "\n")
		if kind == "pdf" {
			data = pdftest.New().TextPage(pdftest.Heading(text)).Bytes()
		}
		s.Write(fmt.Sprintf("Import/Paper %d.%s", i, kind), data)
	}
	s.Wait(patience, "a first run", func() (bool, string) { return len(s.Runs("Read")) > 0, "" })
	d.Kill()
	s.serve()
	var about []string
	for _, run := range s.ran("Read", 5) {
		about = append(about, strings.Join(run.Trigger.Files, " "))
	}
	if slices.Sort(about); len(slices.Compact(about)) != 5 {
		t.Errorf("the runs are about %q", about)
	}
	for i := range 5 {
		want := fmt.Sprintf("Paper %d.md", i)
		if notes := s.notesWith("Read", fmt.Sprintf("Finding number %d", i)); !slices.Equal(notes, []string{want}) || strings.Count(s.Read("Read/"+want), "Answer of the offline model") != 1 {
			t.Errorf("finding %d is in %q", i, notes)
		}
	}
}

// The name of an imported document is that of its folder, so that a summary of each has a note of its own. Workflows about a file are
// started by hand with one, and refused without.
func TestStory_byHand(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	for name, topic := range map[string]string{"Imported/Ada/index.md": "Engines", "Imported/Grace/index.md": "Compilers", "Notes/Own.md": "Gardens"} {
		s.write(name, "# "+topic+"\n")
	}
	s.write("Workflows/All.md", note("description: all", "@for_each file: Imported/**/index.md\n@input file: {item}\n@output file: Summaries/{item-name}", "Sum up {item-name}."))
	s.write("Workflows/One.md", note("description: one", "@input trigger\n@output file: One/{trigger-title}", "Sum it up."))
	s.write("Workflows/Each.md", note("runs: each", "@input file: {trigger}\n@output file: Each/{trigger-name}", "Sum it up."))
	s.Must("run", "All")
	if got := s.Files("Summaries", ".md"); len(got) != 2 || len(s.notesWith("Summaries", "Engines")) != 1 || len(s.notesWith("Summaries", "Compilers")) != 1 {
		t.Errorf("summaries %q", got)
	}
	for _, command := range []string{"run", "preview"} {
		if _, errs, code := s.CLI(command, "One"); code != exitUsage || !strings.Contains(errs, "`vaultflow run One FILE`") {
			t.Errorf("%s without a file: %d, %q", command, code, errs)
		}
		if _, errs, code := s.CLI(command, "One", "Notes/None"); code != exitUsage || !strings.Contains(errs, "no file") {
			t.Errorf("%s with a file that is not there: %d, %q", command, code, errs)
		}
	}
	if runs := s.Runs("One"); len(runs) != 0 {
		t.Errorf("refused runs were stored: %+v", runs)
	}
	if out := s.Must("preview", "One", "Notes/Own.md"); !strings.Contains(out, "Gardens") {
		t.Errorf("preview: %s", out)
	}
	s.Must("run", "One", "Notes/Own")
	if run := s.Runs("One")[0]; !slices.Equal(run.Trigger.Files, []string{"Notes/Own.md"}) || run.Trigger.Kind != engine.TriggerManual || s.Read("One/Gardens.md") == "" {
		t.Errorf("%+v", run)
	}
	s.Must("run", "Each", "Notes/Own.md", "Imported/Ada/index.md")
	if runs := s.Runs("Each"); len(runs) != 2 || len(s.notesWith("Each", "Engines")) != 1 || s.Read("Each/Ada.md") == "" {
		t.Errorf("%+v", runs)
	}
}
