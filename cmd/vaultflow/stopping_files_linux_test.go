//go:build linux && amd64

package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

var saidBefore = regexp.MustCompile(`stopped before (\d+) files?; the same command continues`)

// stopImport is a signal in the middle of an import of several files.
type stopImport struct {
	serves  bool
	moment  string
	signals []syscall.Signal
}

// importMoments are calls of the process that imports: each is that of the third file.
var importMoments = map[string]func(s *site, c fileCall) bool{
	"copied":    func(s *site, c fileCall) bool { return c.below(s.Path("Import/in/3.txt")) },
	"published": func(s *site, c fileCall) bool { return strings.HasPrefix(c.path, s.Path("Imported/in/3")) },
}

const importedFiles = 7

func (c stopImport) test(t *testing.T) {
	t.Helper()
	s := newSite(t, "", "")
	var folder string
	for n := range importedFiles {
		folder = filepath.Join(filepath.Dir(s.Vault), "in")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		programtest.Write(t, filepath.Join(folder, fmt.Sprintf("%d.txt", n)), fmt.Appendf(nil, "Words of file %d.\n", n))
	}
	cell := stopCell{command: "import", serves: c.serves, signals: c.signals}
	r := &stopRig{stopCell: cell, site: s, t: t, hold: newHold(), args: []string{"import", folder}}
	t.Cleanup(r.hold.release)
	r.call = func(f fileCall) bool { return importMoments[c.moment](s, f) }
	if c.serves {
		s.superviseServe(r.judge)
		s.Wait(patience, "serve", func() (bool, string) { out, errs, code := s.CLI("serve", "--url"); return code == 0, out + errs })
	}
	r.armed.Store(true)
	said, code, reached := r.play()
	if !reached {
		t.Fatalf("the moment never came; exit code %d:\n%s", code, said)
	}
	all := slices.DeleteFunc(s.Imports(), func(i engine.ImportRecord) bool { // serve finds originals that stayed, and a file that was being copied
		again := strings.Contains(said, "the original stayed where it was") && !strings.Contains(said, i.ID)
		return again || strings.HasPrefix(i.ID, "arrival:") || strings.Contains(said, path.Base(i.Source)+": the running serve had not answered") && !strings.Contains(said, i.ID)
	})
	if code != exitCancelled {
		t.Errorf("exit code %d", code)
	}
	rest := importedFiles - len(all) - strings.Count(said, "had not answered")
	if m := saidBefore.FindStringSubmatch(said); rest > 0 && (m == nil || m[1] != fmt.Sprint(rest)) || rest == 0 && m != nil {
		t.Errorf("%d files were not begun", rest)
	}
	goesOn := 0
	for _, i := range all {
		named := strings.Contains(said, i.ID)
		open := !slices.Contains([]engine.ImportState{engine.ImportDone, engine.ImportCancelled}, i.State)
		if !named || open && !saidLeft.MatchString(said) {
			t.Errorf("import %s of %s is %s", i.ID, i.Source, i.State)
		}
		if strings.Contains(said, "run "+i.ID+" continues in the running serve") {
			goesOn++
		}
	}
	if goesOn > 0 {
		s.Wait(patience, "those that continue", func() (bool, string) {
			all := s.Imports()
			done := slices.DeleteFunc(slices.Clone(all), func(i engine.ImportRecord) bool { return i.State != engine.ImportDone })
			return len(done) >= goesOn, describe(all)
		})
	}
	if t.Failed() {
		t.Logf("exit code %d, it said:\n%s\n%s", code, said, describe(s.Imports()))
	}
	s.Must("import", folder)
	for n := range importedFiles {
		if text := s.Read(fmt.Sprintf("Imported/in/%[1]d/%[1]d.md", n)); !strings.Contains(text, fmt.Sprintf("Words of file %d.", n)) {
			t.Errorf("imported again, and the note %d holds %q; there are %q", n, text, s.Files("Imported", ".md"))
		}
	}
}

// TestStop_imports: what a command that was stopped among several files says of each of them is so, and the same command continues.
func TestStop_imports(t *testing.T) {
	t.Parallel()
	for _, serves := range []bool{false, true} {
		for moment := range importMoments {
			for _, signals := range [][]syscall.Signal{{syscall.SIGINT}, {syscall.SIGINT, syscall.SIGINT}, {syscall.SIGTERM}, {syscall.SIGHUP}} {
				if !long() && (moment != "published" || serves || len(signals) == 2 || signals[0] == syscall.SIGHUP) {
					continue
				}
				t.Run(fmt.Sprintf("serve %t, %s, %v", serves, moment, signals), func(t *testing.T) {
					t.Parallel()
					stopImport{serves, moment, signals}.test(t)
				})
			}
		}
	}
}

