//go:build linux && amd64

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
)

// brokenDisk is a folder whose disk can be made to fail, for a supervised process.
type brokenDisk struct {
	dir   string
	fault atomic.Int64 // what changes get, an errno; zero when the disk is in order
}

// judge refuses changes while the disk fails. On a full one, things can be removed and synced.
func (d *brokenDisk) judge(c fileCall) syscall.Errno {
	fault := syscall.Errno(d.fault.Load())
	frees := []string{"unlink", "unlinkat", "rmdir", "ftruncate", "fsync", "fdatasync"}
	if fault == 0 || !c.below(d.dir) || fault == syscall.ENOSPC && slices.Contains(frees, c.name) {
		return 0
	}
	return fault
}

func (d *brokenDisk) fails(with syscall.Errno) { d.fault.Store(int64(with)) }

// superviseServe starts the daemon so that its changes of files are judged.
func (s *site) superviseServe(judge func(fileCall) syscall.Errno, flags ...string) *serving {
	s.T.Helper()
	return s.askingServe(&supervised{judge: judge, done: make(chan struct{})}, flags...)
}

// askingServe starts a daemon that asks.
func (s *site) askingServe(process *supervised, flags ...string) *serving {
	s.T.Helper()
	log, err := os.CreateTemp(filepath.Dir(s.Vault), "serve-*.log")
	if err != nil {
		s.T.Fatal(err)
	}
	d := &serving{&sitetest.Serving{Site: s.Site, Cmd: s.Command(append([]string{"serve"}, flags...)...), Log: log, Done: make(chan struct{})}, s}
	d.Cmd.Stdout, d.Cmd.Stderr = log, log
	process.cmd = d.Cmd
	process.start(s.T)
	go func() {
		defer close(d.Done)
		d.Cmd.Wait()
		<-process.done
	}()
	s.T.Cleanup(func() {
		d.Kill()
		if s.T.Failed() {
			s.T.Logf("serve said:\n%s", d.said())
		}
		log.Close()
	})
	return d
}

// says waits until the daemon has logged a text so many times.
func (d *serving) says(text string, times int) {
	d.s.T.Helper()
	d.s.Wait(patience, fmt.Sprintf("serve to say %q", text), func() (bool, string) {
		return strings.Count(d.said(), text) >= times, d.said()
	})
}

// TestFaults_vaultCannotBeWritten lets the vault's disk be full, or read-only, while a run has its answer: the run waits, says so, and goes
// on by itself; the model is asked once.
func TestFaults_vaultCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, fault := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS} {
		t.Run(fault.Error(), func(t *testing.T) {
			t.Parallel()
			f := newFakeModel(t)
			s := askedSite(t, f)
			broken := brokenDisk{dir: s.Vault}
			d := s.superviseServe(broken.judge)
			d.says("watching "+s.Vault, 1)
			broken.fails(fault)
			by := s.Command("run", "Ask")
			var out bytes.Buffer
			by.Stdout, by.Stderr = &out, &out
			if err := by.Start(); err != nil {
				t.Fatal(err)
			}
			d.says("run postponed", 2)
			var run engine.RunRecord
			s.Wait(patience, "the run to say what it waits for", func() (bool, string) { // while it tries again, it says nothing
				run = s.Runs("Ask")[0]
				return run.Status == engine.Running && strings.Contains(run.Reason, "continues by itself") && strings.Contains(run.Reason, fault.Error()), fmt.Sprintf("%s, %q", run.Status, run.Reason)
			})
			if page := s.page("/runs/" + run.ID); !strings.Contains(page, "continues by itself") {
				t.Errorf("the dashboard's page of the run says nothing of it:\n%s", page)
			}
			if got := s.Read("Out/Log.md"); got != "# Log\n" {
				t.Errorf("while the disk fails the output holds %q", got)
			}
			broken.fails(0)
			if err := by.Wait(); err != nil {
				t.Errorf("run: %v\n%s", err, &out)
			}
			s.finishedOnce()
			if calls := f.calls.Load(); calls != 1 {
				t.Errorf("the model was asked %d times, want once", calls)
			}
		})
	}
}

