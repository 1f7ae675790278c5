//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func copySite(t *testing.T) *site {
	t.Helper()
	s := newSite(t, "", "")
	s.write("Workflows/Copy.md", note("description: copy", "@input file: In\n@model none\n@output file: Out", ""))
	s.write("In.md", "text\n")
	return s
}

// A backup that is made while serve carries out runs is restored whole: each run in it can be shown, and the next one works.
func TestBackup_whileServeWorks(t *testing.T) {
	t.Parallel()
	s := copySite(t)
	d := s.serve()
	s.Must("run", "Copy")
	var runs sync.WaitGroup
	for range 2 {
		runs.Go(func() { s.CLI("run", "Copy", "--fresh") })
	}
	file := filepath.Join(t.TempDir(), "backup")
	s.Must("backup", file)
	runs.Wait()
	if _, errs, code := s.CLI("restore", file, "--replace"); code != exitFailed {
		t.Errorf("restore under serve: exit code %d\n%s", code, errs)
	}
	d.Kill()
	s.Must("restore", file, "--replace")
	restored := s.Runs("Copy")
	for _, r := range restored {
		if out, errs, code := s.CLI("show", r.ID, "--receipt", "--events"); code != exitDone {
			t.Errorf("show %s: exit code %d\n%s", r.ID, code, fmt.Sprint(out, errs))
		}
	}
	s.Must("run", "Copy", "--fresh")
	if now := s.Runs("Copy"); len(restored) == 0 || len(now) != len(restored)+1 {
		t.Errorf("%d runs were restored, and there are %d after one more", len(restored), len(now))
	}
}

// killAfter runs a command and kills it after a while. It reports whether it had ended before.
func killAfter(t *testing.T, s *site, after time.Duration, args ...string) (ended bool) {
	t.Helper()
	cmd := s.Command(args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)      // any moment is a good one
	_ = cmd.Process.Kill() // it may have ended
	return cmd.Wait() == nil
}

// Backups, restores and moves that are killed at many moments leave one history or the other, and the next command works.
func TestRestore_killed(t *testing.T) {
	t.Parallel()
	if os.Getenv("VAULTFLOW_LONG") == "" {
		t.Skip("takes a minute: VAULTFLOW_LONG=1; the tests of daemon/backup and daemon/statedir stop after each step")
	}
	s := copySite(t)
	for range 3 {
		s.Must("run", "Copy", "--fresh")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	for after := time.Duration(0); !killAfter(t, s, after, "backup", file); after += 5 * time.Millisecond {
		if _, err := os.Stat(file); err == nil {
			break // published, and killed behind it
		}
	}
	s.Must("run", "Copy", "--fresh")
	former, begun, ended := 4, 0, 0
	for after := time.Duration(0); ended < 3; after += 2 * time.Millisecond {
		killed := !killAfter(t, s, after, "restore", file, "--replace")
		out, errs, code := s.CLI("runs", "--json")
		if code != exitDone {
			if !strings.Contains(errs, "`vaultflow restore`") || !killed {
				t.Fatalf("after %s: exit code %d\n%s%s", after, code, out, errs)
			}
			begun++
			s.Must("restore")
		}
		got := len(s.Runs("Copy"))
		if got != former && got != 3 || !killed && got != 3 {
			t.Fatalf("after %s (killed %v): %d runs, want %d or 3", after, killed, got, former)
		}
		if !killed {
			ended++
		}
		s.Must("run", "Copy", "--fresh")
		former = got + 1
		left, _ := filepath.Glob(filepath.Join(s.State, ".restore-*"))
		if len(left) > 0 {
			t.Fatalf("after %s: left behind: %v", after, left)
		}
	}
	t.Logf("%d restores were killed after they had begun", begun)
}

// A move that is killed at any moment is completed by the next one, and the vault stays trusted.
func TestMove_killed(t *testing.T) {
	t.Parallel()
	if os.Getenv("VAULTFLOW_LONG") == "" {
		t.Skip("takes a minute: VAULTFLOW_LONG=1; the tests of daemon/statedir and settings/vaultid stop after each step")
	}
	s := copySite(t)
	s.Must("run", "Copy", "--fresh")
	places, runs, ended := [2]string{s.Vault, s.Vault + " moved"}, 1, 0
	for after := time.Duration(0); ended < 3; after += 4 * time.Millisecond {
		from, to := places[(runs+1)%2], places[runs%2]
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		s.Vault = to
		if killAfter(t, s, after, "move", "--vault", to) {
			ended++
		}
		s.Must("move", "--vault", to)
		s.Must("run", "Copy", "--fresh", "--vault", to)
		runs++
		if got := strings.Count(s.Must("runs", "--json", "--vault", to, "-n", "500"), `"type":"run"`); got != runs {
			t.Fatalf("after %s: %d runs, want %d", after, got, runs)
		}
	}
}
