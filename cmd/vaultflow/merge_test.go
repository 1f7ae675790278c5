//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// modelSite is a vault whose model, named haiku as in the shipped examples, gives these answers.
func modelSite(t *testing.T, answers ...string) (*site, *llmtest.Server) {
	t.Helper()
	var replies []llmtest.Reply
	for _, text := range answers {
		replies = append(replies, says(text))
	}
	server := llmtest.NewServer(t, llmtest.OpenAI{Kind: "openai_compatible"}, replies...)
	s := newSite(t, "", "models: {default: haiku, aliases: {haiku: {provider: lab, model: test-model, capabilities: [text, vision]}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+server.URL+"/v1\", api_key_env: LAB_KEY}}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	return s, server
}

// TestMerge_photoArchiveKeepsTheTagsOfThePerson runs the shipped example twice, with tags that a person added in between.
func TestMerge_photoArchiveKeepsTheTagsOfThePerson(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../../examples/workflows/Photo archive.md")
	if err != nil {
		t.Fatal(err)
	}
	s, server := modelSite(t,
		`{"tags": ["sea", "boat", "harbour"], "shows": "A boat in a harbour."}`,
		`{"tags": ["#Sea", "boat", "sunset"], "shows": "A boat at sunset."}`)
	s.write("Workflows/Photo archive.md", strings.Replace(string(example), "enabled: false", "enabled: true", 1))
	s.serve()
	s.Write("Attachments/Photos/Trip.jpg", pdftest.Photo(200, 100, "a boat"))
	s.ran("Photo archive", 1)
	first := "---\ntags:\n  - sea\n  - boat\n  - harbour\nshows: A boat in a harbour.\n---\n"
	if got := s.Read("Photos/Trip.md"); got != first {
		t.Fatalf("the note of the photo is %q, want %q", got, first)
	}

	mine := "---\ntags:\n  - 'Holiday 2026' # the best\n  - sea\n  - boat\n  - harbour\n  - \"with/Anna\"\nshows: A boat in a harbour.\nrating:   5\n---\nWhat a day!\n"
	s.write("Photos/Trip.md", mine)
	s.Write("Attachments/Photos/Trip.jpg", pdftest.Photo(220, 110, "a boat at sunset"))
	run := s.ran("Photo archive", 2)[0]
	want := strings.Replace(mine, "  - \"with/Anna\"\n", "  - \"with/Anna\"\n  - sunset\n", 1)
	want = strings.Replace(want, "in a harbour.", "at sunset.", 1)
	if got := s.Read("Photos/Trip.md"); got != want {
		t.Errorf("after the second run the note is\n%s\nwant\n%s", got, want)
	}
	if out, _, _ := s.CLI("undo", run.ID); !strings.Contains(out, "-  - sunset\n") || strings.Contains(out, "+  - ") {
		t.Errorf("undo would do\n%s\nwant one tag removed and none added", out)
	}
	if n := len(server.Requests()); n != 2 {
		t.Errorf("the model was asked %d times, want 2", n)
	}
	s.Must("undo", run.ID, "--yes")
	if got := s.Read("Photos/Trip.md"); got != mine {
		t.Errorf("undo leaves\n%s\nwant\n%s", got, mine)
	}
}

// TestMerge_tasksAndLines ticks and adds tasks, and appends lines below a heading, in a note that a person changes in between.
func TestMerge_tasksAndLines(t *testing.T) {
	t.Parallel()
	s, _ := modelSite(t,
		"- [x] Call mum\n- [ ] Buy milk", "- 09:00 began",
		"- [ ] Buy milk\n- [x] Water the plants\nThat is all.", "- 17:00 ended")
	s.write("Workflows/Day.md", "## Tasks\n@output file: Today\n@write_mode section (heading=To do, merge=tasks)\n\nWhich tasks are done?\n\n"+
		"## Log\n@output file: Today\n@write_mode section (heading=Log, merge=append)\n\nWhat happened?\n")
	s.write("Today.md", "# To do\n* [ ] Call mum  \n* [-] Fly\n\nMy words.\n\n# Log\n- 08:00 woke\n\n# End\n")
	if out := s.Must("preview", "Day"); !strings.Contains(out, `would write Today.md: tasks below "To do" are ticked and added`) ||
		!strings.Contains(out, `would write Today.md: the answer is added below "Log"`) {
		t.Errorf("preview does not say how the note is merged:\n%s", out)
	}
	s.Must("run", "Day")
	want := "# To do\n* [x] Call mum  \n* [-] Fly\n* [ ] Buy milk\n\nMy words.\n\n# Log\n- 08:00 woke\n- 09:00 began\n\n# End\n"
	if got := s.Read("Today.md"); got != want {
		t.Fatalf("the note is %q, want %q", got, want)
	}
	mine := strings.Replace(want, "* [ ] Buy milk\n", "* [x] Buy milk\n    * [ ] Water the plants\n", 1)
	s.write("Today.md", mine)
	s.Must("run", "Day")
	want = strings.Replace(mine, "[ ] Water", "[x] Water", 1)
	want = strings.Replace(want, "- 09:00 began\n", "- 09:00 began\n- 17:00 ended\n", 1)
	if got := s.Read("Today.md"); got != want {
		t.Errorf("after the second run the note is %q, want %q", got, want)
	}
	run := s.Runs("Day")[0]
	if out := s.Must("show", run.ID); !strings.Contains(out, "1 line of the answer was left out, since it is no task: That is all.") {
		t.Errorf("show does not report what was left out:\n%s", out)
	}
	s.Must("undo", run.ID, "--yes")
	if got := s.Read("Today.md"); got != mine {
		t.Errorf("undo leaves %q, want %q", got, mine)
	}
}

// TestMerge_changesSinceTheLastRun shows a model what changed in a note, also by the step itself and after a failed run.
func TestMerge_changesSinceTheLastRun(t *testing.T) {
	t.Parallel()
	s, server := modelSite(t, "Begun.", "Went on.", "Ended.")
	s.write("Workflows/Look.md", "## Look\n@input file: Journal (changes, required)\n@output file: Journal\n\nWhat is new?\n")
	s.write("Journal.md", "Monday: rain.\n")
	asked := func(i int) string {
		var b strings.Builder
		for _, p := range server.Requests()[i].Parts {
			b.WriteString(p.Text)
		}
		return b.String()
	}
	s.Must("run", "Look")
	if text := asked(0); !strings.Contains(text, "[shown: the whole of") || !strings.Contains(text, "Monday: rain.") {
		t.Errorf("the first request is\n%s", text)
	}
	s.Must("run", "Look")
	if run := s.Runs("Look")[0]; run.Status != "skipped" && run.Steps[0].Status != "skipped" {
		t.Errorf("the step ran on its own answer: %+v", run)
	}
	s.write("Journal.md", s.Read("Journal.md")+"Tuesday: sun.\n")
	if out := s.Must("preview", "Look"); !strings.Contains(out, "+Tuesday: sun.") {
		t.Errorf("preview shows\n%s", out)
	}
	s.Must("run", "Look")
	if text := asked(1); !strings.Contains(text, "@@ -1,3 +1,4 @@\n Monday: rain.\n \n Begun.\n+Tuesday: sun.\n") || strings.Count(text, "Begun.") != 1 {
		t.Errorf("the second request is\n%s", text)
	}
	s.Must("undo", s.Runs("Look")[0].ID, "--yes")
	s.Must("run", "Look")
	if text := asked(2); !strings.Contains(text, "[shown: the whole of") || strings.Contains(text, "Went on.") {
		t.Errorf("after an undo the request is\n%s", text)
	}
}
