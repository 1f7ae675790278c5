package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/vaultflow/vaultflow/daemon/backup"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings/state"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

// computer has one vault and the folder of states.
type computer struct {
	*testing.T
	dir, vault string
}

func newComputer(t *testing.T) *computer {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &computer{t, dir, filepath.Join(dir, "vault")}
	if err := os.Mkdir(c.vault, 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *computer) state() vaultid.State {
	c.Helper()
	st, err := vaultid.Find(c.vault, "", []string{"XDG_STATE_HOME=" + filepath.Join(c.dir, "xdg")})
	if err != nil {
		c.Fatal(err)
	}
	return st
}

// files writes the id of a vault.
type files string

func (dir files) Write(_ context.Context, name string, data []byte, _ string) error {
	path := filepath.Join(string(dir), name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644))
}

// restore restores a backup with the lock.
func (c *computer) restore(ctx context.Context, file string, replace bool) (r backup.Restored, err error) {
	c.Helper()
	st := c.state()
	release, _, err := journal.Lock(c.Context(), st.Dir)
	if err != nil {
		c.Fatal(err)
	}
	r, err = backup.Restore(ctx, st, file, replace, files(c.vault))
	return r, errors.Join(err, release())
}

// work opens the journal, and settles whose it is.
func (c *computer) work() (*journal.Journal, vaultid.State) {
	c.Helper()
	st := c.state()
	j, err := journal.Open(c.Context(), st.Dir)
	if err != nil {
		c.Fatal(err)
	}
	if _, err := st.Settle(c.Context(), files(c.vault), time.Now()); err != nil {
		c.Fatal(err)
	}
	return j, st
}

// note stores a blob and an event that names it.
func note(ctx context.Context, j *journal.Journal, n int) error {
	digest, err := j.Blobs.Put(ctx, bytes.Repeat([]byte{byte(n), byte(n >> 8), 'x'}, 100+n%7))
	if err == nil {
		_, err = j.Events.Note(ctx, engine.Event{Run: "r1", Kind: "test", Time: time.Now(), Message: digest}, n+1)
	}
	return err
}

// named checks that the blobs that events name are there, and returns how many events there are.
func (c *computer) named(dir string) int {
	c.Helper()
	j, err := journal.OpenReader(c.Context(), dir)
	if err != nil {
		c.Fatal(err)
	}
	defer j.Close()
	count, after := 0, int64(0)
	for {
		events, err := j.Events.List(c.Context(), "", after, 1000)
		if err != nil {
			c.Fatal(err)
		}
		for _, e := range events {
			if _, err := j.Blobs.Get(c.Context(), e.Message); err != nil {
				c.Errorf("event %d: %v", e.Seq, err)
			}
			count, after = count+1, e.Seq
		}
		if len(events) == 0 {
			return count
		}
	}
}

func (c *computer) backup(st vaultid.State, name string) string {
	c.Helper()
	file := filepath.Join(c.dir, name)
	w, err := backup.Write(c.Context(), st, file, "test")
	if err != nil || w.File != file || len(w.Damaged) > 0 {
		c.Fatal(w, err)
	}
	return file
}

