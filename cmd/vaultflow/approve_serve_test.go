//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

// TestServe_approvals takes runs that ask through the daemon: parked in the only place that runs have, with a note whose
// boxes count, also when the daemon was killed in between and when the box was ticked while none was there.
func TestServe_approvals(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "engine: {max_parallel_runs: 1}\nmodels: {default: offline, aliases: {offline: {provider: offline}}}\n")
	write := func(mode, target string) string {
		return note("description: letters", "@model none\n@approve outputs "+mode+"\n@input file: New (output=file: "+target+", write_mode=replace)", "x")
	}
	s.write("New.md", "New.\n")
	s.write("Workflows/Letter.md", write("", "Out/one"))
	s.write("Workflows/Hurried.md", write("(timeout=1s)", "Out/hurried"))
	s.write("Workflows/Free.md", note("description: free", "@model none\n@input file: New (output=file: Out/free)", "x"))
	s.write("Workflows/Spy.md", note("watch: [\"Workflows/_approvals/**\", \"**/*.md\"]", "@model none\n@input file: New (output=variable: x)", "x"))
	d := s.serve()
	ask := func(workflow string) (run, name string) {
		t.Helper()
		if out, errs, code := s.CLI("run", workflow); code != exitApproval {
			t.Fatalf("run %s: exit code %d\n%s%s", workflow, code, out, errs)
		}
		run = s.Runs(workflow)[0].ID
		return run, "Workflows/_approvals/" + run + ".md"
	}
	ends := func(run string, status engine.Status) engine.RunRecord {
		t.Helper()
		var r engine.RunRecord
		s.Wait(patience, "run "+run+" to be "+string(status), func() (bool, string) {
			r = rows[engine.RunRecord](s, "show", run)[0]
			return r.Status == status, fmt.Sprint(r.Status, " ", r.Reason)
		})
		return r
	}
	gone := func(name string) {
		t.Helper()
		s.Wait(patience, name+" to be removed", func() (bool, string) {
			_, err := os.Stat(s.Path(name))
			return os.IsNotExist(err), fmt.Sprint(err)
		})
	}
	tick := func(name string) {
		t.Helper()
		s.untilHolds(name, "- [ ] Approve item 1")
		s.write(name, strings.Replace(s.Read(name), "- [ ] Approve item 1", "- [x] Approve item 1", 1))
	}

	first, firstNote := ask("Letter")
	s.untilHolds(firstNote, "+New.")
	s.Must("run", "Free") // the place and the lane are free
	second, secondNote := ask("Letter")
	d.Kill()
	tick(firstNote)
	d = s.serve()
	ends(first, engine.Done)
	gone(firstNote)
	if got := s.Read("Out/one.md"); got != "New.\n" {
		t.Errorf("Out/one.md holds %q", got)
	}
	tick(secondNote) // the file is as it would be written already: nobody has to be asked again, and nothing is written
	s.Wait(patience, "the second run to end", func() (bool, string) {
		r := rows[engine.RunRecord](s, "show", second)[0]
		if r.Status == engine.AwaitingApproval {
			s.CLI("approve", second, "--all")
		}
		return r.Status == engine.Done, string(r.Status) + " " + r.Reason
	})

	s.write("Out/one.md", "Old.\n")
	third, thirdNote := ask("Letter")
	s.untilHolds(thirdNote, "-Old.")
	s.write(thirdNote, strings.Replace(s.Read(thirdNote), "Step Step.", "Ask Ada.", 1))
	d.Kill()
	d = s.serve()
	if out := s.Must("approve", third, "--reject"); !strings.Contains(out, "not approved: Out/one.md (rejected by command)") {
		t.Errorf("approve --reject: %s", out)
	}
	if got := s.Read("Out/one.md"); got != "Old.\n" || !strings.Contains(s.Read(thirdNote), "Ask Ada.") {
		t.Errorf("Out/one.md holds %q; the note with a person's words %q", got, s.Read(thirdNote))
	}

	hurried, hurriedNote := ask("Hurried")
	d.Kill() // nobody is there when its time is up
	d = s.serve()
	if r := ends(hurried, engine.Skipped); r.Steps[0].Rejected[0] != "Out/hurried.md (nobody approved it in time)" {
		t.Errorf("after its time: %+v", r.Steps[0])
	}
	gone(hurriedNote)
	for _, run := range rows[engine.RunRecord](s, "runs", "Spy") {
		for _, name := range run.Trigger.Files {
			if strings.Contains(name, "_approvals") {
				t.Errorf("a note of approvals has triggered a run: %+v", run.Trigger)
			}
		}
	}
	d.stop()
}
