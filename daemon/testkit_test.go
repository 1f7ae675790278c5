package daemon

import (
	"log/slog"
	"testing"

	"github.com/vaultflow/vaultflow/policy/trust/trusttest"
	"github.com/vaultflow/vaultflow/settings"
)

// ownVault makes a vault that is the user's own.
func ownVault(t *testing.T, dir, stateDir string) {
	t.Helper()
	if err := trusttest.Own(dir, stateDir); err != nil {
		t.Fatal(err)
	}
}

// openTest opens a vault without a log.
func openTest(t *testing.T, o Options) *Workspace {
	t.Helper()
	o.Logger = func(*settings.Settings) *slog.Logger { return slog.New(slog.DiscardHandler) }
	a, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}
