//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/settings"
)

// The tests of serve start the real binary and kill it in earnest: nothing of it lives in the test's process. They look
// at what it did through other commands and through the vault, as a person would.

// patience is how long anything may take on a machine that is busy with other tests.
const patience = 60 * time.Second

// built is the binary under test, made once for all tests of the package.
var built struct {
	once sync.Once
	path string
	err  error
}

// forgetOld removes the binaries of test processes that are gone; nothing runs at the end of one.
func forgetOld() {
	old, err := filepath.Glob(filepath.Join(os.TempDir(), "vaultflow-test-*"))
	if err != nil {
		return
	}
	for _, dir := range old {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), "vaultflow-test-%d", &pid); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			os.RemoveAll(dir)
		}
	}
}

// binary builds vaultflow as it is shipped, without cgo and without the race detector's weight.
func binary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		forgetOld()
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("vaultflow-test-%d", os.Getpid()))
		if built.err = os.MkdirAll(dir, 0o755); built.err != nil {
			return
		}
		if built.err = os.Chmod(dir, 0o755); built.err != nil { // a command of another test may have made it, for its cache and itself alone
			return
		}
		built.path = filepath.Join(dir, "vaultflow")
		cmd := exec.CommandContext(context.Background(), "go", "build", "-o", built.path, ".") //nolint:usetesting // it outlives the first test
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// worker finds the worker, or skips the test with the reason.
func worker(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the worker; not under -short")
	}
	path := os.Getenv("VAULTFLOW_WORKER")
	if path == "" {
		path = filepath.Join("..", "..", "bin", "vaultflow-worker")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs the worker: %v; `make build` makes it, VAULTFLOW_WORKER names another", err)
	}
	return path
}

// site is a vault with its state, on which commands are run.
type site struct {
	t     *testing.T
	vault string
	state string
	env   []string
	as    *syscall.SysProcAttr // of the commands; nil for the test's own

	binary string // of the commands; empty means the one of this source
}

// quick are settings with which nothing waits for people or slow disks.
const quick = `vault: {quiet_period: 300ms, hold_period: 0s, stall_period: 2s, rescan_interval: 2s}
watch: {debounce: 200ms}
web: {listen: "127.0.0.1:0"}
`

// newSite makes an empty vault. Its worker is the one at the path, none when that is empty.
func newSite(t *testing.T, workerPath, settings string) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{t: t, vault: filepath.Join(dir, "vault"), state: filepath.Join(dir, "state")}
	if workerPath == "" {
		workerPath = filepath.Join(dir, "no-worker")
	}
	env := environment(dir)
	env["VAULTFLOW_INGESTION_WORKER"] = workerPath
	env["PATH"] = os.Getenv("PATH")
	env["TMPDIR"] = os.TempDir()
	for _, key := range slices.Sorted(maps.Keys(env)) {
		s.env = append(s.env, key+"="+env[key])
	}
	for _, dir := range []string{"Import", "Workflows"} {
		if err := os.MkdirAll(filepath.Join(s.vault, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.write("settings.yaml", quick+settings)
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.vault, filepath.FromSlash(name)) }

// write puts a file into the vault at one stroke, as an editor does.
func (s *site) write(name, text string) { s.writeBytes(name, []byte(text)) }

func (s *site) writeBytes(name string, data []byte) {
	s.t.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	temp := filepath.Join(filepath.Dir(s.vault), "arriving")
	if err := os.WriteFile(temp, data, 0o644); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		s.t.Fatal(err)
	}
	if name == settings.FileName {
		allowSettings(s.t, s.vault, s.state)
	}
}

// read gives a file's text, empty when there is none.
func (s *site) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(data)
}

