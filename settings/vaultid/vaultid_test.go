package vaultid_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

// home is a user's machine: vaults and states in one folder.
type home struct {
	*testing.T
	dir string
	now time.Time
}

func newHome(t *testing.T) *home {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &home{t, dir, time.Unix(1_800_000_000, 0)}
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

// vault makes a folder.
func (h *home) vault(name string) string {
	h.Helper()
	if err := os.MkdirAll(h.path(name), 0o755); err != nil {
		h.Fatal(err)
	}
	return h.path(name)
}

func (h *home) find(name string) vaultid.State {
	h.Helper()
	s, err := vaultid.Find(h.path(name), "", []string{"XDG_STATE_HOME=" + h.path("states")})
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// onDisk writes id files as a vault does.
type onDisk string

func (dir onDisk) Write(_ context.Context, name string, data []byte, _ string) error {
	if err := os.MkdirAll(filepath.Join(string(dir), filepath.Dir(name)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(string(dir), name), data, 0o644)
}

// work settles a vault and its state, and makes a database.
func (h *home) work(name string) vaultid.State {
	h.Helper()
	s := h.find(name)
	h.settle(&s)
	return s
}

// workUntrusted is work on a vault that is not trusted yet.
func (h *home) workUntrusted(name string) vaultid.State {
	h.Helper()
	s := h.find(name)
	if unwritten, err := s.Settle(h.Context(), nil, h.now); err != nil || unwritten != nil {
		h.Fatal(unwritten, err)
	}
	h.database(s.Dir)
	return s
}

func (h *home) settle(s *vaultid.State) {
	h.Helper()
	h.now = h.now.Add(time.Hour)
	if unwritten, err := s.Settle(h.Context(), onDisk(s.Vault.Path), h.now); err != nil || unwritten != nil {
		h.Fatal(unwritten, err)
	}
	h.database(s.Dir)
}

func (h *home) database(dir string) {
	h.Helper()
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "state.db"), nil, 0o600)); err != nil {
		h.Fatal(err)
	}
}

// copy copies a vault's id file to another folder, as `cp -r` does.
func (h *home) copy(from, to string) {
	h.Helper()
	data, err := os.ReadFile(filepath.Join(h.path(from), policy.IdentityFile))
	if err == nil {
		err = onDisk(h.vault(to)).Write(h.Context(), policy.IdentityFile, data, "")
	}
	if err != nil {
		h.Fatal(err)
	}
}

func (h *home) rename(from, to string) {
	h.Helper()
	if err := os.Rename(h.path(from), h.path(to)); err != nil {
		h.Fatal(err)
	}
}

