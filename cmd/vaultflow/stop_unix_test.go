//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// interruptible has a model that answers once and then hangs, and a worker that hangs.
func interruptible(t *testing.T) (*site, *hangingModel) {
	t.Helper()
	m := newHangingModel(t)
	worker := filepath.Join(t.TempDir(), "deaf-worker")
	programtest.Write(t, worker, []byte("#!/bin/sh\n[ -f /dev/fd/3 ] || exit 1\ncat >/dev/null\n"))
	s := newSite(t, worker, "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, price: {input: 1000, output: 1000}}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+m.url+"/v1\", api_key_env: LAB_KEY}}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Workflows/Two.md", note("description: two", "@output file: One", "First.")+"\n## Second\n@output file: Two\n\nSecond.\n")
	return s, m
}

// interrupted is a command that gets signals once something holds.
func interrupted(s *site, holds func() (bool, string), signals []os.Signal, args ...string) (said string, code int) {
	s.T.Helper()
	cmd := s.Command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.T.Fatal(err)
	}
	s.Wait(patience, "the moment of the signal", holds)
	for _, sig := range signals {
		if err := cmd.Process.Signal(sig); err != nil {
			s.T.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			code = failed.ExitCode()
		}
	case <-time.After(patience):
		s.T.Fatalf("%s still runs", args[0])
	}
	return out.String(), code
}

// TestInterrupt_endsTheRun: after Ctrl-C, what the command printed is so: with serve and without, for run, retry and import.
func TestInterrupt_endsTheRun(t *testing.T) {
	t.Parallel()
	for _, serves := range []bool{false, true} {
		t.Run(fmt.Sprintf("serve %t", serves), func(t *testing.T) {
			t.Parallel()
			s, m := interruptible(t)
			var d *serving
			if serves {
				d = s.serve()
			}
			second := func() (bool, string) { return m.asked.Load() == 2, "" }
			said, code := interrupted(s, second, []os.Signal{os.Interrupt}, "run", "Two")
			r := s.Runs("Two")[0]
			if r.Status != engine.Cancelled || code != exitCancelled || !strings.Contains(said, "cancelled") || !strings.Contains(said, "counted in budgets: $") {
				t.Errorf("run: exit code %d, the run is %s, and it says:\n%s", code, r.Status, said)
			}
			if s.Read("One.md") != "Tea.\n" || s.Read("Two.md") != "" {
				t.Errorf("One.md holds %q, Two.md %q", s.Read("One.md"), s.Read("Two.md"))
			}
			third := func() (bool, string) { return m.asked.Load() == 3, "" }
			if said, code := interrupted(s, third, []os.Signal{os.Interrupt}, "retry", r.ID); code != exitCancelled || s.Runs("Two")[0].Status != engine.Cancelled {
				t.Errorf("retry: exit code %d, the run is %s, and it says:\n%s", code, s.Runs("Two")[0].Status, said)
			}

			file := filepath.Join(t.TempDir(), "letter.pdf")
			programtest.Write(t, file, []byte("%PDF-1.4\nnothing\n%%EOF\n"))
			working := func() (bool, string) {
				all := s.Imports()
				return len(all) == 1 && all[0].State == engine.ImportWorking, describe(all)
			}
			said, code = interrupted(s, working, []os.Signal{os.Interrupt}, "import", file)
			if code != exitCancelled || !strings.Contains(said, "nothing was paid") {
				t.Errorf("import: exit code %d, and it says:\n%s", code, said)
			}
			s.Wait(patience, "the import to be cancelled", func() (bool, string) {
				all := s.Imports()
				return all[0].State == engine.ImportCancelled, describe(all)
			})
			said, code = interrupted(s, working, []os.Signal{os.Interrupt}, "import", file) // is wanted after all
			if all := s.Imports(); code != exitCancelled || len(all) != 1 || !strings.Contains(said, "stopping run") {
				t.Errorf("the same import: exit code %d, %s, and it says:\n%s", code, describe(all), said)
			}
			if !serves {
				return
			}
			d.stop()
			s.serve()
			s.write("Import/after.txt", "Tea.")
			s.Wait(patience, "a file that arrived later", func() (bool, string) {
				all := s.Imports()
				return len(all) == 2 && all[0].State == engine.ImportDone, describe(all)
			})
			if found := s.Imports()[1]; found.State != engine.ImportCancelled {
				t.Errorf("serve found a file whose import was cancelled, and it is %s", found.State)
			}
		})
	}
}

// TestInterrupt_leaves: SIGTERM ends the command alone, and --detach does not wait. Without serve, a run is interrupted.
func TestInterrupt_leaves(t *testing.T) {
	t.Parallel()
	s, m := interruptible(t)
	if _, errs, code := s.CLI("run", "Two", "--detach"); code != exitUsage || !strings.Contains(errs, "vaultflow serve") {
		t.Errorf("--detach without serve: exit code %d, %s", code, errs)
	}
	second := func() (bool, string) { return m.asked.Load() == 2, "" }
	said, code := interrupted(s, second, []os.Signal{syscall.SIGTERM}, "run", "Two")
	if r := s.Runs("Two")[0]; code != exitCancelled || r.Status != engine.Running || !strings.Contains(said, "retry "+r.ID) {
		t.Errorf("exit code %d, the run is %s, and it says:\n%s", code, r.Status, said)
	}
	s.serve()
	third := func() (bool, string) { return m.asked.Load() == 3, "" }
	s.Wait(patience, "the run to resume", third)
	r := s.Runs("Two")[0]
	said, code = interrupted(s, third, []os.Signal{syscall.SIGTERM}, "retry", r.ID)
	if now := s.Runs("Two")[0]; now.Status != engine.Running {
		t.Errorf("exit code %d, the run is %s, and it says:\n%s", code, now.Status, said)
	}
	s.Must("cancel", r.ID)
	m.answers.Store(true)
	if out := s.Must("run", "Two", "--detach"); !strings.Contains(out, "continues in the running serve") {
		t.Errorf("--detach says %q", out)
	}
	s.Wait(patience, "the detached run", func() (bool, string) {
		r := s.Runs("Two")[0]
		return r.Status == engine.Done, string(r.Status)
	})
}
