package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy/trust"
)

// command runs a command in this process and returns what it printed.
func command(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	root := newRoot(&streams{out: &out, err: &errs})
	root.SetArgs(args)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("vaultflow %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// oldState makes the database of a version that knew no trust, with runs or without.
func oldState(t *testing.T, dir string, runs int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range append([]string{"CREATE TABLE runs (id TEXT)", "PRAGMA user_version = 10"}, []string{"INSERT INTO runs VALUES ('r')"}[:runs]...) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTrust_vaultOfAnEarlierVersionStaysOnes(t *testing.T) {
	t.Parallel()
	vault := t.TempDir()
	settings := filepath.Join(vault, "settings.yaml")
	write := func(address string) {
		text := "web_search: {provider: searxng, base_url: \"http://127.0.0.1:" + address + "\"}\n"
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("9")
	used, unused := filepath.Join(t.TempDir(), "used"), filepath.Join(t.TempDir(), "unused")
	oldState(t, used, 1)
	oldState(t, unused, 0)
	where := func(state string) []string { return []string{"--vault", vault, "--state-dir", state} }

	first := command(t, append([]string{"trust", "--dry-run"}, where(used)...)...)
	for _, want := range []string{"your own", "used with an earlier version", "allowed web_search"} {
		if !strings.Contains(first, want) {
			t.Errorf("trust says %q, want %q", first, want)
		}
	}
	if again := command(t, append([]string{"trust", "--dry-run"}, where(used)...)...); strings.Contains(again, "earlier version") || !strings.Contains(again, "your own") {
		t.Errorf("the second time it says %q", again)
	}
	write("10")
	if changed := command(t, append([]string{"trust", "--dry-run"}, where(used)...)...); !strings.Contains(changed, "waits   web_search") || !strings.Contains(changed, "before: ") {
		t.Errorf("a changed value says %q", changed)
	}
	if said := command(t, append([]string{"trust", "--dry-run"}, where(unused)...)...); !strings.Contains(said, "not trusted yet") || !strings.Contains(said, "waits   web_search") {
		t.Errorf("without runs it says %q", said)
	}
	// The same state directory is no other vault's.
	root := newRoot(&streams{out: io.Discard, err: io.Discard})
	root.SetArgs([]string{"trust", "--dry-run", "--vault", t.TempDir(), "--state-dir", used})
	if err := root.ExecuteContext(t.Context()); exitCode(err) != exitRefused || !strings.Contains(fmt.Sprint(err), "belongs to another vault") {
		t.Errorf("another vault: %v", err)
	}
}

// Whatever was allowed once is allowed for what was shown, and for nothing else.
func TestTrust_acceptsOnlyWhatWasOffered(t *testing.T) {
	t.Parallel()
	vault, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	path := filepath.Join(vault, "settings.yaml")
	write := func(port string) {
		if err := os.WriteFile(path, []byte("web: {listen: \"0.0.0.0:"+port+"\"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	g := &globals{streams: &streams{out: &bytes.Buffer{}, err: &bytes.Buffer{}}, vault: vault, stateDir: state}
	offered := func() (*daemon.Workspace, consent.Offer) {
		t.Helper()
		a, o, err := openOffer(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		return a, o
	}
	_, shown := offered()
	answer := shown.Trust
	write("2")
	a, now := offered()
	yes := func(o consent.Offer, level string) error {
		return a.Trust.Accept(now, trustAnswerOf(o, level))
	}
	if err := yes(consent.Offer{Trust: answer}, "own"); err == nil {
		t.Error("a value was granted that is not asked for any more")
	}
	if s, err := a.Trust.Stored(); err != nil || s.Level != trust.Untrusted {
		t.Errorf("a refused answer left %+v, %v", s, err)
	}
	if err := yes(now, ""); err == nil {
		t.Error("something was granted in a vault that is not trusted")
	}
	if err := yes(now, "everything"); err == nil {
		t.Error("an unknown level was taken")
	}
	if err := yes(now, "own"); err != nil {
		t.Fatal(err)
	}
	a, _ = offered()
	if got := a.Settings.Web.Listen; got != "0.0.0.0:2" {
		t.Errorf("the granted address is %s", got)
	}
	write("1")
	if a, _ = offered(); a.Settings.Web.Listen == "0.0.0.0:1" {
		t.Error("an address took effect that nobody granted")
	}
}

// trustAnswerOf grants all settings of an offer.
func trustAnswerOf(o consent.Offer, level string) engine.TrustAnswer {
	return engine.TrustAnswer{Level: level, Settings: o.WaitingSettings()}
}
