//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/settings"
)

// A running serve says that its settings are not those of the files any more: in its log, to commands that ask it, in status and
// on the dashboard. A change that is taken back ends that.
func TestServe_saysThatSettingsChanged(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Workflows/Hand.md", "## A\n@model none\n@output file: Out.md\n@write_mode replace\nsome text\n")
	was := s.Read(settings.FileName)
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	user := settings.UserFile(s.Env)
	d := s.serve()
	if out, page := s.Must("status"), s.page("/"); strings.Contains(out, "restart") || strings.Contains(page, "Restart serve") {
		t.Errorf("before any change: %s\n%s", out, page)
	}

	put(s.Path(settings.FileName), was+"# the same, but for a comment\n")
	put(user, "policy: {links: strict}\n")
	put(s.Path(".env"), "LAB_KEY=x\n")
	const says = "changed since serve started; restart it to apply the change"
	want := ".env, " + user + ", settings.yaml: " + says
	if out := s.Must("status"); !strings.Contains(out, want) {
		t.Errorf("status lacks %q:\n%s", want, out)
	}
	if page := s.page("/"); !strings.Contains(page, says) || !strings.Contains(page, "Restart serve") {
		t.Errorf("the dashboard lacks %q:\n%s", says, page)
	}
	if _, errs, code := s.CLI("run", "Hand"); code != exitDone || strings.Count(errs, says) != 1 {
		t.Errorf("run: exit code %d, %q; want it to say %q once", code, errs, says)
	}
	d.logged("restart serve")

	put(s.Path(settings.FileName), was)
	for _, path := range []string{user, s.Path(".env")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if out := s.Must("status"); strings.Contains(out, says) {
		t.Errorf("after the change back: %s", out)
	}
	if _, errs, _ := s.CLI("run", "Hand"); strings.Contains(errs, says) {
		t.Errorf("run after the change back: %s", errs)
	}
	d.logged("the settings are again those that serve works with")
}

// Settings that have faults by the time somebody answers what a vault asks do not end a running serve: it goes on with those it
// had, and with the new trust.
func TestServe_outlivesFaultySettings(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	d := s.start("--listen", "127.0.0.1:0")
	d.logged("watching ")
	was := s.Read(settings.FileName)
	s.write(settings.FileName, was+"x: [\n")
	s.Must("trust", "--revoke")
	d.logged("the settings have faults; serve continues with the former ones")
	s.write("Import/a.txt", "Some text.\n")
	s.Wait(patience, "a dropped file to be imported", func() (bool, string) { return s.there("Imported/a/a.md"), "" })
	if out := s.Must("status"); !strings.Contains(out, "running") || !strings.Contains(out, "not trusted") || !strings.Contains(out, "restart") {
		t.Error(out)
	}
	s.write(settings.FileName, was)
	s.Must("trust", "--own")
	if out := s.Must("status"); !strings.Contains(out, "running") || strings.Contains(out, "restart") {
		t.Error(out)
	}
}
