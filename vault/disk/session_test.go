package disk

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWatcher_namesThatAreNoText(t *testing.T) {
	inBubble(t, WatchOptions{Poll: true}, func(t *testing.T, _ *Vault, dir string, w *Watcher) {
		if err := os.WriteFile(filepath.Join(dir, "Import/caf\xe9.txt"), []byte("a"), 0o644); err != nil {
			t.Skipf("this file system has no such names: %v", err)
		}
		put(t, dir, "Import/caf_.txt", "b")
		put(t, dir, "Import/\xff/de[e]p/\xfe.txt", "c")
		put(t, dir, "Import/\xff/de[e]p/.DS_Store", "clutter")
		put(t, dir, "Import/x/\xff\xfe.txt", "d")
		put(t, dir, "Import/\xfd.txt.part", "e")
		expect(t, w, time.Minute, []string{
			"gone Import/caf\xe9.txt", "gone Import/x/\xff\xfe.txt", "gone Import/\xff/de[e]p/\xfe.txt",
			"ready Import/_/deep/_.txt", "ready Import/caf_ (2).txt", "ready Import/caf_.txt", "ready Import/x/_.txt",
		}, nil)
		for name, text := range map[string]string{
			"Import/_/deep/_.txt": "c", "Import/caf_ (2).txt": "a", "Import/caf_.txt": "b", "Import/x/_.txt": "d",
			"Import/\xff/de[e]p/.DS_Store": "clutter", "Import/\xfd.txt.part": "e",
		} {
			if got := content(t, dir, name); got != text {
				t.Errorf("%q holds %q, want %q", name, got, text)
			}
		}
	})
}
