package daemon

import (
	"context"
	"log/slog"

	"github.com/vaultflow/vaultflow/daemon/statusnote"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
)

// NoteUnserved writes into the status note of a vault why it is not served. A vault that another process uses is left alone, and so is one whose state
// may not be changed. Settings with faults count as absent, also where they name the note.
func NoteUnserved(ctx context.Context, o Options, why error) error {
	o.Tolerate = func(error) {}
	o.Logger = func(*settings.Settings) *slog.Logger { return slog.New(slog.DiscardHandler) } // serve has reported the warnings
	a, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer a.Close()
	if a.Settings.Engine.StatusNote == "" {
		return nil
	}
	release, err := a.Vault.Lock()
	if err != nil {
		return err
	}
	defer release() //nolint:errcheck // the lock ends with the file
	return statusnote.Unserved(ctx, a.Vault, a.Writing(policy.ByStatus), a.Settings.Engine.StatusNote, why)
}