// TestFaults_stateCannotBeWritten lets the disk of the state be full as soon as an answer is kept.
func TestFaults_stateCannotBeWritten(t *testing.T) {
	t.Parallel()
	f := newFakeModel(t)
	s := askedSite(t, f)
	broken := brokenDisk{dir: s.State}
	var once atomic.Bool
	d := s.superviseServe(func(c fileCall) syscall.Errno {
		verdict := broken.judge(c)
		if c.name == "fsync" && c.below(filepath.Join(s.State, "received")) && once.CompareAndSwap(false, true) {
			broken.fails(syscall.ENOSPC)
		}
		return verdict
	})
	d.says("watching "+s.Vault, 1)
	by := s.Command("run", "Ask")
	if err := by.Start(); err != nil {
		t.Fatal(err)
	}
	d.says("run postponed", 2)
	if _, errs, code := s.CLI("run", "Ask"); code != exitFailed || !strings.Contains(errs, "full") {
		t.Errorf("another run on a full disk: exit code %d, %q; want a refusal that names the disk", code, errs)
	}
	broken.fails(0)
	if err := by.Wait(); err != nil {
		t.Error(err)
	}
	s.finishedOnce()
	if calls := f.calls.Load(); calls != 1 {
		t.Errorf("the model was asked %d times, want once", calls)
	}
}

// TestFaults_start starts serve where it cannot work: it ends at once, says why and what to do, and changes nothing.
func TestFaults_start(t *testing.T) {
	t.Parallel()
	ended := func(t *testing.T, d *serving, says ...string) {
		t.Helper()
		<-d.Done
		if code := d.Cmd.ProcessState.ExitCode(); code != exitFailed {
			t.Errorf("exit code %d, want %d", code, exitFailed)
		}
		for _, text := range says {
			if !strings.Contains(d.said(), text) {
				t.Errorf("it said nothing of %q:\n%s", text, d.said())
			}
		}
	}
	for _, fault := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS} {
		t.Run("the state: "+fault.Error(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			broken := brokenDisk{dir: s.State}
			broken.fails(fault)
			ended(t, s.superviseServe(broken.judge), "open the state in "+s.State, "hint:")
		})
	}
	t.Run("a broken database", func(t *testing.T) {
		t.Parallel()
		f := newFakeModel(t)
		s := askedSite(t, f)
		s.Must("run", "Ask")
		path := filepath.Join(s.State, "state.db")
		garbage := bytes.Repeat([]byte("no database "), 1000)
		if err := os.WriteFile(path, garbage, 0o600); err != nil {
			t.Fatal(err)
		}
		ended(t, s.start(), "the state database is broken", "move state.db away")
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, garbage) {
			t.Errorf("the broken database was changed: %d bytes, %v", len(now), err)
		}
	})
	t.Run("another state directory", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "", "")
		s.write("Workflows/Idle.md", note("description: Idle.", "@model offline", "Nothing to do."))
		first := s.serve()
		other := filepath.Join(filepath.Dir(s.Vault), "other")
		ended(t, s.start("--state-dir", other, "--listen", "127.0.0.1:0"), "another vaultflow uses this vault", "hint:")
		if _, errs, code := s.CLI("run", "Idle", "--state-dir", other); code != exitFailed || !strings.Contains(errs, "another vaultflow uses this vault") {
			t.Errorf("run: exit code %d, %q", code, errs)
		}
		first.alive()
		first.stop()
		s.start("--state-dir", other, "--listen", "127.0.0.1:0").says("watching "+s.Vault, 1) // nothing is trusted there: web.listen waits
	})
}

// TestFaults_goneAndBack takes away the state directory, or the vault, under a serve that works: it stops its work, says so, makes nothing
// anew, and goes on when it is back, with its history.
func TestFaults_goneAndBack(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"state", "vault", "vault, an empty folder in its place"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFakeModel(t)
			s := askedSite(t, f)
			s.write("Workflows/Watch.md", note(`watch: "Inbox/*.md"`+"\ncatch_up: all", "@input file: Inbox/A.md\n@output file: Out/Watch\n@write_mode append", "Sum it up."))
			d := s.serve()
			s.Must("run", "Ask")
			dir, empty := s.State, strings.HasSuffix(what, "place")
			if what != "state" {
				dir = s.Vault
			}
			move := func(from, to string) {
				t.Helper()
				if err := os.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			}
			move(dir, dir+".away")
			if empty {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			d.says("stopped until it is back", 1)
			if empty {
				if made, err := os.ReadDir(dir); err != nil || len(made) != 0 {
					t.Errorf("made in the empty folder: %v, %v", made, err)
				}
				if err := os.Remove(dir); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s was made anew", dir)
			}
			move(dir+".away", dir)
			d.says("watching "+s.Vault, 2)
			s.Must("run", "Ask")
			if runs := s.Runs("Ask"); len(runs) != 2 {
				t.Errorf("%d runs in the history, want 2", len(runs))
			}
			if runs := s.Runs("Watch"); len(runs) != 0 {
				t.Errorf("a run of a file that nobody changed: %+v", runs)
			}
			d.alive()
		})
	}
}
