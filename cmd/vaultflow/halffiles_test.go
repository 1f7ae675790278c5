//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/vault"
)

// halves are files of kinds that do not show where they end, in two parts, and words of the second that their note has;
// none where the file is only kept.
var halves = []struct{ name, first, second, said string }{
	{"server.log", "one\n", "two, the last line\n", "two, the last line"},
	{"sales.csv", "month,sum\nMay,1\n", "June,2 of the rest\n", "2 of the rest"},
	{"page.html", "<html><body><article><h1>Report</h1><p>The first paragraph of it.</p>", "<p>The second paragraph.</p></article></body></html>", "The second paragraph"},
	{"letter.eml", "From: a@example.org\r\nTo: b@example.org\r\nSubject: Rent\r\n\r\nThe first line.\r\n", "The second line.\r\n", "The second line."},
	{"talk.mp3", "ID3\x04\x00\x00\x00\x00\x00\x00\xff\xfb\x90\x00first", "\xff\xfb\x90\x00second", ""},
}

// begun creates a file of the import folder with its first half and leaves it open.
func (s *site) begun(name, first string) *os.File {
	s.t.Helper()
	f, err := os.Create(s.path("Import/" + name))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { f.Close() })
	s.more(f, first)
	return f
}

func (s *site) more(f *os.File, text string) {
	s.t.Helper()
	if _, err := f.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// versions gives the versions of a source that have ended, the newest first.
func (s *site) versions(name string) (all []engine.ImportRecord) {
	s.t.Helper()
	for _, r := range s.imports() {
		if r.Source == "Import/"+name && r.State.Finished() {
			all = append(all, r)
		}
	}
	return all
}

// last waits for so many versions of a source and fails the test unless the last is whole: the original's bytes, the manifest's
// digest and the note agree. It returns the last one's manifest.
func (s *site) last(name string, versions int, content, said string) ingestion.Manifest {
	s.t.Helper()
	var all []engine.ImportRecord
	s.wait(2*patience, fmt.Sprintf("version %d of %s", versions, name), func() (bool, string) {
		all = s.versions(name)
		return len(all) >= versions, describe(s.imports())
	})
	if len(all) != versions || all[0].State != engine.ImportDone {
		s.t.Fatalf("%d versions of %s, want %d:\n%s", len(all), name, versions, describe(all))
	}
	return s.agrees(all[0].Bundle, content, said)
}

// agrees fails the test unless a bundle's original, its manifest and its note are of the same content.
func (s *site) agrees(bundle, content, said string) ingestion.Manifest {
	s.t.Helper()
	m := s.manifest(bundle)
	if got := s.read(bundle + "/" + m.Source.Name); got != content {
		s.t.Errorf("the original in %s holds %q, want %q", bundle, got, content)
	}
	if want := vault.Digest([]byte(content)); m.Source.SHA256 != want || m.Source.Size != int64(len(content)) {
		s.t.Errorf("the manifest of %s names %d bytes with %s, want %d with %s", bundle, m.Source.Size, m.Source.SHA256, len(content), want)
	}
	if note := s.read(bundle + "/index.md"); !strings.Contains(note, said) {
		s.t.Errorf("the note of %s lacks %q:\n%s", bundle, said, note)
	}
	return m
}

// A file that its writer holds open for longer than the quiet period, and the stall period, is taken when it is closed, whole.
func TestHalf_heldOpen(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"auto", "poll"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			s.write("settings.yaml", strings.Replace(s.read("settings.yaml"), "{quiet", "{watch: "+mode+", quiet", 1))
			s.serve()
			var open []*os.File
			for _, h := range halves {
				open = append(open, s.begun(h.name, h.first))
			}
			s.wait(patience, "all of them to be waited for", func() (bool, string) {
				waiting := 0
				for _, r := range s.imports() {
					if r.State == engine.ImportReceiving && strings.Contains(r.Reason, "has it open for writing") {
						waiting++
					}
				}
				return waiting == len(halves), describe(s.imports())
			})
			if out := s.must("status"); !strings.Contains(out, "has it open for writing") {
				t.Errorf("status does not say why they wait:\n%s", out)
			}
			<-time.After(2500 * time.Millisecond) // longer than the stall period: being still proves nothing
			if all := s.files("Imported"); len(all) > 0 {
				t.Errorf("taken while they are open: %q", all)
			}
			for i, h := range halves {
				s.more(open[i], h.second)
				open[i].Close()
			}
			for _, h := range halves {
				s.last(h.name, 1, h.first+h.second, h.said)
			}
		})
	}
}