func (h *home) remove(name string) {
	h.Helper()
	if err := os.RemoveAll(h.path(name)); err != nil {
		h.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	id := policy.IdentityFile
	for name, c := range map[string]struct {
		do   func(h *home) string // returns the vault in question
		want vaultid.Standing
		same bool // it is the state of "a"
	}{
		"again":                   {func(*home) string { return "a" }, vaultid.Own, true},
		"renamed":                 {func(h *home) string { h.rename("a", "b"); return "b" }, vaultid.Moved, true},
		"renamed without its id":  {func(h *home) string { h.remove("a/" + id); h.rename("a", "b"); return "b" }, vaultid.Moved, true},
		"moved to another disk":   {func(h *home) string { h.copy("a", "b"); h.remove("a"); return "b" }, vaultid.Moved, true},
		"copied":                  {func(h *home) string { h.copy("a", "b"); return "b" }, vaultid.Copied, true},
		"the original of a copy":  {func(h *home) string { h.copy("a", "b"); return "a" }, vaultid.Own, true},
		"copied, original no id":  {func(h *home) string { h.copy("a", "b"); h.remove("a/" + id); return "b" }, vaultid.Copied, true},
		"restored in place":       {func(h *home) string { h.copy("a", "b"); h.remove("a"); h.rename("b", "a"); return "a" }, vaultid.Own, true},
		"restored without its id": {func(h *home) string { h.rename("a", "gone"); h.remove("gone"); h.vault("a"); return "a" }, vaultid.Replaced, true},
		"id file removed":         {func(h *home) string { h.remove("a/" + id); return "a" }, vaultid.Own, true},
		"id file damaged": {func(h *home) string {
			if err := os.WriteFile(filepath.Join(h.path("a"), id), []byte(`{"id": "../../x"}`), 0o644); err != nil {
				h.Fatal(err)
			}
			return "a"
		}, vaultid.Own, true},
		"a sync program brings another id": {func(h *home) string {
			h.vault("b")
			h.work("b")
			h.copy("b", "a")
			h.remove("b")
			return "a"
		}, vaultid.Own, true},
		"a sync program brings the id of a vault here": {func(h *home) string {
			h.vault("b")
			h.work("b")
			h.copy("a", "b")
			return "b"
		}, vaultid.Own, false},
		"a link": {func(h *home) string {
			if err := os.Symlink(h.path("a"), h.path("link")); err != nil {
				h.Skip(err)
			}
			return "link"
		}, vaultid.Own, true},
		"another vault": {func(h *home) string { h.vault("b"); return "b" }, vaultid.New, false},
		"another vault in its place, after a move": {func(h *home) string {
			h.rename("a", "b")
			s := h.find("b")
			h.settle(&s)
			h.vault("a")
			return "a"
		}, vaultid.New, false},
		"another vault with an id in its place": {func(h *home) string {
			h.vault("b")
			s := h.find("b")
			h.settle(&s)
			h.remove("states/vaultflow/" + filepath.Base(s.Dir))
			h.rename("a", "elsewhere")
			h.rename("b", "a")
			return "a"
		}, vaultid.New, false},
		"the state of an earlier version": {func(h *home) string {
			s := h.find("a")
			h.remove("states/vaultflow/" + filepath.Base(s.Dir) + "/vault.json")
			return "a"
		}, vaultid.New, true},
		"a state that was set aside": {func(h *home) string {
			s := h.find("a")
			h.rename("states/vaultflow/"+filepath.Base(s.Dir), "states/vaultflow/"+filepath.Base(s.Dir)+".before-restore")
			return "a"
		}, vaultid.New, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.vault("a")
			first := h.work("a")
			v := c.do(h)
			got := h.find(v)
			if got.Standing != c.want || (got.Dir == first.Dir) != c.same {
				t.Fatalf("%s in %s, want %s in %s: %v\nrecord %+v\nvault  %+v", got.Standing, got.Dir, c.want, first.Dir, c.same, got.Record, got.Vault)
			}
			usable := c.want == vaultid.Own || c.want == vaultid.New
			if err := got.Usable(); (err == nil) != usable {
				t.Errorf("usable: %v", err)
			}
			if err := got.Readable(); (err == nil) != (usable || c.want == vaultid.Moved) {
				t.Errorf("readable: %v", err)
			}
			if !usable {
				return
			}
			h.settle(&got) // it stays so
			if again := h.find(v); again.Standing != vaultid.Own || again.Dir != got.Dir || again.Vault.ID == "" {
				t.Errorf("after work: %+v, want %s as its own", again, got.Dir)
			}
		})
	}
}

func TestFind_namedDirectory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.vault("a")
	h.vault("b")
	named := func(v string) vaultid.State {
		s, err := vaultid.Find(h.path(v), h.path("mine"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := named("a")
	h.settle(&s)
	if got := named("a"); got.Standing != vaultid.Own || !got.Named {
		t.Errorf("the vault itself: %+v", got)
	}
	got := named("b")
	err := got.Readable()
	if got.Standing != vaultid.Foreign || err == nil || !strings.Contains(err.Error(), h.path("a")) || !strings.Contains(failure.Of(err).Hint, "--state-dir") {
		t.Errorf("another vault: %s, %v; want a refusal that names %s", got.Standing, err, h.path("a"))
	}
	h.remove("a/.vaultflow") // as in a vault that cannot be written: its place is all there is
	if got := named("b"); got.Standing != vaultid.Foreign {
		t.Errorf("another vault, both without an id: %s", got.Standing)
	}
}

func TestSettle_vaultThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.vault("a")
	s := h.find("a")
	unwritten, err := s.Settle(t.Context(), refusing{}, h.now)
	if err != nil || unwritten == nil {
		t.Fatal(unwritten, err)
	}
	h.database(s.Dir)
	if again := h.find("a"); again.Standing != vaultid.Own || again.Dir != s.Dir {
		t.Errorf("%+v", again)
	}
	h.rename("a", "b") // its folder is the same one
	if again := h.find("b"); again.Standing != vaultid.Moved || again.Dir != s.Dir {
		t.Errorf("%+v", again)
	}
}

func TestSettle_vaultThatIsNotTrustedYet(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.vault("a")
	s := h.workUntrusted("a")
	if got := h.find("a"); got.Vault.ID != "" || got.Standing != vaultid.Own {
		t.Errorf("%+v", got)
	}
	if got := h.work("a"); got.Vault.ID == "" || got.Dir != s.Dir || got.Record.ID() != got.Vault.ID {
		t.Errorf("with trust, the vault gets its id and keeps its state: %+v", got)
	}
}

// Nothing tells a deleted vault without an id from another one without an id. Only a user who names the state directory can say that it
// has moved.
func TestFind_deletedVaultWithoutID(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.vault("a")
	s := h.workUntrusted("a")
	h.vault("b") // before a goes, so that it cannot get a's inode
	h.remove("a")
	if got := h.find("b"); got.Standing != vaultid.New || got.Dir == s.Dir {
		t.Errorf("another vault is taken for the deleted one: %+v", got)
	}
	if got, err := vaultid.Find(h.path("b"), s.Dir, nil); err != nil || got.Standing != vaultid.Moved {
		t.Errorf("its state directory is named: %+v, %v", got, err)
	}
}

type refusing struct{}

func (refusing) Write(context.Context, string, []byte, string) error { return os.ErrPermission }

func TestRenew_givesCopiesTheirOwn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.vault("a")
	first := h.work("a")
	h.copy("a", "b")
	s := h.free("b")
	if err := s.Renew(t.Context(), refusing{}, h.now); err == nil || h.free("b").Dir != s.Dir {
		t.Errorf("the id cannot be written: %v, %+v", err, s)
	}
	if err := s.Renew(t.Context(), onDisk(h.path("b")), h.now); err != nil {
		t.Fatal(err)
	}
	if s.Vault.ID == first.Vault.ID || s.Record.ID() != s.Vault.ID {
		t.Fatal("the copy keeps the id of the original")
	}
	for v, dir := range map[string]string{"a": first.Dir, "b": h.work("b").Dir} {
		if got := h.find(v); got.Standing != vaultid.Own || got.Dir != dir {
			t.Errorf("%s: %+v", v, got)
		}
	}
}

