//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// logged waits until serve has logged a text.
func (d *serving) logged(text string) {
	d.s.T.Helper()
	d.s.Wait(patience, "serve to say "+text, func() (bool, string) {
		said, err := os.ReadFile(d.Log.Name())
		if err != nil {
			d.s.T.Fatal(err)
		}
		return strings.Contains(string(said), text), string(said)
	})
}

// A stranger's vault fires nothing. What a person allows takes effect in the running serve, and what reaches further later
// stops firing until it is allowed too.
func TestServe_firesWhatIsAllowed(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.Must("trust", "--revoke")
	watching := func(directives string) string {
		return note(`watch: "Inbox/*.md"`, "@input file: Inbox/New.md\n@output file: Out/Watch\n@write_mode append\n"+directives, "Sum it up.")
	}
	s.write("Workflows/Watch.md", watching(""))
	s.write("Workflows/Dropped.md", note(`on_import: true`, "@output file: Out/Dropped", "Say something."))
	s.write("Workflows/Other.md", note(`watch: "Marks/*.md"`, "@input file: Marks/M.md\n@output file: Out/Other\n@write_mode append", "Sum it up."))
	d := s.start("--listen", "127.0.0.1:0")
	d.logged("this vault is not trusted yet: files are imported, and nothing else runs or is sent; `vaultflow trust --vault")
	d.logged("workflow does not run by itself")
	s.write("Import/a.txt", "Some text.\n")
	if r := s.ended(1)["Import/a.txt"]; r.State != engine.ImportDone {
		t.Errorf("the import of a dropped file is %s: %s", r.State, r.Error)
	}
	s.write("Inbox/New.md", "# One\n")
	before := s.Must("serve", "--url", "--json")

	s.Must("trust", "--shared")
	if after := s.Must("serve", "--url", "--json"); after == "" || before == "" {
		t.Error("serve is not there any more")
	}
	s.Must("trust", "--workflow", "Other")
	s.write("Marks/M.md", "# Mark 1\n")
	s.ran("Other", 1)
	s.Must("trust", "--workflow", "Watch")
	s.Wait(patience, "Watch to be enabled", func() (bool, string) {
		out := s.Must("list")
		return !strings.Contains(out, "Watch    it waits"), out
	})
	s.untilRan("Watch", "Inbox/New.md")
	if runs := s.Runs("Dropped"); len(runs) > 0 {
		t.Errorf("a workflow that waits has fired: %+v", runs)
	}

	s.write("Workflows/Watch.md", watching("@tools write_file"))
	d.logged("it reaches further than you have allowed: its model may use the tool write_file; writes to every note of the vault")
	runs := len(s.Runs("Watch"))
	s.write("Inbox/New.md", "# Three\n")
	s.write("Marks/M.md", "# Mark 2\n")
	s.ran("Other", 2) // a change that came later: the earlier one was looked at
	if got := len(s.Runs("Watch")); got != runs {
		t.Errorf("a workflow that reaches further has %d runs, want %d", got, runs)
	}
	if _, errs, code := s.CLI("run", "Watch"); code != exitRefused || !strings.Contains(errs, "reaches further") {
		t.Errorf("by hand: exit code %d, %s", code, errs)
	}

	s.Must("trust", "--own")
	s.untilRan("Watch", "Inbox/New.md")
	s.Must("trust", "--revoke")
	if _, errs, code := s.CLI("run", "Watch", "--model", "sonnet"); code != exitRefused {
		t.Errorf("after a no: exit code %d, %s", code, errs)
	}
	d.alive()
	if made, _ := filepath.Glob(filepath.Join(s.Vault, "Out", "Dropped*")); len(made) > 0 {
		t.Errorf("files were made that nobody allowed: %v", made)
	}
}

// debounce is that of the settings of a site.
const debounce = 200 * time.Millisecond

// untilRan changes a watched note until its workflow has one more run: a grant takes effect within seconds.
func (s *site) untilRan(workflow, name string) {
	s.T.Helper()
	before := len(s.Runs(workflow))
	n, written := 0, time.Time{}
	s.Wait(patience, workflow+" to fire", func() (bool, string) {
		if n++; time.Since(written) > 10*debounce { // sooner, the change would not come to rest
			s.write(name, "# Again "+strings.Repeat("x", n)+"\n")
			written = time.Now()
		}
		runs := s.Runs(workflow)
		return len(runs) > before, ""
	})
	s.Wait(patience, "runs of "+workflow+" to end", func() (bool, string) {
		for _, r := range s.Runs(workflow) {
			if !r.Status.Finished() {
				return false, string(r.Status)
			}
		}
		return true, ""
	})
}
