//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
)

// The tests of serve start the real binary and kill it in earnest: nothing of it lives in the test's process. They look
// at what it did through other commands and through the vault, as a person would.

// patience is how long anything may take on a machine that is busy with other tests.
const patience = sitetest.Patience

// quick are settings with which nothing waits for people or slow disks.
const quick = sitetest.Quick

func worker(t *testing.T) string {
	t.Helper()
	return sitetest.Worker(t, filepath.Join("..", ".."))
}

// long reports whether tests that take minutes run in full.
func long() bool { return sitetest.Long() }

// site is a vault with its state, on which commands are run: sitetest.Site in the words of this package.
type site struct {
	t     *testing.T
	vault string
	state string
	env   []string
	as    *syscall.SysProcAttr // of the commands; nil for the test's own

	binary string // of the commands; empty means the one of this source
}

// newSite makes an empty vault. Its worker is the one at the path, none when that is empty.
func newSite(t *testing.T, workerPath, settings string) *site {
	t.Helper()
	s := sitetest.New(t, workerPath, settings)
	return &site{t: t, vault: s.Vault, state: s.State, env: s.Env}
}

func (s *site) kit() *sitetest.Site {
	return &sitetest.Site{T: s.t, Vault: s.vault, State: s.state, Env: s.env, As: s.as, Binary: s.binary}
}

func (s *site) path(name string) string { return s.kit().Path(name) }

// write puts a file into the vault at one stroke, as an editor does.
func (s *site) write(name, text string) { s.writeBytes(name, []byte(text)) }

func (s *site) writeBytes(name string, data []byte) {
	s.t.Helper()
	s.kit().Write(name, data)
}

// read returns a file's text, or "" if there is no file.
func (s *site) read(name string) string {
	s.t.Helper()
	return s.kit().Read(name)
}

// files lists the vault's files whose name has one of the suffixes, hidden ones included.
func (s *site) files(dir string, suffixes ...string) []string {
	s.t.Helper()
	return s.kit().Files(dir, suffixes...)
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
	return s.kit().Command(args...)
}

// cli runs a command to its end.
func (s *site) cli(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	return s.kit().CLI(args...)
}

// must runs a command that has to succeed.
func (s *site) must(args ...string) string {
	s.t.Helper()
	return s.kit().Must(args...)
}

// rows runs a command that prints one JSON object a line.
func rows[T any](s *site, args ...string) []T {
	s.t.Helper()
	return sitetest.Rows[T](s.kit(), args...)
}

func (s *site) runs(workflow string) []engine.RunRecord {
	s.t.Helper()
	return s.kit().Runs(workflow)
}

func (s *site) imports() []engine.ImportRecord {
	s.t.Helper()
	return s.kit().Imports()
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
	s.kit().Wait(limit, what, holds)
}

// serving is a serve that is running.
type serving struct {
	*sitetest.Serving
	s    *site
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{} // closed when the process is gone
}

func (s *site) running(d *sitetest.Serving) *serving {
	return &serving{Serving: d, s: s, cmd: d.Cmd, log: d.Log, done: d.Done}
}

// serve starts the daemon and waits until it answers and watches.
func (s *site) serve() *serving {
	s.t.Helper()
	return s.running(s.kit().Serve())
}

// start starts the daemon, with more flags. What it logs is shown when the test fails.
func (s *site) start(flags ...string) *serving {
	s.t.Helper()
	return s.running(s.kit().Start(flags...))
}

func (d *serving) signal(sig syscall.Signal) {
	d.s.t.Helper()
	d.Signal(sig)
}

// kill ends the daemon as a power cut would, and waits until it is gone.
func (d *serving) kill() {
	d.s.t.Helper()
	d.Kill()
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