func TestBackup_whileTheStateIsInUse(t *testing.T) {
	t.Parallel()
	c := newComputer(t)
	j, st := c.work()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	first := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			if err := note(context.WithoutCancel(ctx), j, n); err != nil || ctx.Err() != nil {
				done <- err
				return
			}
			if n == 20 {
				close(first)
			}
		}
	}()
	<-first
	file := c.backup(st, "b.tar.gz")
	stop()
	if err := errors.Join(<-done, j.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.RemoveAll(st.Dir); err != nil {
		t.Fatal(err)
	}
	restored, err := c.restore(t.Context(), file, false)
	if err != nil || restored.Aside != "" || restored.Made.IsZero() {
		t.Fatal(restored, err)
	}
	if got := c.state(); got.Standing != vaultid.Own || got.Dir != st.Dir {
		t.Errorf("after the restore: %+v", got)
	}
	if n := c.named(st.Dir); n < 20 {
		t.Errorf("%d events were restored, want at least 20", n)
	}
	if left, _ := filepath.Glob(filepath.Join(c.dir, "*", "*", ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// interrupted calls a function at the nth question whether it has ended.
type interrupted struct {
	context.Context
	n  int
	do func()
}

// Err implements context.Context.
func (i *interrupted) Err() error {
	if i.n--; i.n == 0 {
		i.do()
	}
	return i.Context.Err()
}

// A run that stores a content after the blobs were listed, and before the database is copied, has it in the backup.
func TestBackup_contentsThatComeBetween(t *testing.T) {
	t.Parallel()
	c := newComputer(t)
	j, st := c.work()
	for n := range 3 {
		if err := note(t.Context(), j, n); err != nil {
			t.Fatal(err)
		}
	}
	between := &interrupted{t.Context(), 3, func() { // while the last blob is looked at for the first time
		for n := range 20 {
			if err := note(t.Context(), j, 100+n); err != nil {
				t.Error(err)
			}
		}
	}}
	file := filepath.Join(c.dir, "b")
	if _, err := backup.Write(between, st, file, "test"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Close(), os.RemoveAll(st.Dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.restore(t.Context(), file, false); err != nil {
		t.Fatal(err)
	}
	if n := c.named(st.Dir); n != 23 {
		t.Errorf("%d events were restored, want 23", n)
	}
}

// A restore that the user stops, at whatever moment, has changed nothing and blames nobody, or is complete and says so.
func TestRestore_cancelled(t *testing.T) {
	t.Parallel()
	c := newComputer(t)
	j, st := c.work()
	file := filepath.Join(c.dir, "b")
	err := note(t.Context(), j, 1)
	if err == nil {
		_, err = backup.Write(t.Context(), st, file, "test")
	}
	if err == nil {
		err = errors.Join(note(t.Context(), j, 2), j.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		ctx, stop := context.WithCancel(t.Context())
		_, err := c.restore(&interrupted{ctx, n, stop}, file, true)
		stop()
		if journal.Readable(st.Dir) != nil || err == nil && c.named(st.Dir) == 1 { // from here on see TestRestore_stopped
			return
		}
		if !errors.Is(err, context.Canceled) || c.named(st.Dir) != 2 {
			t.Fatalf("stopped at question %d: %v, %d events", n, err, c.named(st.Dir))
		}
	}
}

// A sweep that runs beside a backup removes nothing that the backup has seen.
func TestKeep_holdsSweepsBack(t *testing.T) {
	t.Parallel()
	c := newComputer(t)
	j, st := c.work()
	defer j.Close()
	digest, err := j.Blobs.Put(t.Context(), []byte("referred to by nothing"))
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(st.Dir, "blobs", digest[:2], digest), old, old); err != nil {
		t.Fatal(err)
	}
	names, err := journal.Keep(t.Context(), st.Dir)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	sweep := func(now time.Time) error {
		_, err := j.Sweep(t.Context(), journal.Retention{Runs: time.Hour, PerWorkflow: 1, Contents: time.Hour}, now)
		return err
	}
	if err := sweep(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Blobs.Get(t.Context(), digest); err != nil {
		t.Error(err)
	}
	if err := sweep(time.Now().Add(48 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Blobs.Get(t.Context(), digest); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("two days later: %v, want none", err)
	}
}

// settled is a vault with a history of n events, its private files, and a backup.
func settled(t *testing.T, n int) (c *computer, st vaultid.State, file string) {
	t.Helper()
	c = newComputer(t)
	j, st := c.work()
	for i := range n {
		if err := note(t.Context(), j, i); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{"artifacts/files/x": "a page", "artifacts/manifest.jsonl": "{}\n", "received/r1/0-0": "an answer", "trust.json": "grants", ".env": "KEY=1"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(st.Dir, filepath.Dir(path)), 0o700), os.WriteFile(filepath.Join(st.Dir, path), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := state.Secret(st.Dir); err != nil {
		t.Fatal(err)
	}
	file = c.backup(st, "b")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return c, st, file
}

func TestRestore_replacesAndKeepsTheFormerAside(t *testing.T) {
	t.Parallel()
	c, st, file := settled(t, 3)
	secret, _ := state.Secret(st.Dir)
	mine := filepath.Join(st.Dir, "mine.txt")
	for path, text := range map[string]string{"trust.json": "later", "artifacts/files/y": "another page", "mine.txt": "a file of the user", "tokens.json": "[]"} {
		if err := os.WriteFile(filepath.Join(st.Dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.restore(t.Context(), file, false); err == nil {
		t.Fatal("a history was replaced without being asked")
	}
	folder, err := os.Stat(st.Dir)
	c.must(err)
	got, err := c.restore(t.Context(), file, true)
	if now, statErr := os.Stat(st.Dir); statErr != nil || !os.SameFile(folder, now) { // it may be a mount point
		t.Errorf("the state directory was replaced: %v", statErr)
	}
	if err != nil || filepath.Dir(got.Aside) != st.Dir || !strings.HasPrefix(filepath.Base(got.Aside), "before-") {
		t.Fatal(got, err)
	}
	for path, want := range map[string]string{
		filepath.Join(st.Dir, "trust.json"): "later", filepath.Join(st.Dir, "secret"): string(secret), filepath.Join(st.Dir, "tokens.json"): "[]", mine: "a file of the user",
		filepath.Join(st.Dir, ".env"): "KEY=1", filepath.Join(st.Dir, "artifacts/files/x"): "a page", filepath.Join(st.Dir, "artifacts/files/y"): "",
		filepath.Join(got.Aside, "artifacts/files/y"): "another page", filepath.Join(st.Dir, "received/r1/0-0"): "an answer",
	} {
		if data, _ := os.ReadFile(path); string(data) != want {
			t.Errorf("%s holds %q, want %q", path, data, want)
		}
	}
	for _, dir := range []string{st.Dir, got.Aside} {
		if n := c.named(dir); n != 3 {
			t.Errorf("%s: %d events, want 3", dir, n)
		}
	}
	if again := c.state(); again.Dir != st.Dir || again.Standing != vaultid.Own {
		t.Errorf("after the restore: %+v", again)
	}
}

// A state in which nothing has run, as a refused command leaves it, gives way.
func TestRestore_inPlaceOfNothing(t *testing.T) {
	t.Parallel()
	c, st, file := settled(t, 2)
	c.must(os.RemoveAll(st.Dir))
	j, _ := c.work()
	c.must(j.Close())
	if _, err := c.restore(t.Context(), file, false); err != nil || c.named(st.Dir) != 2 {
		t.Error(err)
	}
}

// stopped ends after n questions whether it has.
type stopped struct {
	context.Context
	n int
}

func (s *stopped) Err() error {
	if s.n--; s.n < 0 {
		return context.Canceled
	}
	return s.Context.Err()
}

// A restore that stops after any step has changed nothing, or nobody reads what is between, and the next process that takes the lock
// finishes it.
func TestRestore_stopped(t *testing.T) {
	t.Parallel()
	c, st, file := settled(t, 1)
	here, begun := 1, 0
	for n, done := 0, false; !done; n++ {
		j, _ := c.work()
		c.must(note(t.Context(), j, here))
		c.must(j.Close())
		here++
		_, err := c.restore(&stopped{t.Context(), n}, file, true)
		done = err == nil
		_, reader := journal.OpenReader(t.Context(), st.Dir)
		between := errors.Is(reader, journal.ErrRestoring)
		if _, err := backup.Write(t.Context(), c.state(), filepath.Join(c.vault, "b"), "test"); errors.Is(err, journal.ErrRestoring) != between {
			t.Errorf("step %d: a backup: %v; a reader: %v", n, err, reader)
		}
		if got := c.state(); got.Dir != st.Dir || got.Standing != vaultid.Own {
			t.Fatalf("step %d: the vault's state is %s, %s", n, got.Dir, got.Standing)
		}
		j, _ = c.work()
		if (j.Restored != nil) != between {
			t.Errorf("step %d: finished %v, reader before: %v", n, j.Restored, reader)
		}
		c.must(j.Close())
		aside, _ := filepath.Glob(filepath.Join(st.Dir, "before-*"))
		if between || done {
			if len(aside) != 1 || c.named(aside[0]) != here {
				t.Fatalf("step %d: the former history is in %v", n, aside)
			}
			c.must(os.RemoveAll(aside[0]))
			here, begun, aside = 1, begun+1, nil
		}
		if got := c.named(st.Dir); got != here {
			t.Fatalf("step %d: %d events, want %d (%v)", n, got, here, err)
		}
		if left, _ := filepath.Glob(filepath.Join(st.Dir, ".restore-*")); len(left)+len(aside) > 0 {
			t.Fatalf("step %d: left behind: %v, %v", n, left, aside)
		}
	}
	if begun < 6 {
		t.Errorf("it stopped %d times after it had begun, want 5 or more", begun-1)
	}
}

// Where there was no state, what stops is found again too.
func TestRestore_stoppedWithoutFormer(t *testing.T) {
	t.Parallel()
	c, st, file := settled(t, 1)
	c.must(os.RemoveAll(st.Dir)) // the usual place is taken by another vault, so that only the record leads to the state
	c.must(vaultid.Record{}.At(vaultid.Vault{Path: filepath.Join(c.dir, "other"), ID: vaultid.NewID()}, time.Now()).Write(st.Dir))
	st = c.state()
	finished := 0
	for n, done := 0, false; !done; n++ {
		c.must(os.RemoveAll(st.Dir))
		_, err := c.restore(&stopped{t.Context(), n}, file, false)
		done = err == nil
		if got := c.state(); got.Dir != st.Dir {
			t.Fatalf("step %d: the vault's state is %s", n, got.Dir)
		}
		if !done && journal.Readable(st.Dir) == nil {
			continue
		}
		release, _, err := journal.Lock(t.Context(), st.Dir)
		c.must(err)
		c.must(release())
		if got := c.state(); got.Standing != vaultid.Own || c.named(st.Dir) != 1 {
			t.Errorf("step %d: %+v", n, got)
		}
		finished++
	}
	if finished < 5 {
		t.Errorf("%d restores were finished, want 5 or more", finished)
	}
}

// Trust in the very folder that the vault is returns with the state that was lost. Withdrawn trust does not return.
func TestRestore_trust(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(c *computer, st vaultid.State)
		want trust.Level
	}{
		"the state was lost": {func(c *computer, st vaultid.State) { c.must(os.RemoveAll(st.Dir)) }, trust.Own},
		"lost, and a command was refused since": {func(c *computer, st vaultid.State) {
			c.must(os.RemoveAll(st.Dir))
			store, err := trust.Open(st.Dir, c.vault)
			c.must(err)
			c.must(store.Begin())
		}, trust.Own},
		"withdrawn since": {func(c *computer, _ vaultid.State) { c.trust(trust.Untrusted) }, trust.Untrusted},
		"another folder in its place": {func(c *computer, st vaultid.State) {
			id, err := os.ReadFile(filepath.Join(c.vault, policy.IdentityFile))
			c.must(err)
			c.must(os.RemoveAll(st.Dir))
			c.must(os.Rename(c.vault, c.vault+"-before"))
			c.must(files(c.vault).Write(c.Context(), policy.IdentityFile, id, ""))
			c.must(os.RemoveAll(c.vault + "-before"))
		}, trust.Untrusted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" {
				t.Skip("folders have no birth time here")
			}
			pc := newComputer(t)
			j, st := pc.work()
			pc.trust(trust.Own)
			file := pc.backup(st, "b")
			pc.must(j.Close())
			c.do(pc, st)
			_, err := pc.restore(t.Context(), file, true)
			pc.must(err)
			store, err := trust.Open(st.Dir, pc.vault)
			pc.must(err)
			if now, err := store.Read(); err != nil || now.Level != c.want || now.Known() != store.Exists() {
				t.Errorf("%s, %v; want %s, and no file unless somebody has decided", now.Level, err, c.want)
			}
		})
	}
}

// trust decides about the vault.
func (c *computer) trust(level trust.Level) {
	c.Helper()
	store, err := trust.Open(c.state().Dir, c.vault)
	c.must(err)
	c.must(store.Change(func(s *trust.State) { s.Decide(level, time.Now()) }))
}

func (c *computer) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func TestRestore_refusesWhileTheStateIsInUse(t *testing.T) {
	t.Parallel()
	c, st, _ := settled(t, 1)
	j, _ := c.work()
	defer j.Close()
	if _, _, err := journal.Lock(t.Context(), st.Dir); !errors.Is(err, journal.ErrLocked) {
		t.Error(err)
	}
}

// rewritten is an archive with other entries.
func (c *computer) rewritten(archive []byte, change func(name string, data []byte) (string, []byte)) []byte {
	c.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	c.must(err)
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	to := tar.NewWriter(zip)
	for from := tar.NewReader(zipped); ; {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		c.must(err)
		data, err := io.ReadAll(from)
		c.must(err)
		h.Name, data = change(h.Name, data)
		h.Size = int64(len(data))
		c.must(to.WriteHeader(h))
		_, err = to.Write(data)
		c.must(err)
	}
	c.must(errors.Join(to.Close(), zip.Close()))
	return out.Bytes()
}

// What is no whole backup of this vault changes nothing.
func TestRestore_damagedOrAnothers(t *testing.T) {
	t.Parallel()
	c, st, file := settled(t, 5)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, data []byte) {
		t.Helper()
		bad := filepath.Join(c.dir, "bad")
		if err := os.WriteFile(bad, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.restore(t.Context(), bad, true); err == nil {
			t.Errorf("%s was restored", what)
		}
		if n := c.named(st.Dir); n != 5 {
			t.Fatalf("%s: %d events are left, want 5", what, n)
		}
	}
	try("nothing", nil)
	try("a text", []byte("not a backup"))
	for _, at := range []int{20, len(whole) / 3, len(whole) / 2, len(whole) - 100, len(whole) - 1} {
		try(fmt.Sprintf("an archive of %d of %d bytes", at, len(whole)), whole[:at])
		flipped := bytes.Clone(whole)
		flipped[at] ^= 0x55
		try(fmt.Sprintf("an archive with another byte at %d of %d", at, len(whole)), flipped)
	}
	for what, change := range map[string]func(name string, data []byte) (string, []byte){
		"an archive with another file than its index": func(name string, data []byte) (string, []byte) {
			if name == "artifacts/files/x" {
				return name, []byte("b page")
			}
			return name, data
		},
		"an archive that leads elsewhere": func(name string, data []byte) (string, []byte) {
			return strings.Replace(name, "artifacts/files/x", "artifacts/../../x", 1), bytes.Replace(data, []byte("artifacts/files/x"), []byte("artifacts/../../x"), 1)
		},
		"an archive of a newer version": func(name string, data []byte) (string, []byte) {
			return name, bytes.Replace(data, []byte(`"format":1`), []byte(`"format":2`), 1)
		},
	} {
		try(what, c.rewritten(whole, change))
	}
	if aside, _ := filepath.Glob(filepath.Join(st.Dir, "before-*")); len(aside) > 0 {
		t.Errorf("set aside: %v", aside)
	}

	other := newComputer(t)
	j, mine := other.work()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), mine, file, true, files(other.vault)); err == nil || !strings.Contains(err.Error(), "another vault, "+c.vault) {
		t.Errorf("the backup of another vault: %v", err)
	}
}

// On another computer, the vault comes first and its state after it.
func TestRestore_onAnotherComputer(t *testing.T) {
	t.Parallel()
	c, _, file := settled(t, 2)
	other := newComputer(t)
	data, err := os.ReadFile(filepath.Join(c.vault, ".vaultflow", "vault.json"))
	if err == nil {
		err = files(other.vault).Write(t.Context(), ".vaultflow/vault.json", data, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := other.state().Accepts(c.state().Record); err == nil || !strings.Contains(err.Error(), "a copy") {
		t.Errorf("while the original is there: %v", err)
	}
	c.must(os.RemoveAll(c.vault))
	if _, err := other.restore(t.Context(), file, false); err != nil {
		t.Fatal(err)
	}
	if st := other.state(); st.Standing != vaultid.Own || other.named(st.Dir) != 2 {
		t.Errorf("%+v", st)
	}
}

func TestWrite_refusesPlaces(t *testing.T) {
	t.Parallel()
	c, st, file := settled(t, 1)
	c.must(os.Symlink(filepath.Join(c.vault, ".vaultflow"), filepath.Join(c.dir, "link")))
	for _, bad := range []string{
		file, filepath.Join(c.vault, "b"), filepath.Join(c.dir, "link", "b"), filepath.Join(st.Dir, "b"), filepath.Join(st.Dir, "blobs", "b"), filepath.Join(c.dir, "none", "b"),
	} {
		if _, err := backup.Write(t.Context(), st, bad, "test"); err == nil {
			t.Errorf("%s was written", bad)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(c.dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	st.Dir = filepath.Join(c.dir, "unused")
	if _, err := backup.Write(t.Context(), st, filepath.Join(c.dir, "c"), "test"); err == nil {
		t.Error("a backup of nothing")
	}
}

// What killed backups leave is removed, and what others are at work on is not.
func TestWrite_leftovers(t *testing.T) {
	t.Parallel()
	c, st, _ := settled(t, 1)
	left, used := filepath.Join(c.dir, ".vaultflow-backup-left"), filepath.Join(c.dir, ".vaultflow-backup-used")
	for _, dir := range []string{left, used} {
		c.must(os.Mkdir(dir, 0o700))
	}
	lock := flock.New(filepath.Join(used, "lock"))
	c.must(lock.Lock())
	defer lock.Unlock()
	for _, dir := range []string{left, used} {
		c.must(os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)))
	}
	c.backup(st, "c")
	if there, _ := filepath.Glob(filepath.Join(c.dir, ".vaultflow-backup-*")); len(there) != 1 || there[0] != used {
		t.Errorf("%v are there, want %s alone", there, used)
	}
}
