//go:build linux

package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
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
	s.T.Helper()
	f, err := os.Create(s.Path("Import/" + name))
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { f.Close() })
	s.more(f, first)
	return f
}

func (s *site) more(f *os.File, text string) {
	s.T.Helper()
	if _, err := f.WriteString(text); err != nil {
		s.T.Fatal(err)
	}
}

// versions gives the versions of a source that have ended, the newest first.
func (s *site) versions(name string) (all []engine.ImportRecord) {
	s.T.Helper()
	for _, r := range s.Imports() {
		if r.Source == "Import/"+name && r.State.Finished() {
			all = append(all, r)
		}
	}
	return all
}

// last waits for so many versions of a source and fails the test unless the last is whole: the original's bytes, the manifest's
// digest and the note agree. It returns the last one's manifest.
func (s *site) last(name string, versions int, content, said string) manifest.Manifest {
	s.T.Helper()
	var all []engine.ImportRecord
	s.Wait(2*patience, fmt.Sprintf("version %d of %s", versions, name), func() (bool, string) {
		all = s.versions(name)
		return len(all) >= versions, describe(s.Imports())
	})
	if len(all) != versions || all[0].State != engine.ImportDone {
		s.T.Fatalf("%d versions of %s, want %d:\n%s", len(all), name, versions, describe(all))
	}
	return s.agrees(all[0].Bundle, content, said)
}

// agrees fails the test unless a bundle's original, its manifest and its note are of the same content.
func (s *site) agrees(bundle, content, said string) manifest.Manifest {
	s.T.Helper()
	m := s.manifest(bundle)
	if got := s.Read(bundle + "/" + m.Source.Name); got != content {
		s.T.Errorf("the original in %s holds %q, want %q", bundle, got, content)
	}
	if want := vault.Digest([]byte(content)); m.Source.SHA256 != want || m.Source.Size != int64(len(content)) {
		s.T.Errorf("the manifest of %s names %d bytes with %s, want %d with %s", bundle, m.Source.Size, m.Source.SHA256, len(content), want)
	}
	if note := s.Read(bundle + "/" + m.NoteName()); !strings.Contains(note, said) {
		s.T.Errorf("the note of %s lacks %q:\n%s", bundle, said, note)
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
			s.holding(mode, "0s")
			s.serve()
			var open []*os.File
			for _, h := range halves {
				open = append(open, s.begun(h.name, h.first))
			}
			s.Wait(patience, "all of them to be waited for", func() (bool, string) {
				waiting := 0
				for _, r := range s.Imports() {
					if r.State == engine.ImportReceiving && strings.Contains(r.Reason, "has it open for writing") {
						waiting++
					}
				}
				return waiting == len(halves), describe(s.Imports())
			})
			if out := s.Must("status"); !strings.Contains(out, "has it open for writing") {
				t.Errorf("status does not say why they wait:\n%s", out)
			}
			<-time.After(2500 * time.Millisecond) // longer than the stall period: being still proves nothing
			if all := s.Files("Imported"); len(all) > 0 {
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

// replaced fails the test if an earlier version of a file is left: all of its bytes are in the last one.
func (s *site) replaced(name string) {
	s.T.Helper()
	bundle := "Imported/" + strings.TrimSuffix(name, filepath.Ext(name))
	s.Wait(patience, "the earlier versions of "+name+" to be gone", func() (bool, string) {
		left := s.Files(bundle+" (version 1)", "")
		return len(left) == 0, strings.Join(left, ", ")
	})
	for _, h := range s.manifest(bundle).Import.History {
		if h.Bundle != "" {
			s.T.Errorf("the history of %s names %s", name, h.Bundle)
		}
	}
}

// A program that appends every few seconds leaves one bundle, with the words of the user, and a version for a run that read it.
func TestHalf_appendedAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: offline}}}\n")
	s.holding("auto", "10m")
	s.serve()
	text := ""
	for i, line := range []string{"one\n", "two\n", "three\n", "four\n"} {
		s.reopened("log.txt", line)
		text += line
		s.last("log.txt", i+1, text, strings.TrimSpace(line))
		switch i {
		case 1:
			s.write("Imported/log/log.md", s.Read("Imported/log/log.md")+"\nMine.\n")
		case 2:
			s.write("Workflows/Read.md", note("description: reader", "@input file: Imported/log/log\n@output file: Out", "Sum it up."))
			s.Must("run", "Read")
		}
	}
	var found []string
	for _, name := range s.Files("Imported", "manifest.json") {
		found = append(found, filepath.Dir(name))
	}
	if want := []string{"Imported/log", "Imported/log (version 3)"}; !slices.Equal(found, want) || !strings.Contains(s.Read("Imported/log/log.md"), "Mine.") {
		t.Errorf("bundles %q, want %q; the note:\n%s", found, want, s.Read("Imported/log/log.md"))
	}
	s.agrees("Imported/log (version 3)", "one\ntwo\nthree\n", "three")
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
			s.holding(mode, "0s")
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
				d.Kill()
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
				s.replaced(h.name)
			}
		})
	}
}

