package intake

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings"
)

// ownTrust is the trust in a vault of one's own.
func ownTrust(t *testing.T, s *settings.Settings) *consent.Trust {
	t.Helper()
	dir, stateDir := t.TempDir(), t.TempDir()
	ownVault(t, dir, stateDir)
	own, err := consent.Open(t.Context(), stateDir, dir, settings.Input{})
	if err != nil {
		t.Fatal(err)
	}
	return consent.New(own, s, slog.New(slog.DiscardHandler))
}

// ownVault makes a vault that is the user's own.
func ownVault(t *testing.T, dir, stateDir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, ".obsidian"), 0o750); err != nil {
		t.Fatal(err)
	}
	store, err := trust.Open(stateDir, dir)
	if err == nil {
		err = store.Change(func(s *trust.State) { s.Decide(trust.Own, time.Now()) })
	}
	if err != nil {
		t.Fatal(err)
	}
}
