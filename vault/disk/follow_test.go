package disk

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

// grows appends to a file of the vault.
func grows(t *testing.T, f *os.File, text string) {
	t.Helper()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// A file that was taken half, moved, and written on through the writer's descriptor comes back whole; nobody says who has it
// open.
func TestWatcher_followsWhatWasTakenHalf(t *testing.T) {
	inBubble(t, WatchOptions{Poll: true}, func(t *testing.T, v *Vault, dir string, w *Watcher) {
		v.writersOf = func(*os.File) writers { return writers{} }
		f, err := os.Create(filepath.Join(dir, "Import/log.txt"))
		must(t, err)
		defer f.Close()
		grows(t, f, "one\n")
		a := awaitReady(t, w, "Import/log.txt")
		must(t, os.MkdirAll(filepath.Join(dir, "Imported/log"), 0o755))
		must(t, os.Rename(f.Name(), filepath.Join(dir, "Imported/log/log.txt")))
		w.Done(a.Name)
		w.Follow("Imported/log/log.txt", a.SHA256, time.Now().Add(10*time.Minute))
		if news, _ := hear(w, 5*time.Second); len(news) > 0 {
			t.Errorf("news of a file that is as it was: %q", news)
		}
		grows(t, f, "two\n")
		a = awaitReady(t, w, "Imported/log/log.txt")
		if !a.Followed || a.SHA256 != vault.Digest([]byte("one\ntwo\n")) {
			t.Errorf("got %+v, want the whole file", a)
		}
		w.Done(a.Name)
		<-time.After(11 * time.Minute)
		grows(t, f, "three\n")
		if news, _ := hear(w, time.Hour); len(news) > 0 {
			t.Errorf("news after the time was over: %q", news)
		}
	})
}

// As long as somebody has a followed file open for writing, its time is not over.
func TestWatcher_followsLongerWhileItIsWritten(t *testing.T) {
	inBubble(t, WatchOptions{Poll: true}, func(t *testing.T, v *Vault, dir string, w *Watcher) {
		var closed atomic.Bool
		v.writersOf = func(*os.File) writers { return writers{open: !closed.Load(), sure: true} }
		put(t, dir, "Imported/log/log.txt", "one\n")
		w.Follow("Imported/log/log.txt", vault.Digest([]byte("one\n")), time.Now().Add(time.Minute))
		hear(w, time.Hour)
		if s := w.Status(); len(s.Waiting) != 1 || !strings.Contains(s.Waiting[0].Reason, "open for writing") {
			t.Errorf("status %+v, want the file and why it waits", s)
		}
		put(t, dir, "Imported/log/log.txt", "one\ntwo\n")
		closed.Store(true)
		if a := awaitReady(t, w, "Imported/log/log.txt"); a.SHA256 != vault.Digest([]byte("one\ntwo\n")) {
			t.Errorf("got %+v", a)
		}
		w.Done("Imported/log/log.txt")
		must(t, os.Remove(filepath.Join(dir, "Imported/log/log.txt")))
		hear(w, time.Hour)
		if s := w.Status(); len(s.Waiting) != 0 {
			t.Errorf("status %+v, want nothing left", s)
		}
	})
}
