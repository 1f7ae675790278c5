//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
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

// site is a vault with its state, on which commands are run.
type site struct{ *sitetest.Site }

// newSite makes an empty vault. Its worker is the one at the path, none when that is empty.
func newSite(t *testing.T, workerPath, settings string) *site {
	t.Helper()
	return &site{sitetest.New(t, workerPath, settings)}
}

// write puts a text into the vault at one stroke, as an editor does.
func (s *site) write(name, text string) {
	s.T.Helper()
	s.Write(name, []byte(text))
}

// hidden lists what is hidden below a folder: what an import had under way.
func (s *site) hidden(dir string) []string {
	s.T.Helper()
	entries, err := os.ReadDir(s.Path(dir))
	if err != nil {
		s.T.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			found = append(found, e.Name())
		}
	}
	return found
}

// rows runs a command that prints one JSON object a line.
func rows[T any](s *site, args ...string) []T {
	s.T.Helper()
	return sitetest.Rows[T](s.Site, args...)
}

// ended gives the imports by source when so many have ended and no other is under way.
func (s *site) ended(want int) map[string]engine.ImportRecord {
	s.T.Helper()
	found := map[string]engine.ImportRecord{}
	s.Wait(4*patience, fmt.Sprintf("%d imports to end", want), func() (bool, string) {
		all := s.Imports()
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

// serving is a serve that is running.
type serving struct {
	*sitetest.Serving
	s *site
}

// serve starts the daemon and waits until it answers and watches.
func (s *site) serve() *serving {
	s.T.Helper()
	return &serving{s.Serve(), s}
}

// start starts the daemon, with more flags. What it logs is shown when the test fails.
func (s *site) start(flags ...string) *serving {
	s.T.Helper()
	return &serving{s.Start(flags...), s}
}

// stop asks the daemon to end, and says how long that took.
func (d *serving) stop() time.Duration {
	d.s.T.Helper()
	asked := time.Now()
	d.Signal(syscall.SIGTERM)
	select {
	case <-d.Done:
	case <-time.After(patience):
		d.s.T.Fatalf("serve still runs %s after SIGTERM", patience)
	}
	return time.Since(asked)
}

// alive fails the test when the daemon does not answer.
func (d *serving) alive() {
	d.s.T.Helper()
	if url := strings.TrimSpace(d.s.Must("serve", "--url")); !strings.HasPrefix(url, "http://127.0.0.1:") {
		d.s.T.Errorf("serve --url says %q", url)
	}
}

// dashboard is the address of the dashboard of the serve that is running.
func (s *site) dashboard() string {
	s.T.Helper()
	var line struct{ URL string }
	if err := json.Unmarshal([]byte(s.Must("serve", "--url", "--json")), &line); err != nil {
		s.T.Fatal(err)
	}
	return line.URL
}

// token is the owner's token, as its file has it.
func (s *site) token() string {
	s.T.Helper()
	token, err := os.ReadFile(filepath.Join(s.State, "web-token"))
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}

// browse sends a request to the dashboard with the owner's token. The body of the answer is closed with the test.
func (s *site) browse(method, path string, body io.Reader) *http.Response {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), method, s.dashboard()+path, body)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { answer.Body.Close() })
	return answer
}

func TestServe_startsOnceAnswersAndStops(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	if _, errs, code := s.CLI("serve", "--url"); code != exitFailed || !strings.Contains(errs, "no serve is running") {
		t.Errorf("serve --url without serve: exit code %d, %q", code, errs)
	}
	d := s.serve()
	d.alive()

	second := s.start()
	select {
	case <-second.Done:
	case <-time.After(patience):
		t.Fatal("a second serve on the same vault goes on")
	}
	said, err := os.ReadFile(second.Log.Name())
	if err != nil {
		t.Fatal(err)
	}
	if code := second.Cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(string(said), "another vaultflow serve already uses this vault") {
		t.Errorf("second serve: exit code %d, want %d and the reason; it said:\n%s", code, exitFailed, said)
	}
	if want := fmt.Sprintf("serve already uses this vault: process %d", d.Cmd.Process.Pid); !strings.Contains(string(said), want) || !strings.Contains(string(said), "vaultflow serve --url") {
		t.Errorf("the second serve does not say %q, and how to reach it:\n%s", want, said)
	}
	d.alive()

	if took := d.stop(); took > 5*time.Second {
		t.Errorf("serve took %s to stop", took)
	}
	if code := d.Cmd.ProcessState.ExitCode(); code != exitDone {
		t.Errorf("a serve that was asked to stop has exit code %d", code)
	}
	if _, _, code := s.CLI("serve", "--url"); code != exitFailed {
		t.Errorf("serve --url after the stop: exit code %d", code)
	}
	s.serve().alive() // the state directory is free again
}

// said is what the daemon has logged so far.
func (d *serving) said() string {
	data, err := os.ReadFile(d.Log.Name())
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// page gets a page of the dashboard.
func (s *site) page(path string) string {
	s.T.Helper()
	response := s.browse(http.MethodGet, path, nil)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(data)
}

// emptied waits until nothing is left in the import folder.
func (s *site) emptied() {
	s.T.Helper()
	s.Wait(patience, "the import folder to be empty", func() (bool, string) {
		left := s.Files("Import")
		return len(left) == 0, strings.Join(left, ", ")
	})
}
