package journal_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/engine"
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
