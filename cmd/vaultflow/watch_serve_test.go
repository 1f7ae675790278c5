//go:build unix

package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

// each is a workflow that copies every new note of a folder to a list, without a model.
func each(front, glob, list string) string {
	return note(front, "@for_each file: "+glob+" (pending, batch=100)\n@input file: {item}\n@output file: "+list+"\n@write_mode append\n@model none", "")
}

// count asks the state database, beside the process that works on it.
func (s *site) count(query string) (n int) {
	s.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.State, "state.db")+"?mode=ro&_pragma=busy_timeout(60000)")
	if err != nil {
		s.T.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(s.T.Context(), query).Scan(&n); err != nil {
		s.T.Fatal(err)
	}
	return n
}

// dropNotes writes many notes in a moment; each holds a line of its own.
func (s *site) dropNotes(dir string, n int) {
	s.T.Helper()
	if err := os.MkdirAll(s.Path(dir), 0o755); err != nil {
		s.T.Fatal(err)
	}
	for i := range n {
		if err := os.WriteFile(s.Path(fmt.Sprintf("%s/%d.md", dir, i)), fmt.Appendf(nil, "Line of note %d.\n", i), 0o644); err != nil {
			s.T.Fatal(err)
		}
	}
}

// A thousand files dropped into a watched folder at once are one run, and each is dealt with once.
func TestServe_thousandNotesOneRun(t *testing.T) {
	t.Parallel()
	const n = 1000
	s := newSite(t, "", "engine: {max_selected_files: 2000}\n")
	s.write("settings.yaml", strings.Replace(s.Read("settings.yaml"), "debounce: 200ms", "debounce: 5s", 1)) // rest of a busy machine
	s.write("Workflows/Each.md", each(`watch: "Inbox/*.md"`, "Inbox/*.md", "Out/List"))
	s.Must("check")
	s.serve()
	s.dropNotes("Inbox", n)
	run := s.ran("Each", 1)[0]
	if len(run.Trigger.Files) != n {
		t.Errorf("the run was told of %d files, want %d", len(run.Trigger.Files), n)
	}
	list := s.Read("Out/List.md")
	for i := range n {
		if got := strings.Count(list, fmt.Sprintf("Line of note %d.\n", i)); got != 1 {
			t.Errorf("note %d stands %d times in the list", i, got)
		}
	}
}

// What the daemon has gathered when it is killed is run for after its start, and what changes while it is down too when
// the workflow catches up. Nothing else fires.
func TestServe_changesAroundAKill(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("settings.yaml", strings.Replace(s.Read("settings.yaml"), "debounce: 200ms", "debounce: 1h", 1))
	s.write("Inbox/Old.md", "Old.\n")
	s.write("Workflows/Latest.md", note("watch: \"Inbox/*.md\"\ncatch_up: latest", "@input file: Inbox/*.md\n@output file: Out/Latest\n@model none", ""))
	s.write("Workflows/None.md", note("watch: \"Inbox/*.md\"", "@input file: Inbox/*.md\n@output file: Out/None\n@model none", ""))
	d := s.serve()
	s.write("Inbox/Gathered.md", "Gathered.\n")
	s.Wait(patience, "the change to be in the journal", func() (bool, string) {
		found := s.count("SELECT count(*) FROM noticed WHERE name = 'Inbox/Gathered.md'")
		return found == 2, fmt.Sprint(found)
	})
	d.Kill()
	s.write("Inbox/Down.md", "Written while nobody was there.\n")
	s.write("settings.yaml", strings.Replace(s.Read("settings.yaml"), "debounce: 1h", "debounce: 200ms", 1))
	s.serve()
	files := func(runs []engine.RunRecord) (all []string) {
		for _, r := range runs {
			all = append(all, r.Trigger.Files...)
		}
		slices.Sort(all)
		return all
	}
	if got := files(s.ran("Latest", 2)); !slices.Equal(got, []string{"Inbox/Down.md", "Inbox/Gathered.md"}) {
		t.Errorf("runs of Latest were told of %q, want what was gathered and what was written meanwhile", got)
	}
	if got := files(s.ran("None", 1)); !slices.Equal(got, []string{"Inbox/Gathered.md"}) {
		t.Errorf("runs of None were told of %q, want what was gathered", got)
	}
}

