package journal_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
)

// What is written about a file, its parts and its folder follows a move, also when it is stored twice; names that only begin so do not.
func TestMemory_Moved(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	about := map[string][2]string{ // by note: before and after
		"a.md": {"In/X", "Out/Y"}, "b.md": {"In/X, chapter 1", "Out/Y, chapter 1"}, "c.md": {"In/X/", "Out/Y/"}, "d.md": {"Z.md\nIn/X", "Z.md\nOut/Y"},
		"e.md": {"In/X and more.md", "In/X and more.md"}, "f.md": {"Z/In/X", "Z/In/X"},
	}
	var files []engine.StagedFile
	for name, texts := range about {
		files = append(files, engine.StagedFile{Name: name, New: "d1", About: texts[0]})
	}
	if err := j.Memory.Writing(t.Context(), engine.StepRef{Workflow: "W", Run: "r"}, files); err != nil {
		t.Fatal(err)
	}
	for i, move := range [][2]string{{"In/X", "Out/Y"}, {"In/X", "Out/Y"}, {"Out/Y", "In/X"}} {
		if err := j.Memory.Moved(t.Context(), move[0], move[1]); err != nil {
			t.Fatal(err)
		}
		for name, texts := range about {
			want := texts[1]
			if i == 2 {
				want = texts[0]
			}
			if got, err := j.Memory.About(t.Context(), "W", name); got != want || err != nil {
				t.Errorf("move %d: %s is about %q, %v; want %q", i+1, name, got, err, want)
			}
		}
	}
}

// A file whose links are rewritten is no news: neither to workflows that watch it, nor to steps that have processed it.
func TestMemory_Linked(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	const before, after, other = "00", "01", "02"
	key := directives.PendingKey{Workflow: "W", Step: "S"}
	if err := j.Memory.Committed(t.Context(), engine.StepRef{Workflow: "W", Run: "r", Step: "S"}, []engine.Mark{{Name: "a.md", SHA256: before}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := j.Watches.Watch(t.Context(), "W", "*.md", []vault.File{{Name: "a.md", SHA256: before}}); err != nil {
		t.Fatal(err)
	}
	knows := func(sha256 string) bool {
		held, err := j.Watches.Holds(t.Context(), "W", "a.md", sha256)
		if err != nil {
			t.Fatal(err)
		}
		done, err := j.Memory.Done(t.Context(), key, "a.md", sha256)
		if err != nil || done != held {
			t.Fatalf("%s: held %t, done %t, %v", sha256, held, done, err)
		}
		return held
	}
	for _, change := range []struct {
		before, after string
		known         string
	}{{before, after, after}, {other, before, after}, {after, before, before}} {
		if err := j.Memory.Linked(t.Context(), "a.md", change.before, change.after); err != nil {
			t.Fatal(err)
		}
		if !knows(change.known) {
			t.Errorf("after %s became %s, %s is news", change.before, change.after, change.known)
		}
	}
}