// Where the system does not say who has a file open, the half is taken, and what becomes of it is the next version: the file
// belongs to another user than serve, and so does its writer.
func TestHalf_withoutLeases(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run serve as another user")
	}
	t.Parallel()
	for _, mode := range []string{"auto", "poll"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			s.write("settings.yaml", strings.Replace(s.read("settings.yaml"), "{quiet", "{watch: "+mode+", quiet", 1))
			s.unprivileged()
			d := s.serve()
			var open []*os.File
			for _, h := range halves {
				open = append(open, s.begun(h.name, h.first))
			}
			for _, h := range halves {
				s.last(h.name, 1, h.first, "")
			}
			if mode == "poll" { // they go on while nobody is there
				d.kill()
			}
			for i, h := range halves {
				s.more(open[i], h.second)
				open[i].Close()
			}
			if mode == "poll" {
				s.serve()
			}
			for _, h := range halves {
				m := s.last(h.name, 2, h.first+h.second, h.said)
				if m.Import.Version != 2 || len(m.Import.History) == 0 {
					t.Errorf("%s is version %d with history %+v", h.name, m.Import.Version, m.Import.History)
				}
				stem := strings.TrimSuffix(h.name, filepath.Ext(h.name))
				old := s.agrees("Imported/"+stem+" (version 1)", h.first, "")
				if n := len(old.Import.History); n == 0 || old.Import.History[n-1].Event != "grown" {
					t.Errorf("the half of %s has the history %+v, want that it went on growing", h.name, old.Import.History)
				}
			}
		})
	}
}

// A writer that writes the whole file anew after the first was taken makes a next version; one that appends to the name that is
// free again makes one of what it wrote, and the version before keeps the beginning.
func TestHalf_reopened(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.serve()
	s.begun("whole.log", "one\n").Close()
	s.begun("rest.log", "one\n...").Close()
	s.last("whole.log", 1, "one\n", "one")
	s.last("rest.log", 1, "one\n...", "one")
	s.begun("whole.log", "one\ntwo\n").Close()
	s.begun("rest.log", "two\n").Close()
	s.last("whole.log", 2, "one\ntwo\n", "two")
	s.last("rest.log", 2, "two\n", "two")
	s.agrees("Imported/rest (version 1)", "one\n...", "one")
}

// A writer that goes on with the half, after another has put a new file in its place and that was imported, ends as the newest
// version, whole; each version has its own bytes.
func TestHalf_twoWriters(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run serve as another user")
	}
	t.Parallel()
	s := newSite(t, "", "")
	s.unprivileged()
	s.serve()
	first := s.begun("both.log", "one\n")
	s.last("both.log", 1, "one\n", "one")
	s.begun("both.log", "other\n").Close()
	s.last("both.log", 2, "other\n", "other")
	s.more(first, "two\n")
	first.Close()
	s.last("both.log", 3, "one\ntwo\n", "two")
	s.agrees("Imported/both (version 1)", "one\n", "one")
	s.agrees("Imported/both (version 2)", "other\n", "other")
}

// The case as it was reported, with the quiet period that people have.
func TestHalf_asReported(t *testing.T) {
	if !long() {
		t.Skip("it waits as long as a person's program does; this is among the tests that take minutes")
	}
	t.Parallel()
	s := newSite(t, "", "")
	s.write("settings.yaml", "web: {listen: \"127.0.0.1:0\"}\n")
	s.serve()
	script := exec.CommandContext(t.Context(), "sh", "-c", "(printf 'one\\n'; sleep 6; printf 'two\\n') > \"$0\"", s.path("Import/log.txt"))
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.last("log.txt", 1, "one\ntwo\n", "two")
}
