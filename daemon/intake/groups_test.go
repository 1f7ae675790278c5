package intake

import (
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// judged returns what becomes of files that have long been ready in the import folder: the names of groups, and of the files in none.
func judged(t *testing.T, files map[string]string, prepare func(*groups, *journal.Journal)) (made, singles []string) {
	t.Helper()
	dir := t.TempDir()
	loaded, err := settings.Load(settings.Input{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v, err := disk.Open(dir, disk.Options{ImportDir: "Import", ImportedDir: "Imported"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	g := &groups{
		watcher: disk.NewWatcher(v, disk.WatchOptions{}), settings: loaded, vault: v, journal: j, log: slog.New(slog.DiscardHandler),
		empty: map[string]bool{}, before: map[string]bool{}, told: map[string]string{}, last: map[string]time.Time{}, links: map[string][]export.Link{},
		refuse: map[string]bool{}, pending: map[string]pending{}, busy: map[string]int{}, more: map[string]bool{},
	}
	for name, text := range files {
		g.pending[name] = pending{Arrival: disk.Arrival{Name: name, State: disk.StateReady, Size: int64(len(text)), SHA256: vault.Digest([]byte(text))}, since: time.Now().Add(-time.Hour)}
	}
	prepare(g, j)
	for range 2 { // pictures of a note that is not packed wait for the next time
		alone, packed, _ := g.judge(t.Context())
		for _, a := range alone {
			singles = append(singles, path.Base(a.Name))
		}
		for _, group := range packed {
			made = append(made, group.zip)
		}
	}
	slices.Sort(made)
	slices.Sort(singles)
	return made, singles
}

// Files that a run wrote are imported one by one, or the loop guard would not recognise them.
func TestGroups_leaveFilesOfRunsAlone(t *testing.T) {
	t.Parallel()
	files := map[string]string{"Import/Batch/One.md": "[[Two]]", "Import/Batch/Two.md": "[[One]]", "Import/Cake.md": "![[cake.png]]", "Import/cake.png": "PNG"}
	made, singles := judged(t, files, func(*groups, *journal.Journal) {})
	if !slices.Equal(made, []string{"Import/Batch.zip", "Import/Cake.zip"}) || len(singles) != 0 {
		t.Errorf("groups %q, singles %q", made, singles)
	}
	made, singles = judged(t, files, func(_ *groups, j *journal.Journal) {
		ref := engine.StepRef{Run: "r1", Workflow: "Split"}
		for _, name := range []string{"Import/Batch/Two.md", "Import/Cake.md"} {
			if err := j.Memory.Writing(t.Context(), ref, []engine.StagedFile{{Name: name, New: vault.Digest([]byte(files[name]))}}); err != nil {
				t.Fatal(err)
			}
		}
	})
	if len(made) != 0 || !slices.Equal(singles, []string{"Cake.md", "One.md", "Two.md", "cake.png"}) {
		t.Errorf("groups %q, singles %q", made, singles)
	}
}

// A saved page takes the files that were saved with it; other pages and folders are imported as ever.
func TestGroups_savedPages(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"Import/Trip.html": "<p>", "Import/Trip_files/a.png": "PNG", "Import/Trip_files/b/frame.html": "<p>", "Import/alone.html": "<p>", "Import/Other_files/c.png": "PNG",
		"Import/Clips/Tee.htm": "<p>", "Import/Clips/Tee-Dateien/d.png": "PNG", "Import/Clips/letter.txt": "x",
		"Import/Talk.key/Index.zip": "ZIP", "Import/Talk.key/Data/p.jpg": "JPG", "Import/Talk.key/preview.jpg": "JPG", "Import/Other.key/x.jpg": "JPG",
		"Import/Notes/one.md": "[x](Web.html)", "Import/Notes/Web.html": "<p>", "Import/Notes/Web_files/e.png": "PNG",
	}
	made, singles := judged(t, files, func(*groups, *journal.Journal) {})
	if !slices.Equal(made, []string{"Import/Clips/Tee.zip", "Import/Notes.zip", "Import/Talk.zip", "Import/Trip.zip"}) || !slices.Equal(singles, []string{"alone.html", "c.png", "letter.txt", "x.jpg"}) {
		t.Errorf("groups %q, singles %q", made, singles)
	}
}
