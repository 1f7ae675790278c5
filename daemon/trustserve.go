package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// renewal ends the work of serve because more or less is allowed than when it was begun. serve loads its settings again.
type renewal struct{}

// Error implements error.
func (renewal) Error() string { return "what this vault is trusted with has changed" }

// trustEvery is how often serve looks whether somebody has changed the trust in the vault.
const trustEvery = 2 * time.Second

// trustWatch ends the work of serve when the trust in the vault has changed.
type trustWatch struct {
	trust   *Trust
	vault   *disk.Vault
	journal *journal.Journal
	log     *slog.Logger
	renew   chan struct{} // somebody has changed the trust
}

// run looks for answers that other processes have stored. What changes the settings in force ends this serve's work,
// which is begun anew; what allows a workflow makes the triggers look again.
func (t *trustWatch) run(ctx context.Context, reload func()) error {
	ticker := time.NewTicker(trustEvery)
	defer ticker.Stop()
	seen := t.trust.stamp()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.renew:
		case <-ticker.C:
		}
		if t.vault.There() != nil || t.journal.There() != nil {
			continue // with the state directory the answers are gone: guard sees to that
		}
		if t.trust.outdated() {
			t.log.Info("what this vault is trusted with has changed; beginning anew")
			return renewal{}
		}
		if now := t.trust.stamp(); now != seen {
			seen = now
			reload()
		}
	}
}

// soon makes followTrust look at once.
func (t *trustWatch) soon() {
	select {
	case t.renew <- struct{}{}:
	default:
	}
}

// outdated reports whether the settings in force are not those that are granted now.
func (t *Trust) outdated() bool {
	s, err := t.store.Read()
	return err == nil && Fingerprint(s) != Fingerprint(t.opened)
}

// stamp changes when a workflow was allowed.
func (t *Trust) stamp() string {
	s, _ := t.store.Read()
	text := ""
	for _, g := range s.Workflows {
		text += g.Workflow + " " + g.Digest + "\n"
	}
	return text
}
