package intake

import (
	"log/slog"
	"testing"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/policy/trust/trusttest"
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
	if err := trusttest.Own(dir, stateDir); err != nil {
		t.Fatal(err)
	}
}
