package disk

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/vault"
)

// watched runs a watcher until the test ends.
func watched(t *testing.T, v *Vault, opt WatchOptions) *Watcher {
	t.Helper()
	w := NewWatcher(v, opt)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	select {
	case <-w.Started():
	case err := <-ended:
		t.Fatalf("run ended: %v", err)
	}
	return w
}

// inBubble runs a test of a polling watcher on a clock that only waiting moves.
func inBubble(t *testing.T, opt WatchOptions, story func(t *testing.T, v *Vault, dir string, w *Watcher)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, dir := tempVault(t, "Note.md", "Import/")
		story(t, v, dir, watched(t, v, opt))
	})
}

// hear collects what a watcher says in a time, as "state name".
func hear(w *Watcher, d time.Duration) (arrivals, changes []string) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return arrivals, changes
		case a := <-w.Arrivals():
			if a.State != StateReceiving {
				arrivals = append(arrivals, fmt.Sprintf("%s %s", a.State, a.Name))
			}
		case c := <-w.Changes():
			changes = append(changes, fmt.Sprintf("%s %s", c.Op, c.Name))
		}
	}
}

func expect(t *testing.T, w *Watcher, d time.Duration, arrivals, changes []string) {
	t.Helper()
	gotA, gotC := hear(w, d)
	slices.Sort(gotA)
	slices.Sort(gotC)
	if diff := cmp.Diff([][]string{arrivals, changes}, [][]string{gotA, gotC}); diff != "" {
		t.Error(diff)
	}
}

func TestWatcher_polling(t *testing.T) {
	inBubble(t, WatchOptions{Poll: true}, func(t *testing.T, v *Vault, dir string, w *Watcher) {
		expect(t, w, time.Minute, nil, nil) // what was there fires nothing
		put(t, dir, "Import/a.pdf", "%PDF-1.7 %%EOF")
		put(t, dir, "Import/deep/er/b.txt", "b")
		put(t, dir, "Import/._b.txt", "")
		put(t, dir, "Import/Failed/c.txt", "c")
		put(t, dir, "New.md", "n")
		put(t, dir, "Note.md", "edited")
		put(t, dir, ".obsidian/app.json", "{}")
		expect(t, w, time.Minute, []string{"ready Import/a.pdf", "ready Import/deep/er/b.txt"}, []string{"create New.md", "modify Note.md"})
		put(t, dir, "Import/a.pdf", "%PDF-1.7 %%EOF") // touched, in flight
		must(t, v.rename(t.Context(), "Import/deep/er/b.txt", "Imported/b/b.txt"))
		w.Done("Import/deep/er/b.txt")
		must(t, os.Remove(filepath.Join(dir, "New.md")))
		expect(t, w, time.Minute, nil, []string{"create Imported/b/b.txt", "remove New.md"})
		w.Done("Import/a.pdf") // it failed and stays
		expect(t, w, time.Minute, nil, nil)
		put(t, dir, "Import/a.pdf", "%PDF-1.7 mended %%EOF")
		put(t, dir, "Import/deep/er/b.txt", "b") // the same name and bytes again
		expect(t, w, time.Minute, []string{"ready Import/a.pdf", "ready Import/deep/er/b.txt"}, nil)
		if s := w.Status(); s.Mode != modePoll || !strings.Contains(s.Why, "settings") || len(s.Waiting) != 2 {
			t.Errorf("status: %+v", s)
		}
		w.Release("Import/a.pdf")
		expect(t, w, time.Minute, []string{"postponed Import/a.pdf", "ready Import/a.pdf"}, nil)
	})
}

func TestWatcher_atStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, dir := tempVault(t, "Import/was there.txt")
		put(t, dir, "Import/half.pdf", "%PDF-1.7")
		put(t, dir, "Import/empty.txt", "")
		w := watched(t, v, WatchOptions{Poll: true})
		expect(t, w, DefaultQuiet-time.Millisecond, nil, nil)
		expect(t, w, 2*time.Millisecond, []string{"ready Import/was there.txt"}, nil)
		expect(t, w, 2*time.Minute, []string{"ready Import/empty.txt", "ready Import/half.pdf"}, nil)
	})
}