// Two workflows that feed each other are reported, and each runs once for an edit.
func TestServe_workflowsThatFeedEachOther(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Workflows/Ping.md", note(`watch: "A/*.md"`, "@input file: A/x.md\n@output file: B/x\n@write_mode append\n@model none", "Ping."))
	s.write("Workflows/Pong.md", note(`watch: "B/*.md"`, "@input file: B/x.md\n@output file: A/x\n@write_mode append\n@model none", "Pong."))
	if out := s.Must("check"); strings.Count(out, "this output can start a loop") != 2 {
		t.Errorf("check says %q, want the circle at both outputs", out)
	}
	d := s.serve()
	s.write("A/x.md", "By a person.\n")
	s.ran("Pong", 1)
	s.Wait(patience, "the refused run", func() (bool, string) {
		runs := s.Runs("Ping")
		return len(runs) > 0 && runs[0].Status == engine.Skipped && strings.HasPrefix(runs[0].Reason, "loop guard: a run of Pong wrote it"), fmt.Sprint(runs)
	})
	s.write("Workflows/Other.md", note(`watch: "Marks/*.md"`, "@input file: Marks/M.md\n@output file: Out/Other\n@model none", ""))
	s.write("Marks/M.md", "# Mark\n") // a change that comes later and has fired shows that the others were looked at
	s.ran("Other", 1)
	if out := s.Must("show", s.Runs("Pong")[0].ID); !strings.Contains(out, "started by B/x.md\n  goes back to Ping\n") {
		t.Errorf("show of the run of Pong: %s", out)
	}
	if ping, pong := s.Runs("Ping"), s.Runs("Pong"); len(ping) != 2 || len(pong) != 1 {
		t.Errorf("%d runs of Ping and %d of Pong, want one of each and one refused", len(ping), len(pong))
	}
	said, err := os.ReadFile(d.Log.Name())
	if err != nil || strings.Count(string(said), "workflows can start each other in a circle") != 2 {
		t.Errorf("serve does not say once for each workflow that there is a circle: %v\n%s", err, said)
	}
}

// A workflow that fails three times is paused, changes leave a row, and one command beside serve lets it go on.
func TestServe_pauseAndUnpause(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Out/Broken.md", "---\ndate: {{date}}\n---\n") // no YAML: it cannot be changed
	s.write("tags.json", `{"done": true}`)
	s.write("Workflows/Fails.md", note(`watch: "Inbox/*.md"`, "@input file: tags.json\n@output file: Out/Broken\n@write_mode frontmatter\n@model none", ""))
	s.serve()
	statuses := func(want string) {
		t.Helper()
		s.Wait(patience, want, func() (bool, string) {
			var got []string
			for _, r := range s.Runs("Fails") {
				got = append(got, string(r.Status))
			}
			return strings.Join(got, " ") == want, strings.Join(got, " ")
		})
	}
	want := ""
	for i, status := range []string{"failed", "failed", "failed", "skipped"} {
		s.write("Inbox/A.md", fmt.Sprintf("%d\n", i))
		want = strings.TrimSpace(status + " " + want)
		statuses(want)
	}
	if reason := s.Runs("Fails")[0].Reason; !strings.Contains(reason, "`vaultflow unpause \"Fails\"`") {
		t.Errorf("the refused run says %q, want the command that ends the pause", reason)
	}
	if out := s.Must("unpause", "fails"); out != "Fails is resumed; it was paused after 3 failures in a row\n" {
		t.Errorf("unpause says %q", out)
	}
	s.write("Inbox/A.md", "once more\n")
	statuses("failed " + want)
}
