package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	if err := j.Fill(t.Context(), journal.Filling{Runs: 300, Workflows: 3, Start: epoch.Add(-300 * time.Hour), Every: time.Hour, Blobs: true}); err != nil {
		t.Fatal(err)
	}
	h, err := j.Health(t.Context())
	if err != nil || h.Runs != 300 || h.Files != 1200 || h.Blobs < 1200*300 || h.Database < 300*1000 || !h.Swept.IsZero() {
		t.Errorf("%+v, %v", h, err)
	}
	if err := j.Check(t.Context()); err != nil {
		t.Errorf("a whole database: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	// Pages in the middle of the file are another thing now; what is asked first does not need them.
	path := filepath.Join(dir, "state.db")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(raw) / 2; i < len(raw)/2+64<<10; i++ {
		raw[i] ^= 0x5a
	}
	write(t, path, raw)
	reader, err := journal.OpenReader(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := reader.Check(t.Context()); !errors.Is(err, journal.ErrCorrupt) || failure.Of(err).Hint == "" {
		t.Errorf("a broken database: %v (hint %q), want ErrCorrupt with a hint", err, failure.Of(err).Hint)
	}
}