// Case 54: the system never tells of anything, and the scan alone still imports.
func TestWatcher_deaf(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Note.md", "Import/")
	if kind := networkFS(dir); kind != "" {
		t.Skipf("temporary files are on %s", kind)
	}
	reports := make(chan Report, 10)
	w := watched(t, v, WatchOptions{
		deaf: true, deafAfter: 50 * time.Millisecond, Quiet: time.Millisecond, Rescan: 20 * time.Millisecond, Debounce: time.Millisecond,
		Report: func(r Report) { reports <- r },
	})
	put(t, dir, "Import/a.txt", "a")
	awaitReady(t, w, "Import/a.txt")
	put(t, dir, "Note.md", "edited")
	if c := awaitChange(t, w); c.Name != "Note.md" || c.Op != vault.OpModify {
		t.Errorf("got %+v", c)
	}
	select {
	case r := <-reports:
		if r.Code != "deaf" || r.Name != "Import/a.txt" || w.Status().Mode != modePoll {
			t.Errorf("got %+v, %+v", r, w.Status())
		}
	case <-time.After(patience):
		t.Errorf("never noticed: %+v", w.Status())
	}
}

// A scan that is faster than the events proves nothing.
func TestWatcher_scanBeforeTheEvents(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Import/")
	if kind := networkFS(dir); kind != "" {
		t.Skipf("temporary files are on %s", kind)
	}
	w := watched(t, v, WatchOptions{Quiet: time.Millisecond, Rescan: 3 * time.Millisecond, Debounce: time.Millisecond})
	for i := range 50 {
		name := fmt.Sprintf("Import/%d/%d.txt", i, i)
		put(t, dir, name, fmt.Sprint(i))
		awaitReady(t, w, name)
	}
	if s := w.Status(); s.Mode != modeEvents {
		t.Errorf("got %+v", s)
	}
}

// After an overflow the next scan finds what the events would have told, which does not make the watcher deaf.
func TestHearing_overflow(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Import/")
	s := newSession(NewWatcher(v, WatchOptions{deaf: true, deafAfter: time.Nanosecond}))
	s.open()
	defer s.events.close()
	if s.events == nil {
		t.Skip("no events here")
	}
	must(t, s.scan(true))
	put(t, dir, "Import/a.txt", "a")
	s.fault(fsnotify.ErrEventOverflow)
	if time.Now().Before(s.nextScan) {
		t.Error("no scan follows an overflow")
	}
	for range 3 {
		s.rescan()
	}
	if s.events == nil || s.tracker.files["Import/a.txt"] == nil {
		t.Errorf("events %v, files %v", s.events, s.tracker.files)
	}
	put(t, dir, "Import/b.txt", "b")
	s.rescan()
	s.rescan()
	if s.events != nil {
		t.Error("goes on trusting events that do not come")
	}
}

func TestWatcher_special(t *testing.T) {
	inBubble(t, WatchOptions{Poll: true}, func(t *testing.T, v *Vault, dir string, w *Watcher) {
		in := filepath.Join(dir, "Import")
		mkfifo(t, filepath.Join(in, "pipe.pdf"))
		must(t, os.Symlink("/etc/hostname", filepath.Join(in, "link.pdf")))
		must(t, os.Symlink("..", filepath.Join(in, "folder")))
		if l, err := net.Listen("unix", filepath.Join(in, "s")); err == nil {
			defer l.Close()
		} else {
			t.Logf("no socket: %v", err)
			put(t, dir, "Import/s", "")
			must(t, os.Remove(filepath.Join(in, "s")))
			mkfifo(t, filepath.Join(in, "s"))
		}
		put(t, dir, "Import/.c.pdf.icloud", "")
		put(t, dir, "Import/d.sync-conflict-20261101-101010-ABC.pdf", "")
		put(t, dir, "Note.sync-conflict-20261101-101010-ABC.md", "")
		want := []string{
			"blocked Import/.c.pdf.icloud", "blocked Import/d.sync-conflict-20261101-101010-ABC.pdf",
			"refused Import/folder", "refused Import/link.pdf", "refused Import/pipe.pdf", "refused Import/s",
		}
		expect(t, w, 10*time.Minute, want, nil)
		expect(t, w, 10*time.Minute, nil, nil)
	})
}

func TestWatcher_permission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	inBubble(t, WatchOptions{Poll: true}, func(t *testing.T, v *Vault, dir string, w *Watcher) {
		put(t, dir, "Import/a.txt", "a")
		must(t, os.Chmod(filepath.Join(dir, "Import/a.txt"), 0))
		expect(t, w, 10*time.Minute, []string{"blocked Import/a.txt"}, nil)
		must(t, os.Chmod(filepath.Join(dir, "Import/a.txt"), 0o644))
		expect(t, w, 2*time.Minute, []string{"ready Import/a.txt"}, nil)
	})
}