// files lists the vault's files whose name has one of the suffixes, hidden ones included.
func (s *site) files(dir string, suffixes ...string) []string {
	s.t.Helper()
	var found []string
	err := filepath.WalkDir(s.path(dir), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // moved while we looked
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(s.vault, path)
		for _, suffix := range suffixes {
			if strings.HasSuffix(name, suffix) {
				found = append(found, filepath.ToSlash(name))
				break
			}
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// hidden lists what is hidden below a folder: what an import had under way.
func (s *site) hidden(dir string) []string {
	s.t.Helper()
	entries, err := os.ReadDir(s.path(dir))
	if err != nil {
		s.t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			found = append(found, e.Name())
		}
	}
	return found
}

// command makes a process of vaultflow that works on the site.
func (s *site) command(args ...string) *exec.Cmd {
	s.t.Helper()
	ctx := context.WithoutCancel(s.t.Context()) // which ends before the cleanup that asks a daemon where it stands
	path := s.binary
	if path == "" {
		path = binary(s.t)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = s.env, s.vault, s.as
	return cmd
}

// cli runs a command to its end.
func (s *site) cli(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	cmd := s.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		s.t.Fatalf("vaultflow %s: %v", strings.Join(args, " "), err)
	} else if ok {
		code = failed.ExitCode()
	}
	return out.String(), errs.String(), code
}

// long says whether tests that take minutes run in full: `make test-long` sets the variable.
func long() bool { return os.Getenv("VAULTFLOW_LONG") != "" }

// must runs a command that has to succeed.
func (s *site) must(args ...string) string {
	s.t.Helper()
	out, errs, code := s.cli(args...)
	if code != exitDone {
		s.t.Fatalf("vaultflow %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// rows runs a command that prints one JSON object a line.
func rows[T any](s *site, args ...string) []T {
	s.t.Helper()
	var list []T
	for dec := json.NewDecoder(strings.NewReader(s.must(append(args, "--json")...))); dec.More(); {
		var row T
		if err := dec.Decode(&row); err != nil {
			s.t.Fatalf("vaultflow %s: %v", strings.Join(args, " "), err)
		}
		list = append(list, row)
	}
	return list
}

func (s *site) runs(workflow string) []engine.RunRecord {
	s.t.Helper()
	return rows[engine.RunRecord](s, "runs", workflow, "-n", "100")
}

func (s *site) imports() []engine.ImportRecord {
	s.t.Helper()
	return rows[engine.ImportRecord](s, "import", "--status", "-n", "100")
}

// ended gives the imports by source when so many have ended and no other is under way.
func (s *site) ended(want int) map[string]engine.ImportRecord {
	s.t.Helper()
	found := map[string]engine.ImportRecord{}
	s.wait(4*patience, fmt.Sprintf("%d imports to end", want), func() (bool, string) {
		all := s.imports()
		clear(found)
		ended := 0
		for _, r := range all {
			found[r.Source] = r
			if r.State.Finished() {
				ended++
			}
		}
		return ended == want && len(all) == want, describe(all)
	})
	return found
}

func describe(all []engine.ImportRecord) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%s: %s, page %d of %d, bundle %q, %s %s\n", r.Source, r.State, r.Page, r.Pages, r.Bundle, r.Reason, r.Error)
	}
	return b.String()
}

// wait asks again and again until the condition holds, and fails the test with what it saw last when it does not in time.
func (s *site) wait(limit time.Duration, what string, holds func() (bool, string)) {
	s.t.Helper()
	deadline := time.Now().Add(limit)
	for tick := time.NewTicker(30 * time.Millisecond); ; {
		ok, saw := holds()
		if ok {
			tick.Stop()
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("waited %s for %s; last:\n%s", limit, what, saw)
		}
		<-tick.C
	}
}

// serving is a serve that is running.
type serving struct {
	s    *site
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{} // closed when the process is gone
}

// serve starts the daemon and waits until it answers and watches.
func (s *site) serve() *serving {
	s.t.Helper()
	d := s.start()
	s.wait(patience, "serve to answer", func() (bool, string) {
		select {
		case <-d.done:
			s.t.Fatalf("serve ended by itself: %v", d.cmd.ProcessState)
		default:
		}
		out, errs, code := s.cli("serve", "--url")
		said, err := os.ReadFile(d.log.Name())
		if err != nil {
			s.t.Fatal(err)
		}
		return code == exitDone && bytes.Contains(said, []byte("watching "+s.vault)), out + errs + string(said)
	})
	return d
}

// start starts the daemon, with more flags. What it logs is shown when the test fails.
func (s *site) start(flags ...string) *serving {
	s.t.Helper()
	log, err := os.CreateTemp(filepath.Dir(s.vault), "serve-*.log")
	if err != nil {
		s.t.Fatal(err)
	}
	d := &serving{s: s, cmd: s.command(append([]string{"serve"}, flags...)...), log: log, done: make(chan struct{})}
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(d.done)
		d.cmd.Wait()
	}()
	s.t.Cleanup(func() {
		if s.t.Failed() {
			d.signal(syscall.SIGCONT)
			d.signal(syscall.SIGQUIT) // says where every goroutine stands
			select {
			case <-d.done:
			case <-time.After(5 * time.Second):
			}
		}
		d.kill()
		if data, err := os.ReadFile(log.Name()); err == nil && s.t.Failed() {
			s.t.Logf("serve said:\n%s", data)
		}
		log.Close()
	})
	return d
}

func (d *serving) signal(sig syscall.Signal) {
	d.s.t.Helper()
	if err := d.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.s.t.Fatalf("signal %s: %v", sig, err)
	}
}

// kill ends the daemon as a power cut would, and waits until it is gone.
func (d *serving) kill() {
	d.s.t.Helper()
	d.signal(syscall.SIGKILL)
	<-d.done
}

// stop asks the daemon to end, and says how long that took.
func (d *serving) stop() time.Duration {
	d.s.t.Helper()
	asked := time.Now()
	d.signal(syscall.SIGTERM)
	select {
	case <-d.done:
	case <-time.After(patience):
		d.s.t.Fatalf("serve still runs %s after SIGTERM", patience)
	}
	return time.Since(asked)
}

// alive fails the test when the daemon does not answer.
func (d *serving) alive() {
	d.s.t.Helper()
	if url := strings.TrimSpace(d.s.must("serve", "--url")); !strings.HasPrefix(url, "http://127.0.0.1:") {
		d.s.t.Errorf("serve --url says %q", url)
	}
}

// dashboard is the address of the dashboard of the serve that is running.
func (s *site) dashboard() string {
	s.t.Helper()
	var line struct{ URL string }
	if err := json.Unmarshal([]byte(s.must("serve", "--url", "--json")), &line); err != nil {
		s.t.Fatal(err)
	}
	return line.URL
}

// token is the owner's token, as its file has it.
func (s *site) token() string {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.state, "web-token"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}

// browse sends a request to the dashboard with the owner's token. The body of the answer is closed with the test.
func (s *site) browse(method, path string, body io.Reader) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.dashboard()+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func TestServe_startsOnceAnswersAndStops(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	if _, errs, code := s.cli("serve", "--url"); code != exitFailed || !strings.Contains(errs, "no serve is running") {
		t.Errorf("serve --url without serve: exit code %d, %q", code, errs)
	}
	d := s.serve()
	d.alive()

	second := s.start()
	select {
	case <-second.done:
	case <-time.After(patience):
		t.Fatal("a second serve on the same vault goes on")
	}
	said, err := os.ReadFile(second.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	if code := second.cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(string(said), "another vaultflow serve already uses this vault") {
		t.Errorf("second serve: exit code %d, want %d and the reason; it said:\n%s", code, exitFailed, said)
	}
	if want := fmt.Sprintf("serve already uses this vault: process %d", d.cmd.Process.Pid); !strings.Contains(string(said), want) || !strings.Contains(string(said), "vaultflow serve --url") {
		t.Errorf("the second serve does not say %q, and how to reach it:\n%s", want, said)
	}
	d.alive()

	if took := d.stop(); took > 5*time.Second {
		t.Errorf("serve took %s to stop", took)
	}
	if code := d.cmd.ProcessState.ExitCode(); code != exitDone {
		t.Errorf("a serve that was asked to stop has exit code %d", code)
	}
	if _, _, code := s.cli("serve", "--url"); code != exitFailed {
		t.Errorf("serve --url after the stop: exit code %d", code)
	}
	s.serve().alive() // the state directory is free again
}
