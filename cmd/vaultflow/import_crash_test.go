//go:build unix

package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// commitPoint is a moment of an import that can be seen in the vault.
type commitPoint struct {
	name    string
	reached func() bool
	last    bool // nothing follows, so the daemon may run on while it is looked for
}

// commitPoints are those of the import of Import/Report.pdf, in their order. What lies in a hidden folder goes away with it: such a
// point also counts as reached once the bundle is there.
func (s *site) commitPoints(pages int) []commitPoint {
	left := func(suffix, name string) bool {
		found, err := filepath.Glob(s.Path("Imported/.vaultflow-*" + suffix + "/" + name))
		return err == nil && len(found) > 0
	}
	there := func(name string) func() bool {
		return func() bool {
			_, err := os.Stat(s.Path(name))
			return err == nil
		}
	}
	hidden := func(suffix, name string) func() bool {
		return func() bool { return left(suffix, name) || there("Imported/Report/Report.md")() }
	}
	points := []commitPoint{{name: "document", reached: hidden("-work", "document.json")}}
	for n := range pages {
		points = append(points, commitPoint{name: fmt.Sprintf("page %d", n+1), reached: hidden("-work", fmt.Sprintf("page_%04d.json", n+1))})
	}
	return append(
		points,
		commitPoint{name: "plan", reached: hidden("-work", "plan.json")},
		commitPoint{name: "manifest and note", reached: func() bool { return hidden("", "manifest.json")() && hidden("", "Report.md")() }}, // written together
		commitPoint{name: "bundle", reached: there("Imported/Report/Report.md")},
		commitPoint{name: "original", reached: there("Imported/Report/Report.pdf")},
		commitPoint{name: "records discarded", reached: func() bool { return there("Imported/Report/Report.pdf")() && !left("", "") }},
		commitPoint{"job done", func() bool { // nobody can read the database of a daemon that is stopped in the middle of a commit
			out, _, code := s.CLI("import", "--status", "-n", "100", "--json")
			return code == 0 && strings.Contains(out, `"state":"done"`)
		}, true},
	)
}

// killAt kills the daemon as soon as a commit point is reached. It looks while the daemon is stopped, so that nothing
// happens between look and kill.
func (s *site) killAt(d *serving, p commitPoint) {
	s.T.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * patience); time.Now().Before(deadline); <-tick.C {
		if !p.last {
			d.Signal(syscall.SIGSTOP) // between two looks it runs for a millisecond
		}
		if p.reached() {
			d.Kill()
			return
		}
		d.Signal(syscall.SIGCONT)
		select {
		case <-d.Done:
			s.T.Fatalf("serve ended by itself before %s: %v", p.name, d.Cmd.ProcessState)
		default:
		}
	}
	s.T.Fatalf("%s was not reached; imports:\n%s", p.name, describe(s.Imports()))
}

// committed gives the pictures of pages that have a record.
func (s *site) committed() map[string]pageFile {
	s.T.Helper()
	found := map[string]pageFile{}
	for _, dir := range s.hidden("Imported") {
		if strings.HasSuffix(dir, "-work") {
			continue
		}
		for name, file := range s.pageFiles("Imported/" + dir + "/pages") {
			record := s.Path("Imported/" + dir + "-work/" + strings.TrimSuffix(name, path.Ext(name)) + ".json")
			if _, err := os.Stat(record); err == nil {
				found[name] = file
			}
		}
	}
	return found
}

// oneBundle checks that the import of Import/Report.pdf ended once and whole, that its original is in its place, and
// that the pictures that had been committed are those of the bundle. It gives the manifest.
func (s *site) oneBundle(pages int, original []byte, committed map[string]pageFile) manifest.Manifest {
	s.T.Helper()
	r := s.ended(1)["Import/Report.pdf"]
	if r.State != engine.ImportDone || r.Pages != pages || r.Bundle != "Imported/Report" {
		s.T.Errorf("after the restarts: %+v", r)
	}
	s.whole(r)
	if entries, err := os.ReadDir(s.Path("Imported")); err != nil || len(entries) != 1 {
		s.T.Errorf("in the bundles' folder: %v, %v; want one bundle and nothing hidden", entries, err)
	}
	if got := s.Read("Imported/Report/Report.pdf"); got != string(original) {
		s.T.Errorf("the original in the bundle has %d bytes, want %d", len(got), len(original))
	}
	if left := s.Files("Import", ""); len(left) != 0 {
		s.T.Errorf("left in the import folder: %q", left)
	}
	after := s.pageFiles("Imported/Report/pages")
	for name, file := range committed {
		if after[name] != file {
			s.T.Errorf("%s was committed before a kill and made again", name)
		}
	}
	m := s.manifest("Imported/Report")
	for i, p := range m.Pages {
		text := s.Read(fmt.Sprintf("Imported/Report/text/page_%04d.txt", i+1))
		if want := fmt.Sprintf("text of page number %d of", i+1); p.N != i+1 || strings.Count(text, want) != 1 {
			s.T.Errorf("page %d of the manifest is page %d with the text %q", i+1, p.N, text)
		}
	}
	return m
}

// TestServe_killedAtEveryCommitPoint kills the daemon at each commit point of one import in turn, so that it takes as
// many lives as there are points. Points that lie so close together that the kill came late are tried again on another
// import: in the end each one must have been the last that was reached before a kill.
func TestServe_killedAtEveryCommitPoint(t *testing.T) {
	t.Parallel()
	const rounds = 8
	pages := 5
	if long() {
		pages = 30
	}
	exe, original := worker(t), longText(pages)
	hit := map[string]bool{}
	lives := 0
	for round := range rounds {
		s := newSite(t, exe, "ingestion: {parallel: 1}\n")
		points := s.commitPoints(pages)
		s.Write("Import/Report.pdf", original)
		committed := map[string]pageFile{}
		left := 0
		for i, p := range points {
			if hit[p.name] || i+1 < len(points) && points[i+1].reached() {
				continue
			}
			s.killAt(s.start(), p)
			lives++
			if i+1 == len(points) || !points[i+1].reached() {
				hit[p.name] = true
			}
			for name, file := range s.committed() {
				if before, known := committed[name]; known && before != file {
					t.Errorf("killed at %s: %s was committed before and made again", p.name, name)
				}
				committed[name] = file
			}
		}
		d := s.serve()
		s.oneBundle(pages, original, committed)
		d.alive()
		d.stop()
		for _, p := range points {
			if !hit[p.name] {
				left++
				t.Logf("round %d: the kill at %s came late", round+1, p.name)
			}
		}
		if round == 0 && len(committed) < pages-3 {
			t.Errorf("only %d of %d pages were seen committed before a kill", len(committed), pages)
		}
		if left == 0 || t.Failed() {
			t.Logf("%d kills in %d rounds", lives, round+1)
			return
		}
	}
	t.Errorf("after %d rounds some commit points were never the last before a kill", rounds)
}