const patience = 20 * time.Second

func awaitReady(t *testing.T, w *Watcher, name string) Arrival {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case a := <-w.Arrivals():
			if a.State == StateReady {
				if a.Name != name {
					t.Fatalf("%s is ready, want %s", a.Name, name)
				}
				return a
			}
		case <-timeout:
			t.Fatalf("%s never became ready: %+v", name, w.Status())
		}
	}
}

func awaitChange(t *testing.T, w *Watcher) vault.Change {
	t.Helper()
	select {
	case c := <-w.Changes():
		return c
	case <-time.After(patience):
		t.Fatal("no change was reported")
		return vault.Change{}
	}
}

// On the system's own events: the rescan is too far away to help.
func eventful(t *testing.T, names ...string) (*Vault, string, *Watcher) {
	t.Helper()
	v, dir := tempVault(t, append(names, "Import/")...)
	if kind := networkFS(dir); kind != "" {
		t.Skipf("temporary files are on %s", kind)
	}
	w := watched(t, v, WatchOptions{Quiet: 50 * time.Millisecond, Rescan: time.Hour, Debounce: 20 * time.Millisecond})
	if s := w.Status(); s.Mode != modeEvents {
		t.Skipf("no events here: %s", s.Why)
	}
	return v, dir, w
}

func TestWatcher_eventsOfImports(t *testing.T) {
	t.Parallel()
	v, dir, w := eventful(t)
	put(t, dir, "elsewhere/folder/deep/moved.txt", "moved in")
	for _, step := range []struct {
		what, name string
		do         func() error
	}{
		{"10: rename into the folder", "Import/b.txt", func() error {
			put(t, dir, ".hidden", "b")
			return os.Rename(filepath.Join(dir, ".hidden"), filepath.Join(dir, "Import/b.txt"))
		}},
		{"nested folders and a file at once", "Import/x/y/z/c.txt", func() error {
			put(t, dir, "Import/x/y/z/c.txt", "c")
			return nil
		}},
		{"a second file in a folder that is new", "Import/x/y/d.txt", func() error {
			put(t, dir, "Import/x/y/d.txt", "d")
			return nil
		}},
		{"11: a folder moved in", "Import/folder/deep/moved.txt", func() error {
			return os.Rename(filepath.Join(dir, "elsewhere/folder"), filepath.Join(dir, "Import/folder"))
		}},
		{"13: another name first", "Import/e.pdf", func() error {
			put(t, dir, "Import/e.pdf.part", "%PDF-1.4 %%EOF")
			return os.Rename(filepath.Join(dir, "Import/e.pdf.part"), filepath.Join(dir, "Import/e.pdf"))
		}},
		{"39: clutter around one real file", "Import/f.txt", func() error {
			for _, name := range []string{".DS_Store", "._f.txt", "Thumbs.db", "~$f.docx", "f.txt.crdownload"} {
				put(t, dir, "Import/"+name, "x")
			}
			put(t, dir, "Import/f.txt", "f")
			return nil
		}},
		{"an upload", "Import/g.txt", func() error {
			_, _, err := v.drop(t.Context(), strings.NewReader("g"), "g.txt")
			return err
		}},
	} {
		must(t, step.do())
		a := awaitReady(t, w, step.name)
		if a.SHA256 != vault.Digest([]byte(content(t, dir, step.name))) {
			t.Errorf("%s: digest of other bytes", step.what)
		}
		must(t, v.rename(t.Context(), a.Name, "Imported/"+filepath.Base(a.Name)))
		w.Done(a.Name)
	}
}

func TestWatcher_eventsOfSlowWriter(t *testing.T) {
	t.Parallel()
	_, dir, w := eventful(t)
	put(t, dir, "Import/slow.pdf", "%PDF-1.4\n")
	timeout := time.After(patience)
	for written := false; ; {
		select {
		case a := <-w.Arrivals():
			switch {
			case a.State == StateReceiving && strings.Contains(a.Reason, "trailer") && !written:
				written = true // it has been still for the quiet period, and was not taken
				put(t, dir, "Import/slow.pdf", "%PDF-1.4\n%%EOF\n")
			case a.State == StateReady && written:
				if a.SHA256 != vault.Digest([]byte("%PDF-1.4\n%%EOF\n")) {
					t.Error("half a file was taken")
				}
				return
			case a.State == StateReady:
				t.Fatal("taken before it was complete")
			}
		case <-timeout:
			t.Fatalf("never ready: %+v", w.Status())
		}
	}
}