// holding sets how the vault is watched and how long files stay in the import folder after their import.
func (s *site) holding(watch, hold string) {
	s.T.Helper()
	now := s.Read("settings.yaml")
	_, rest, found := strings.Cut(now, "hold_period: ")
	_, rest, more := strings.Cut(rest, ",")
	if !found || !more {
		s.T.Fatalf("the settings say nothing about a hold:\n%s", now)
	}
	text := fmt.Sprintf("vault: {watch: %s, quiet_period: 300ms, hold_period: %s,%s", watch, hold, rest)
	if err := os.WriteFile(s.Path("settings.yaml"), []byte(text), 0o644); err != nil {
		s.T.Fatal(err)
	}
}

// reopened appends to a file of the import folder, or creates it, and closes it.
func (s *site) reopened(name, text string) {
	s.T.Helper()
	f, err := os.OpenFile(s.Path("Import/"+name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		s.T.Fatal(err)
	}
	defer f.Close()
	s.more(f, text)
}

// A writer that closes a file, pauses for longer than the quiet period, and then appends to it ends with one version that is whole.
func TestHalf_reopened(t *testing.T) {
	t.Parallel()
	for _, watch := range []string{"auto", "poll"} {
		for _, user := range []string{"leases", "no leases"} {
			t.Run(watch+", "+user, func(t *testing.T) {
				t.Parallel()
				if user == "no leases" && os.Geteuid() != 0 {
					t.Skip("only root can run serve as another user")
				}
				s := newSite(t, "", "")
				s.holding(watch, "10m")
				if user == "no leases" {
					s.unprivileged()
				}
				d := s.serve()
				for _, h := range halves {
					s.reopened(h.name, h.first)
				}
				for _, h := range halves {
					s.last(h.name, 1, h.first, "")
				}
				for _, h := range halves {
					s.reopened(h.name, h.second)
				}
				for _, h := range halves {
					if m := s.last(h.name, 2, h.first+h.second, h.said); m.Import.Version != 2 {
						t.Errorf("%s is version %d", h.name, m.Import.Version)
					}
					s.replaced(h.name)
					if got := s.Read("Import/" + h.name); got != h.first+h.second {
						t.Errorf("in the import folder %s holds %q", h.name, got)
					}
				}
				if user == "leases" { // the command would make files of its own user
					if out := s.Must("status"); strings.Contains(out, "Import/") {
						t.Errorf("status speaks of files that were imported:\n%s", out)
					}
				}
				d.stop()
				s.holding(watch, "100ms")
				s.serve()
				s.emptied()
				for _, h := range halves {
					s.last(h.name, 2, h.first+h.second, h.said)
				}
				if all := s.Imports(); len(all) != 2*len(halves) {
					t.Errorf("after the restart there are other imports:\n%s", describe(all))
				}
			})
		}
	}
}

// A file that is written anew with bytes that it had before has them again, as the next version.
func TestHalf_writtenBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.holding("auto", "10m")
	s.serve()
	for i, word := range []string{"well", "failed", "well"} {
		s.write("Import/state.txt", "all services: "+word+"\n")
		s.last("state.txt", i+1, "all services: "+word+"\n", word)
	}
	s.agrees("Imported/state (version 1)", "all services: well\n", "well")
	if out := s.Must("import", "--status"); !strings.Contains(out, "stays in the import folder for now") {
		t.Errorf("import --status does not say that the file is held:\n%s", out)
	}
}

