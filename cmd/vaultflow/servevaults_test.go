//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/daemon/statusnote"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy/trust/trusttest"
	"github.com/vaultflow/vaultflow/settings"
)

// TestServe_severalVaults: of three vaults, one has a state that cannot be written, and one is removed while serve works. In the third, runs
// and imports succeed; the list says what is wrong with the others, and the one that comes back is served again.
func TestServe_severalVaults(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	base := filepath.Dir(s.Vault)
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool {
		return strings.HasPrefix(v, "VAULTFLOW_VAULT=") || strings.HasPrefix(v, "VAULTFLOW_STATE_DIR=")
	})
	states := filepath.Join(base, "xdg", "vaultflow")
	var list strings.Builder
	for _, name := range []string{"good", "full", "gone", "faulty", "locked"} {
		dir := filepath.Join(base, "vaults", name)
		s.Vault, s.State = dir, filepath.Join(states, settings.VaultID(dir))
		for _, folder := range []string{"Import", "Workflows"} {
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if name != "full" {
			if err := trusttest.Own(dir, s.State); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(s.State, nil, 0o600); err != nil { // where its folder would be
			t.Fatal(err)
		}
		list.WriteString("  - " + dir + "\n")
		if name != "full" {
			s.Write("settings.yaml", []byte(sitetest.Quick))
		}
	}
	own := filepath.Join(base, "config", "vaultflow", "settings.yaml")
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("web: {listen: \"127.0.0.1:0\"}\nvaults:\n"+list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	vault := func(name string) string { return filepath.Join(base, "vaults", name) }
	for name, text := range map[string]string{
		vault("faulty") + "/settings.yaml": "engine: [\n",
		vault("locked") + "/settings.yaml": sitetest.Quick + "engine: {status_note: Status.md}\n",
		vault("locked") + "/Status.md":     "Mine.\n" + statusnote.Begins + "\nToday: 3 runs.\n" + statusnote.Ends + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := flock.New(filepath.Join(states, settings.VaultID(vault("locked")), "lock")) // that works on the vault
	if free, err := command.TryLock(); err != nil || !free {
		t.Fatal(free, err)
	}
	good, gone := filepath.Join(base, "vaults", "good"), filepath.Join(base, "vaults", "gone")
	s.Vault = base // from outside of all vaults
	d := s.Start()
	says := func(parts ...string) {
		t.Helper()
		s.Wait(sitetest.Patience, strings.Join(parts, ", "), func() (bool, string) {
			said, err := os.ReadFile(d.Log.Name())
			return err == nil && !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(string(said), part) }), string(said)
		})
	}
	says("watching "+good, "watching "+gone, "the vault is not served; it is tried again vault=full")
	if err := os.Rename(gone, gone+"-away"); err != nil {
		t.Fatal(err)
	}
	says("vault=gone err=", "stopped until it is back")

	s.Vault = good
	s.write("Workflows/Ask.md", note("description: asks", "@output file: Out/Log", "What happened?"))
	s.Must("run", "Ask")
	if s.Read("Out/Log.md") == "" {
		t.Error("the run wrote nothing")
	}
	s.Write("Import/Plain.txt", []byte("Just a text.\n"))
	s.Wait(sitetest.Patience, "the import", func() (bool, string) {
		all := s.Imports()
		return len(all) == 1 && all[0].State == engine.ImportDone, describe(all)
	})

	link, err := url.Parse(strings.TrimSpace(s.Must("serve", "--url")))
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar}
	get := func(path string, form url.Values) string {
		t.Helper()
		at := "http://" + link.Host + path
		ask := func() (*http.Response, error) { return browser.Get(at) }
		if form != nil {
			ask = func() (*http.Response, error) { return browser.PostForm(at, form) }
		}
		r, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		page, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	_, code, _ := strings.Cut(link.Fragment, "code=")
	if page := get("/login", url.Values{"token": {code}, "next": {link.Query().Get("next")}}); !strings.Contains(page, `data-root="/vaults/good"`) || !strings.Contains(page, "Ask") {
		t.Errorf("the link leads to %s", page)
	}
	if page := get("/", nil); !strings.Contains(page, `href="/vaults/good/"`) || strings.Contains(page, `href="/vaults/full/"`) || strings.Count(page, "not served") != 4 {
		t.Errorf("the list is %s", page)
	}

	if said, errs, _ := s.CLI("status", "--vault", vault("faulty")); !strings.Contains(said, "not on this vault; it is tried again: "+vault("faulty")+"/settings.yaml:1:") {
		t.Errorf("the status of a vault that is tried again: %s%s", said, errs)
	}
	s.Wait(sitetest.Patience, "the status note of a vault that is tried again", func() (bool, string) {
		note, err := os.ReadFile(vault("locked") + "/Status.md")
		return err == nil && strings.HasPrefix(string(note), "Mine.\n"+statusnote.Begins+"\nNot served, and tried again: ") && strings.Contains(string(note), "\nToday: 3 runs.\n"), string(note)
	})
	if err := command.Unlock(); err != nil {
		t.Fatal(err)
	}
	d.Signal(syscall.SIGHUP) // do not wait for the pause to end
	s.Wait(sitetest.Patience, "the status note of the vault that is served", func() (bool, string) {
		note, err := os.ReadFile(vault("locked") + "/Status.md")
		return err == nil && strings.Contains(string(note), "Today: 0 runs") && !strings.Contains(string(note), "Not served"), string(note)
	})
	if err := os.Rename(gone+"-away", gone); err != nil {
		t.Fatal(err)
	}
	says("it is back; starting again")
	d.Signal(syscall.SIGTERM)
	select {
	case <-d.Done:
	case <-time.After(10 * time.Second):
		t.Error("serve did not end")
	}
}