func TestWatcher_eventsOfNotes(t *testing.T) {
	t.Parallel()
	v, dir, w := eventful(t, "a.md", "dir/b.md")
	next := func(op vault.Op, name string) vault.Change {
		t.Helper()
		c := awaitChange(t, w)
		if c.Name != name || c.Op != op {
			t.Fatalf("got %+v, want %s %s", c, op, name)
		}
		return c
	}
	must(t, v.write(t.Context(), "a.md", []byte("own"), vault.Digest([]byte("a.md"))))
	if c := next(vault.OpModify, "a.md"); c.SHA256 != vault.Digest([]byte("own")) {
		t.Error("an own write cannot be told by its digest")
	}
	put(t, dir, "dir/new/deep/c.md", "c")
	next(vault.OpCreate, "dir/new/deep/c.md")
	if got := v.Locate("c", ""); !got.Found {
		t.Error("the index does not follow")
	}
	must(t, os.Rename(filepath.Join(dir, "dir/new"), filepath.Join(dir, "moved")))
	first, second := awaitChange(t, w), awaitChange(t, w)
	ops := map[string]vault.Op{first.Name: first.Op, second.Name: second.Op}
	if diff := cmp.Diff(map[string]vault.Op{"dir/new/deep/c.md": vault.OpRemove, "moved/deep/c.md": vault.OpCreate}, ops); diff != "" {
		t.Error(diff)
	}
	put(t, dir, "moved/deep/d.md", "d") // watched under its new name
	next(vault.OpCreate, "moved/deep/d.md")
	if got := v.Locate("dir/new/deep/c", ""); got.Found {
		t.Errorf("the index still has %+v", got)
	}
	must(t, os.RemoveAll(filepath.Join(dir, "moved/deep")))
	first, second = awaitChange(t, w), awaitChange(t, w)
	if first.Op != vault.OpRemove || second.Op != vault.OpRemove {
		t.Errorf("got %+v, %+v, want two removals", first, second)
	}
	b, err := v.stage("Imported", "job")
	must(t, err)
	must(t, b.WriteFile("index.md", []byte("note")))
	must(t, b.publish("Imported/q3"))
	next(vault.OpCreate, "Imported/q3/index.md")
}

func TestWatcher_ends(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Import/a.txt")
	w := NewWatcher(v, WatchOptions{Quiet: time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	<-w.Started()
	put(t, dir, "b.md", "b") // nobody reads the channels
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.Done("Import/a.txt") // never blocks
	w.Release("Import/a.txt")
}

func TestWatcher_vaultVanishes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reports := make(chan Report, 100)
		v, dir := tempVault(t, "a.md", "b.md", "Import/")
		w := watched(t, v, WatchOptions{Poll: true, Report: func(r Report) {
			select {
			case reports <- r:
			default:
			}
		}})
		must(t, os.RemoveAll(filepath.Join(dir, "Import")))
		expect(t, w, time.Minute, nil, nil)
		must(t, os.MkdirAll(filepath.Join(dir, "Import"), 0o755))
		put(t, dir, "Import/late.txt", "late")
		expect(t, w, time.Minute, []string{"ready Import/late.txt"}, nil)
		if r := <-reports; r.Code != "polling" {
			t.Errorf("got %+v", r)
		}
	})
}

func TestSelfTest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Import/", "no import folder.md"} {
		v, dir := tempVault(t, name)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		got, err := v.SelfTest(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got.Mode == modeEvents && got.Latency <= 0 || got.Mode == modePoll && got.Why == "" {
			t.Errorf("got %+v", got)
		}
		if left := leftovers(t, dir); left != nil {
			t.Errorf("left over: %v", left)
		}
	}
}

func TestLimitReport(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EMFILE} {
		r := limitReport(&os.PathError{Op: "watch", Path: "x", Err: errno})
		if r.Code != "watch_limit" || !strings.Contains(r.Hint, "fs.inotify.max_user_watches") {
			t.Errorf("%v: %+v", errno, r)
		}
	}
	if r := limitReport(os.ErrInvalid); r.Code != "watch_error" {
		t.Errorf("got %+v", r)
	}
}
