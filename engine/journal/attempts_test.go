package journal_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/engine/journal"
)

// Attempts are counted over the death of the process, and from the beginning once more was made.
func TestAttempts(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	for i, want := range []int{0, 1, 2, 0, 1} {
		j, err := journal.Open(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		progress := 0
		if i >= 3 {
			progress = 7
		}
		if earlier, err := j.Attempts.Attempt(ctx, "import:a;", progress); err != nil || earlier != want {
			t.Errorf("attempt %d: %d earlier ones, %v; want %d", i+1, earlier, err, want)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	j, err := journal.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Attempts.Attempt(ctx, "import:ab;", 0); err != nil {
		t.Fatal(err)
	}
	if err := j.Attempts.Forget(ctx, "import:a;"); err != nil {
		t.Fatal(err)
	}
	for piece, want := range map[string]int{"import:a;": 0, "import:ab;": 1} {
		if n, err := j.Attempts.Attempts(ctx, piece); err != nil || n != want {
			t.Errorf("%s: %d, %v; want %d", piece, n, err, want)
		}
	}
}
