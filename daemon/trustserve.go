package daemon

import (
	"context"
	"time"
)

// renewal ends the work of serve because more or less is allowed than when it was begun. serve loads its settings again.
type renewal struct{}

// Error implements error.
func (renewal) Error() string { return "what this vault is trusted with has changed" }

// trustEvery is how often serve looks whether somebody has changed the trust in the vault.
const trustEvery = 2 * time.Second

// followTrust looks for answers that other processes have stored. What changes the settings in force ends this serve's work,
// which is begun anew; what allows a workflow makes the triggers look again.
func (w *Process) followTrust(ctx context.Context, reload func()) error {
	ticker := time.NewTicker(trustEvery)
	defer ticker.Stop()
	seen := w.Trust.stamp()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.renew:
		case <-ticker.C:
		}
		if w.Vault.There() != nil || w.Journal.There() != nil {
			continue // with the state directory the answers are gone: guard sees to that
		}
		if w.Trust.outdated() {
			w.Log.Info("what this vault is trusted with has changed; beginning anew")
			return renewal{}
		}
		if now := w.Trust.stamp(); now != seen {
			seen = now
			reload()
		}
	}
}

// renewSoon makes followTrust look at once.
func (w *Process) renewSoon() {
	select {
	case w.renew <- struct{}{}:
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
