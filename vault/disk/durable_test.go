package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/vault"
)

// syncLog records what is made to last, and what the target of the change held at that moment: a power cut after a change
// must not take it back, and one before must leave the whole text that was there.
type syncLog struct {
	t      *testing.T
	dir    string
	target string
	lines  []string
}

func (l *syncLog) sync(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	held := "nothing"
	if data, err := os.ReadFile(filepath.Join(l.dir, l.target)); err == nil {
		held = string(data)
	}
	name, err := filepath.Rel(l.dir, f.Name())
	if err != nil {
		return err
	}
	what := "folder " + filepath.ToSlash(name)
	if !info.IsDir() {
		data, err := os.ReadFile(f.Name())
		if err != nil {
			return err
		}
		what = "file with " + string(data)
	}
	l.lines = append(l.lines, what+", target "+held)
	return f.Sync()
}

func TestVault_changesLast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target string
		change func(t *testing.T, v *Vault) error
		want   []string
	}{
		"new file": {
			"Notes/new.md", func(t *testing.T, v *Vault) error { return v.write(t.Context(), "Notes/new.md", []byte("new"), "") },
			[]string{"file with new, target nothing", "folder Notes, target new"},
		},
		"new file in a new folder": {
			"Deep/er/new.md", func(t *testing.T, v *Vault) error { return v.write(t.Context(), "Deep/er/new.md", []byte("new"), "") },
			[]string{"folder ., target nothing", "folder Deep, target nothing", "file with new, target nothing", "folder Deep/er, target new"},
		},
		"new text": {
			"Notes/old.md", func(t *testing.T, v *Vault) error {
				return v.write(t.Context(), "Notes/old.md", []byte("new"), vault.Digest([]byte("old")))
			},
			[]string{"file with new, target old", "folder Notes, target new"},
		},
		"removed": {
			"Notes/old.md", func(t *testing.T, v *Vault) error {
				return v.remove(t.Context(), "Notes/old.md", vault.Digest([]byte("old")))
			},
			[]string{"folder Notes, target nothing"},
		},
		"moved": {
			"Done/old.md", func(t *testing.T, v *Vault) error { return v.rename(t.Context(), "Notes/old.md", "Done/old.md") },
			[]string{"folder Done, target old", "folder Notes, target old"},
		},
		"folder moved": {
			"Done/Notes/old.md", func(t *testing.T, v *Vault) error { return v.rename(t.Context(), "Notes", "Done/Notes") },
			[]string{"folder Done, target old", "folder ., target old"},
		},
		"copied": {
			"Done/copy.md", func(t *testing.T, v *Vault) error {
				return v.copy(t.Context(), "Notes/old.md", "Done/copy.md", vault.Digest([]byte("old")), 3)
			},
			[]string{"file with old, target nothing", "folder Done, target old"},
		},
		"moved over a copy": {
			"Done/same.md", func(t *testing.T, v *Vault) error {
				return v.supplant(t.Context(), "Notes/old.md", "Done/same.md", vault.Digest([]byte("old")))
			},
			[]string{"folder Done, target old", "folder Notes, target old"},
		},
		"dropped": {
			"Import/new.md", func(t *testing.T, v *Vault) error {
				_, _, err := v.drop(t.Context(), strings.NewReader("new"), "new.md")
				return err
			},
			[]string{"file with new, target nothing", "folder Import, target new"},
		},
		"bundle": {
			"Imported/q3/index.md", func(_ *testing.T, v *Vault) error {
				b, err := v.stage("Imported", "job")
				if err == nil {
					err = errors.Join(b.WriteFile("index.md", []byte("new")), b.publish("Imported/q3"))
				}
				return err
			},
			[]string{
				"folder Imported, target nothing", "file with new, target nothing", "folder Imported/.vaultflow-job, target nothing",
				"folder Imported, target new", "folder Imported, target new",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, dir := tempVault(t, "Import/", "Imported/", "Notes/", "Done/")
			put(t, dir, "Notes/old.md", "old")
			put(t, dir, "Done/same.md", "old")
			log := &syncLog{t: t, dir: dir, target: c.target}
			v.sync = log.sync
			must(t, c.change(t, v))
			if diff := cmp.Diff(c.want, log.lines); diff != "" {
				t.Errorf("made to last (-want +got):\n%s", diff)
			}
		})
	}
}

// What cannot be made to last is not made.
func TestVault_syncFails(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t)
	put(t, dir, "old.md", "old")
	errDisk := errors.New("the disk is dying")
	v.sync = func(*os.File) error { return errDisk }
	b, err := v.stage("Imported", "job")
	if !errors.Is(err, errDisk) {
		t.Errorf("staged %v, %v", b, err)
	}
	for what, err := range map[string]error{
		"write":  v.write(t.Context(), "old.md", []byte("new"), vault.Digest([]byte("old"))),
		"create": v.write(t.Context(), "new.md", []byte("new"), ""),
	} {
		if !errors.Is(err, errDisk) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new.md")); err == nil || content(t, dir, "old.md") != "old" {
		t.Errorf("written all the same: %v", err)
	}
	if left := leftovers(t, dir); left != nil {
		t.Errorf("left over: %v", left)
	}
}

// A file that was put in another's place, of the same size and time, is another file.
func TestWatcher_replacedFileOfTheSameSizeAndTime(t *testing.T) {
	inBubble(t, WatchOptions{Poll: true}, func(t *testing.T, _ *Vault, dir string, w *Watcher) {
		note, drop := filepath.Join(dir, "note.md"), filepath.Join(dir, "Import/a.txt")
		put(t, dir, "Import/a.txt", "one")
		if a := awaitReady(t, w, "Import/a.txt"); a.SHA256 != vault.Digest([]byte("one")) {
			t.Errorf("first: %+v", a)
		}
		w.Done("Import/a.txt")
		put(t, dir, "note.md", "one")
		if c := awaitChange(t, w); c.SHA256 != vault.Digest([]byte("one")) {
			t.Errorf("first: %+v", c)
		}
		for _, name := range []string{note, drop} {
			info, err := os.Stat(name)
			must(t, err)
			other := name + ".tmp"
			must(t, os.WriteFile(other, []byte("two"), 0o644))
			must(t, os.Chtimes(other, info.ModTime(), info.ModTime()))
			must(t, os.Rename(other, name))
		}
		if c := awaitChange(t, w); c.Name != "note.md" || c.SHA256 != vault.Digest([]byte("two")) {
			t.Errorf("replaced note: %+v", c)
		}
		if a := awaitReady(t, w, "Import/a.txt"); a.SHA256 != vault.Digest([]byte("two")) {
			t.Errorf("replaced file of the import folder: %+v", a)
		}
	})
}