// sweep stops a command at each call in turn, until one is not reached, and returns how many were.
func (s *site) sweep(t *testing.T, args func(n int) []string, check func(n, code int, said string)) int {
	t.Helper()
	for n := 1; ; n++ {
		var calls atomic.Int32
		r := &stopRig{stopCell: stopCell{signals: []syscall.Signal{syscall.SIGINT}}, site: s, t: t, hold: newHold(), args: args(n)}
		r.call = func(fileCall) bool { return int(calls.Add(1)) == n }
		r.armed.Store(true)
		said, code, reached := r.play()
		check(n, code, said)
		if !reached || t.Failed() {
			return n - 1
		}
	}
}

// TestStop_backupRestoreMove: a command about the history that was stopped has done nothing, or everything and says so. The next one finds
// all in order.
func TestStop_backupRestoreMove(t *testing.T) {
	t.Parallel()
	if !long() {
		t.Skip("it stops commands at every call; this is among the tests that take minutes")
	}
	for _, serves := range []bool{false, true} {
		t.Run(fmt.Sprintf("backup, serve %t", serves), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			s.write("Workflows/Copy.md", note("description: copy", "@model none\n@input file: In\n@output file: Out\n@write_mode replace", "x"))
			s.write("In.md", "Tea.\n")
			s.Must("run", "Copy")
			if serves {
				s.serve()
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "a.backup")
			done := s.sweep(t, func(int) []string { return []string{"backup", file} }, func(n, code int, said string) {
				_, err := os.Stat(file)
				if (err == nil) != (code == exitDone) || code != exitDone && (code != exitCancelled || said != "" && !strings.Contains(said, "cancelled")) {
					t.Errorf("stopped at call %d: exit code %d, %v:\n%s", n, code, err, said)
				}
				if left, _ := filepath.Glob(filepath.Join(dir, ".vaultflow*")); len(left) > 0 {
					t.Errorf("stopped at call %d: left %q", n, left)
				}
				os.Remove(file)
			})
			t.Logf("%d calls", done)
		})
	}
	t.Run("restore", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "", "")
		s.write("Workflows/Copy.md", note("description: copy", "@model none\n@input file: In\n@output file: Out\n@write_mode replace", "x"))
		s.write("In.md", "Tea.\n")
		dir := t.TempDir()
		for n := range 2 {
			s.Must("run", "Copy")
			s.Must("backup", filepath.Join(dir, fmt.Sprint(n+1)))
		}
		now := 2
		done := s.sweep(t, func(int) []string { return []string{"restore", "--replace", filepath.Join(dir, fmt.Sprint(3-now))} }, func(n, code int, said string) {
			if strings.Contains(said, "finishes it") {
				s.Must("restore")
				now = 3 - now
			} else if code == exitDone {
				now = 3 - now
			}
			if runs := len(s.Runs("Copy")); runs != now || code != exitDone && (code != exitCancelled || said != "" && !strings.Contains(said, "cancelled") && !strings.Contains(said, "finishes it")) {
				t.Errorf("stopped at call %d: exit code %d, %d runs, want %d:\n%s", n, code, runs, now, said)
			}
		})
		t.Logf("%d calls", done)
	})
	t.Run("move", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "", "")
		s.write("Workflows/Copy.md", note("description: copy", "@model none\n@input file: In\n@output file: Out\n@write_mode replace", "x"))
		s.write("In.md", "Tea.\n")
		s.Must("run", "Copy")
		var before string
		done := s.sweep(t, func(n int) []string {
			before = s.Vault
			s.Vault = filepath.Join(filepath.Dir(before), fmt.Sprintf("vault-%d", n))
			if err := os.Rename(before, s.Vault); err != nil {
				t.Fatal(err)
			}
			return []string{"--vault", s.Vault, "move"}
		}, func(n, code int, said string) {
			out, errs, again := s.CLI("--vault", s.Vault, "move")
			want := "continues the history of " + before
			if code == exitDone {
				want = "is where its state directory"
			}
			if again != exitDone || !strings.Contains(out, want) || code != exitDone && (code != exitCancelled || said != "" && !strings.Contains(said, "cancelled")) {
				t.Errorf("stopped at call %d: exit code %d:\n%s\nthen exit code %d:\n%s%s", n, code, said, again, out, errs)
			}
		})
		t.Logf("%d calls", done)
	})
}