// Whatever happens to a file that is held, and to serve, nothing is lost and nothing is imported twice.
func TestHalf_held(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.holding("auto", "10m")
	d := s.serve()
	names := []string{"rewritten.csv", "replaced.csv", "deleted.csv", "named.csv", "left.csv"}
	for _, name := range names {
		s.reopened(name, "month,sum\n1,"+name+"\n")
	}
	for _, name := range names {
		s.last(name, 1, "month,sum\n1,"+name+"\n", name)
	}
	s.begun("rewritten.csv", "month,sum\n2,rewritten\n").Close()
	s.write("Import/replaced.csv", "month,sum\n3,replaced\n")
	s.last("rewritten.csv", 2, "month,sum\n2,rewritten\n", "rewritten")
	s.last("replaced.csv", 2, "month,sum\n3,replaced\n", "replaced")
	d.Kill()
	if err := os.Remove(s.Path("Import/deleted.csv")); err != nil {
		t.Fatal(err)
	}
	d = s.serve()
	if err := os.Rename(s.Path("Import/named.csv"), s.Path("Import/other.csv")); err != nil {
		t.Fatal(err)
	}
	s.Wait(patience, "the renamed file to be recognised", func() (bool, string) {
		all := s.versions("other.csv")
		return len(all) == 1 && all[0].State == engine.ImportDuplicate, describe(s.Imports())
	})
	d.Kill()
	s.holding("auto", "50ms")
	s.serve()
	s.emptied()
	s.last("rewritten.csv", 2, "month,sum\n2,rewritten\n", "rewritten")
	s.last("replaced.csv", 2, "month,sum\n3,replaced\n", "replaced")
	for _, name := range []string{"deleted.csv", "named.csv", "left.csv"} {
		s.last(name, 1, "month,sum\n1,"+name+"\n", name)
	}
	s.reopened("natural.csv", "month,sum\n")
	s.last("natural.csv", 1, "month,sum\n", "sum")
	s.emptied()
	s.last("natural.csv", 1, "month,sum\n", "sum")
	s.reopened("natural.csv", "another,file\n")
	s.last("natural.csv", 2, "another,file\n", "another")
	s.reopened("later.csv", "later\n")
	s.last("later.csv", 1, "later\n", "later")
	s.emptied()
	if all := s.Imports(); len(all) != 11 || slices.ContainsFunc(all, func(r engine.ImportRecord) bool { return !r.State.Finished() }) {
		t.Errorf("%d imports, want 11 that have ended:\n%s", len(all), describe(all))
	}
}

// A descriptor that its writer keeps open over the end of the hold, where the system does not tell, leads to the original: what
// is written to it is the next version.
func TestHalf_openOverTheHold(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run serve as another user")
	}
	t.Parallel()
	s := newSite(t, "", "")
	s.holding("auto", "50ms")
	s.unprivileged()
	s.serve()
	f := s.begun("server.log", "one\n")
	s.last("server.log", 1, "one\n", "one")
	s.emptied()
	s.more(f, "two\n")
	f.Close()
	s.last("server.log", 2, "one\ntwo\n", "two")
	s.replaced("server.log")
}

// A file that the kind of its format can tell the end of, and any with a hold of nothing, leaves the import folder with its import.
func TestHalf_notHeld(t *testing.T) {
	t.Parallel()
	var archive strings.Builder
	z := zip.NewWriter(&archive)
	member, err := z.Create("server.log")
	if err = errors.Join(err, z.SetComment("whole")); err != nil {
		t.Fatal(err)
	}
	if _, err := member.Write([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		hold, name, content string
		files               int
	}{{"10m", "logs.zip", archive.String(), 2}, {"0s", "server.log", "one\n", 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			s.holding("auto", c.hold)
			s.serve()
			s.write("Import/"+c.name, c.content)
			s.Wait(patience, "the imports to end", func() (bool, string) {
				all := s.Imports()
				return len(all) == c.files && !slices.ContainsFunc(all, func(r engine.ImportRecord) bool { return r.State != engine.ImportDone }), describe(all)
			})
			if left := s.Files("Import"); len(left) != 0 {
				t.Errorf("left in the import folder: %q", left)
			}
		})
	}
}

// A writer that goes on with the half, after another has put a new file in its place and that was imported, ends as the newest
// version, whole; each version has its own bytes.
func TestHalf_twoWriters(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run serve as another user")
	}
	t.Parallel()
	s := newSite(t, "", "")
	s.holding("auto", "0s")
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

// The cases as they were reported, with the periods that people have.
func TestHalf_asReported(t *testing.T) {
	if !long() {
		t.Skip("it waits as long as a person's program does; this is among the tests that take minutes")
	}
	t.Parallel()
	s := newSite(t, "", "")
	s.write("settings.yaml", "web: {listen: \"127.0.0.1:0\"}\n")
	s.serve()
	for _, line := range []string{
		`(printf 'one\n'; sleep 6; printf 'two\n') > log.txt`,
		`for i in 1 2 3 4; do echo row$i,1 >> data.csv; sleep 3; done`,
		`printf 'From: a@example.org\nSubject: Rent\n\nOne.\n' > letter.eml; sleep 5; echo Two. >> letter.eml`,
	} {
		script := exec.CommandContext(t.Context(), "sh", "-c", line)
		script.Dir = s.Path("Import")
		if out, err := script.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	s.last("log.txt", 1, "one\ntwo\n", "two")
	s.last("letter.eml", 2, "From: a@example.org\nSubject: Rent\n\nOne.\nTwo.\n", "Two.")
	s.emptied()
	s.agrees("Imported/data", "row1,1\nrow2,1\nrow3,1\nrow4,1\n", "row4")
}