// free returns a state directory for another history of a vault.
func (h *home) free(name string) vaultid.State {
	h.Helper()
	v, err := vaultid.Look(h.path(name))
	if err != nil {
		h.Fatal(err)
	}
	s, err := vaultid.Free(v, h.path("states/vaultflow/"+name))
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// killed writes id files in a process that is killed then: before or after the write.
type killed struct {
	vaultid.Files
	after bool
}

func (k killed) Write(ctx context.Context, name string, data []byte, base string) error {
	if k.after {
		if err := k.Files.Write(ctx, name, data, base); err != nil {
			return err
		}
	}
	panic("killed")
}

// A process that is killed between the writes of place, id and record leaves what the next one completes.
func TestSettle_killedBetweenItsWrites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(h *home) // what happened to the vault "a"
		state  func(h *home) vaultid.State
		renew  bool
		moved  string // where the vault is taken after the kill
		want   vaultid.Standing
	}{
		"the first run":              {func(*home) {}, func(h *home) vaultid.State { return h.find("a") }, false, "", vaultid.Own},
		"the first run, then moved":  {func(*home) {}, func(h *home) vaultid.State { return h.find("a") }, false, "b", vaultid.Moved},
		"a moved vault without id":   {func(h *home) { h.vault("o"); h.workUntrusted("o"); h.remove("a"); h.rename("o", "a") }, func(h *home) vaultid.State { return h.find("a") }, false, "", vaultid.Own},
		"another history for a copy": {func(h *home) { h.vault("o"); h.work("o"); h.copy("o", "a") }, func(h *home) vaultid.State { return h.free("a") }, true, "", vaultid.Own},
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", after the id: ", after), func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				h.vault("a")
				c.before(h)
				s := c.state(h)
				given := s.Vault.ID
				func() {
					defer func() {
						if recover() == nil {
							t.Fatal("not killed")
						}
					}()
					files := killed{onDisk(s.Vault.Path), after}
					if c.renew {
						_ = s.Renew(t.Context(), files, h.now)
					} else {
						_, _ = s.Settle(t.Context(), files, h.now)
					}
				}()
				v := "a"
				if c.moved != "" {
					h.rename("a", c.moved)
					v = c.moved
				}
				got := h.find(v)
				if got.Dir != s.Dir || got.Standing != c.want || got.Unknown() {
					t.Fatalf("after the kill: %s in %s, want %s in %s", got.Standing, got.Dir, c.want, s.Dir)
				}
				h.settle(&got)
				again := h.find(v)
				if again.Standing != vaultid.Own || again.Vault.ID == "" || again.Record.ID() != again.Vault.ID || again.Record.Next != "" || len(again.Record.IDs) != 1 {
					t.Errorf("after the next start: %+v", again)
				}
				if c.renew && again.Vault.ID == given {
					t.Error("the copy has the id of the original")
				}
			})
		}
	}
}

func TestReadRecord_damagedOrNewer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.vault("a")
	dir := h.work("a").Dir
	for _, text := range []string{"", "{}", "x", `{"version":1}`, `{"version":99,"path":"/x"}`} {
		if err := os.WriteFile(filepath.Join(dir, "vault.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := vaultid.ReadRecord(dir); err == nil {
			t.Errorf("%q was taken for a record", text)
		}
	}
}
