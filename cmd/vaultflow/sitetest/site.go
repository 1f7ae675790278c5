//go:build unix

package sitetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/settings"
)

// Quick are settings with which nothing waits for people or slow disks.
const Quick = `vault: {quiet_period: 300ms, hold_period: 0s, stall_period: 2s, rescan_interval: 2s}
watch: {debounce: 200ms}
web: {listen: "127.0.0.1:0"}
`

// Site is a vault with its state, on which commands are run.
type Site struct {
	T      *testing.T
	Vault  string
	State  string
	Env    []string
	As     *syscall.SysProcAttr // of the commands; nil for the test's own
	Binary string               // of the commands; empty means the one of this source
}

// New makes an empty vault with Quick and more settings. Its worker is the one at the path, none when that is empty.
func New(t *testing.T, workerPath, settings string) *Site {
	t.Helper()
	dir := t.TempDir()
	s := &Site{T: t, Vault: filepath.Join(dir, "vault"), State: filepath.Join(dir, "state")}
	if workerPath == "" {
		workerPath = filepath.Join(dir, "no-worker")
	}
	env := Environment(dir)
	env["VAULTFLOW_INGESTION_WORKER"] = workerPath
	env["PATH"] = os.Getenv("PATH")
	env["TMPDIR"] = os.TempDir()
	for _, key := range slices.Sorted(maps.Keys(env)) {
		s.Env = append(s.Env, key+"="+env[key])
	}
	for _, dir := range []string{"Import", "Workflows"} {
		if err := os.MkdirAll(filepath.Join(s.Vault, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.Write("settings.yaml", []byte(Quick+settings))
	return s
}

// Path is where a file of the vault is.
func (s *Site) Path(name string) string { return filepath.Join(s.Vault, filepath.FromSlash(name)) }

// Write puts a file into the vault at one stroke, as an editor does.
func (s *Site) Write(name string, data []byte) {
	s.T.Helper()
	path := s.Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.T.Fatal(err)
	}
	temp := filepath.Join(filepath.Dir(s.Vault), "arriving")
	if err := os.WriteFile(temp, data, 0o644); err != nil {
		s.T.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		s.T.Fatal(err)
	}
	if name == settings.FileName {
		Allow(s.T, s.Vault, s.State)
	}
}

// Read returns a file's text, or "" if there is no file.
func (s *Site) Read(name string) string {
	s.T.Helper()
	data, err := os.ReadFile(s.Path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.T.Fatal(err)
	}
	return string(data)
}

// Files lists the files of a folder of the vault whose names have one of the suffixes, hidden ones included.
func (s *Site) Files(dir string, suffixes ...string) []string {
	s.T.Helper()
	var found []string
	err := filepath.WalkDir(s.Path(dir), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // moved while we looked
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(s.Vault, path)
		if slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) }) {
			found = append(found, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return found
}

// Command makes a process of vaultflow that works on the site.
func (s *Site) Command(args ...string) *exec.Cmd {
	s.T.Helper()
	ctx := context.WithoutCancel(s.T.Context()) // which ends before the cleanup that asks a daemon where it stands
	path := s.Binary
	if path == "" {
		path = Binary(s.T)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = s.Env, s.Vault, s.As
	return cmd
}

// CLI runs a command to its end.
func (s *Site) CLI(args ...string) (stdout, stderr string, code int) {
	s.T.Helper()
	cmd := s.Command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		s.T.Fatalf("vaultflow %s: %v", strings.Join(args, " "), err)
	} else if ok {
		code = failed.ExitCode()
	}
	return out.String(), errs.String(), code
}

// Must runs a command that has to succeed.
func (s *Site) Must(args ...string) string {
	s.T.Helper()
	out, errs, code := s.CLI(args...)
	if code != 0 {
		s.T.Fatalf("vaultflow %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// Rows runs a command that prints one JSON object a line.
func Rows[T any](s *Site, args ...string) []T {
	s.T.Helper()
	var list []T
	for dec := json.NewDecoder(strings.NewReader(s.Must(append(args, "--json")...))); dec.More(); {
		var row T
		if err := dec.Decode(&row); err != nil {
			s.T.Fatalf("vaultflow %s: %v", strings.Join(args, " "), err)
		}
		list = append(list, row)
	}
	return list
}

// Runs lists a workflow's runs, newest first.
func (s *Site) Runs(workflow string) []engine.RunRecord {
	s.T.Helper()
	return Rows[engine.RunRecord](s, "runs", workflow, "-n", "100")
}

// Imports lists all imports.
func (s *Site) Imports() []engine.ImportRecord {
	s.T.Helper()
	return Rows[engine.ImportRecord](s, "import", "--status", "-n", "100")
}

// Wait asks again and again until the condition holds, and fails the test with what it saw last when it does not in time. Asking takes at most
// a quarter of the time: most questions start a process, and other tests need the processor.
func (s *Site) Wait(limit time.Duration, what string, holds func() (bool, string)) {
	s.T.Helper()
	deadline := time.Now().Add(limit)
	for {
		asked := time.Now()
		ok, saw := holds()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			s.T.Fatalf("waited %s for %s; last:\n%s", limit, what, saw)
		}
		time.Sleep(max(30*time.Millisecond, 3*time.Since(asked)))
	}
}
