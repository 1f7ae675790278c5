package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/policy/trust"
)

var (
	noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ask  = trust.Ask{Key: "web_search.provider", Digest: "d1", Says: "asks a search service", Value: "brave"}
)

func open(t *testing.T, dir, vault string) *trust.Store {
	t.Helper()
	s, err := trust.Open(dir, vault)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, s *trust.Store) trust.State {
	t.Helper()
	now, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func TestStore_grantsExactlyWhatWasShown(t *testing.T) {
	t.Parallel()
	dir, vault := filepath.Join(t.TempDir(), "state"), t.TempDir()
	s, other := open(t, dir, vault), open(t, dir, vault)
	if now := read(t, s); now.Level != trust.Untrusted || now.Known() {
		t.Fatalf("a new vault is %+v", now)
	}
	r := trust.Reach{{Kind: trust.Write, Value: "Daily/**"}}
	err := s.Change(func(n *trust.State) {
		n.Decide(trust.Shared, noon)
		n.Grant(noon, ask)
		n.GrantReach(noon, "plan", r)
	})
	if err != nil {
		t.Fatal(err)
	}
	now := read(t, other) // another process
	if now.Level != trust.Shared || !now.Grants(ask.Key, "d1") || now.Grants(ask.Key, "d2") || now.Grants("other", "d1") || now.Grants(ask.Key, "") {
		t.Errorf("grants are wrong: %+v", now)
	}
	if !now.Allows("Plan", trust.Reach{{Kind: trust.Write, Value: "Daily/a.md"}}) || now.Allows("plan", trust.Reach{{Kind: trust.Write, Value: "a.md"}}) || now.Allows("x", nil) {
		t.Error("the reach of workflows is judged wrongly")
	}
	if info, err := os.Stat(s.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if err := other.Change(func(n *trust.State) { n.Decide(trust.Untrusted, noon) }); err != nil {
		t.Fatal(err)
	}
	if now = read(t, s); now.Grants(ask.Key, "d1") || now.Allows("plan", r) || len(now.Settings)+len(now.Workflows) > 0 || !now.Known() {
		t.Errorf("a no left grants: %+v", now)
	}
}

func TestState_nobodyIsAskedTwice(t *testing.T) {
	t.Parallel()
	s := trust.State{Level: trust.Shared}
	second := ask
	second.Digest = "d2"
	s.Grant(noon, ask)
	s.Grant(noon, second)
	if !s.Grants(ask.Key, "d1") || !s.Grants(ask.Key, "d2") {
		t.Error("a value that comes back asks again")
	}
	for i := range 1100 {
		a := ask
		a.Digest = time.Duration(i).String()
		s.Grant(noon, a)
		if i == 500 && !s.Grants(ask.Key, "0s") {
			t.Error("of a list of 500 hosts, the first one is asked again")
		}
	}
	if len(s.Settings) > 1000 || !s.Grants(ask.Key, "1.099µs") {
		t.Errorf("%d grants of one setting are kept", len(s.Settings))
	}
	if last, ok := s.Last(ask.Key); !ok || last.Digest != "1.099µs" {
		t.Errorf("the last one is %+v", last)
	}
	s.GrantReach(noon, "w", trust.Reach{{Kind: trust.Host, Value: "a"}})
	s.GrantReach(noon, "w", trust.Reach{{Kind: trust.Host, Value: "b"}})
	if !s.Allows("w", trust.Reach{{Kind: trust.Host, Value: "a"}}) || s.Allows("w", trust.Reach{{Kind: trust.Host, Value: "a"}, {Kind: trust.Host, Value: "b"}}) {
		t.Error("two grants became one, or the first was forgotten")
	}
}

// A state directory that two vaults share says nothing about the second.
func TestStore_belongsToOneVault(t *testing.T) {
	t.Parallel()
	dir, vault, stranger := t.TempDir(), t.TempDir(), t.TempDir()
	if err := open(t, dir, vault).Change(func(n *trust.State) { n.Decide(trust.Own, noon); n.Grant(noon, ask) }); err != nil {
		t.Fatal(err)
	}
	other := open(t, dir, stranger)
	if now := read(t, other); now.Level != trust.Untrusted || now.Grants(ask.Key, "d1") || now.Known() {
		t.Errorf("grants of another vault count: %+v", now)
	}
	if err := other.Adopt(noon, nil); err != nil {
		t.Fatal(err)
	}
	if err := other.Begin(); err != nil {
		t.Fatal(err)
	}
	if now := read(t, other); now.Level != trust.Untrusted {
		t.Errorf("a vault was adopted because of runs of another one: %+v", now)
	}
	if err := other.Change(func(n *trust.State) { n.Decide(trust.Shared, noon) }); err != nil {
		t.Fatal(err)
	}
	if now := read(t, open(t, dir, vault)); now.Level != trust.Own || !now.Grants(ask.Key, "d1") {
		t.Errorf("another vault's answer replaced this one's: %+v", now)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(vault, link); err != nil {
		t.Fatal(err)
	}
	if now := read(t, open(t, dir, link)); now.Level != trust.Own {
		t.Errorf("a link to the vault is %s", now.Level)
	}
}

func TestStore_failsClosed(t *testing.T) {
	t.Parallel()
	vault := t.TempDir()
	for name, text := range map[string]string{
		"broken": "{", "no version": `{"vaults":[{"vault":"V","level":"own"}]}`, "newer": `{"version":99,"vaults":[{"vault":"V","level":"own"}]}`,
		"no level": `{"version":1,"vaults":[{"vault":"V","level":"mine"}]}`,
	} {
		dir, text := t.TempDir(), strings.ReplaceAll(text, "V", vault)
		if err := os.WriteFile(filepath.Join(dir, "trust.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir, vault)
		if now, err := s.Read(); err == nil || now.Level != trust.Untrusted {
			t.Errorf("%s: level %s, %v", name, now.Level, err)
		}
		if err := s.Change(func(n *trust.State) { n.Decide(trust.Own, noon) }); err == nil {
			t.Errorf("%s: it was overwritten", name)
		}
	}
}

func TestStore_adoptsOnce(t *testing.T) {
	t.Parallel()
	dir, vault := t.TempDir(), t.TempDir()
	s := open(t, dir, vault)
	if err := s.Adopt(noon, []trust.Ask{ask}); err != nil {
		t.Fatal(err)
	}
	if now := read(t, s); now.Level != trust.Own || !now.Grants(ask.Key, "d1") {
		t.Errorf("adopted as %+v", now)
	}
	var told []bool
	for range 3 {
		told = append(told, s.Tell("status"))
	}
	if !told[0] || told[1] || told[2] || !s.Tell("log") {
		t.Errorf("told %v, want once for each", told)
	}
	if err := s.Change(func(n *trust.State) { n.Decide(trust.Untrusted, noon) }); err != nil {
		t.Fatal(err)
	}
	if err := s.Adopt(noon, nil); err != nil {
		t.Fatal(err)
	}
	if now := read(t, s); now.Level != trust.Untrusted {
		t.Errorf("a no was forgotten: %+v", now)
	}
	fresh := open(t, t.TempDir(), vault)
	if err := fresh.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := fresh.Adopt(noon, nil); err != nil {
		t.Fatal(err)
	}
	if now := read(t, fresh); now.Level != trust.Untrusted {
		t.Errorf("a vault that this version worked on was adopted: %+v", now)
	}
}

func TestStore_changesDoNotGetLost(t *testing.T) {
	t.Parallel()
	dir, vault := t.TempDir(), t.TempDir()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			s, err := trust.Open(dir, vault)
			if err == nil {
				err = s.Change(func(n *trust.State) {
					n.Decide(trust.Own, noon)
					n.Grant(noon, trust.Ask{Key: string(rune('a' + i)), Digest: "d"})
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if now := read(t, open(t, dir, vault)); len(now.Settings) != 8 {
		t.Errorf("%d of 8 grants are kept", len(now.Settings))
	}
}

// A vault that is removed, and another one put in its place, has to be trusted anew.
func TestStore_anotherFolderAtThePath(t *testing.T) {
	t.Parallel()
	dir, vault := t.TempDir(), filepath.Join(t.TempDir(), "vault")
	if err := os.Mkdir(vault, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := trust.Open(dir, vault)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Change(func(t *trust.State) { t.Decide(trust.Own, time.Now()) }); err != nil {
		t.Fatal(err)
	}
	aside := vault + " aside"
	if err := errors.Join(os.Rename(vault, aside), os.Mkdir(vault, 0o755)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(); err != nil || got.Level != trust.Untrusted || got.Known() {
		t.Errorf("another folder at the same path: %v, %v", got.Level, err)
	}
	if err := errors.Join(os.Remove(vault), os.Rename(aside, vault)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(); err != nil || got.Level != trust.Own {
		t.Errorf("the folder itself, back in its place: %v, %v", got.Level, err)
	}
}

// What was decided follows a folder that is renamed, and no copy of it.
func TestStore_followsTheFolderAlone(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	first, second := filepath.Join(home, "first"), filepath.Join(home, "second")
	if err := os.Mkdir(first, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := trust.Open(dir, first)
	if err == nil {
		err = s.Change(func(t *trust.State) { t.Decide(trust.Own, time.Now()) })
	}
	first, real := readlink(t, first), first
	if err := errors.Join(err, os.Rename(real, second), os.Mkdir(real, 0o755)); err != nil {
		t.Fatal(err)
	}
	s, err = trust.Open(dir, second)
	if err != nil {
		t.Fatal(err)
	}
	if former, is := s.Former(); !is || former.Vault != first {
		t.Errorf("former vault %q, %v; want %q", former.Vault, is, first)
	}
	followed, err := s.Follow(first)
	now, readErr := s.Read()
	if err := errors.Join(err, readErr); err != nil || followed != (now.Level == trust.Own) {
		t.Fatalf("followed %v, now %s, %v", followed, now.Level, err)
	}
	if runtime.GOOS == "linux" && !followed {
		t.Error("the folder is the same one, and nothing followed")
	}
	if former, is := s.Former(); is {
		t.Errorf("a vault with answers of its own has the former one %q", former.Vault)
	}
	for range 2 { // the vault moves on, trust is withdrawn there, and it comes back; who was killed meanwhile repeats it
		third := filepath.Join(home, "third")
		withdrawn, err := openRenamed(dir, second, third, func(s *trust.State) { s.Decide(trust.Untrusted, time.Now()) })
		if err == nil {
			_, err = openRenamed(dir, third, second, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if now := read(t, s); withdrawn && now.Level != trust.Untrusted {
			t.Errorf("what was withdrawn at another place is %s again", now.Level)
		}
	}
	copied, err := trust.Open(dir, real)
	if err != nil {
		t.Fatal(err)
	}
	if followed, err := copied.Follow(readlink(t, second)); followed || err != nil {
		t.Errorf("another folder: followed %v, %v", followed, err)
	}
}

// openRenamed renames a vault, lets its trust follow, and changes it there.
func openRenamed(dir, from, to string, change func(*trust.State)) (followed bool, err error) {
	former, err := filepath.EvalSymlinks(from)
	if err := errors.Join(err, os.Rename(from, to)); err != nil {
		return false, err
	}
	s, err := trust.Open(dir, to)
	if err == nil {
		followed, err = s.Follow(former)
	}
	if err == nil && change != nil {
		err = s.Change(change)
	}
	return followed, err
}

func readlink(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}
