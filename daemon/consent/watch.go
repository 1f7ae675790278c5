package consent

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// ErrChanged ends a serve whose grants have changed. It loads its settings again.
var ErrChanged = errors.New("what this vault is trusted with has changed")

// Every is how often a serve checks whether the trust in the vault or its settings files have changed.
const Every = 2 * time.Second

// Watch ends a serve when the trust in the vault has changed. Make one with [NewWatch].
type Watch struct {
	trust *Trust
	there func() error // an error while the vault or its state directory is gone
	log   *slog.Logger
	soon  chan struct{}
}

// NewWatch returns a watch of t. It does nothing while there returns an error: with the state directory, the answers are gone.
func NewWatch(t *Trust, there func() error, log *slog.Logger) *Watch {
	return &Watch{trust: t, there: there, log: log, soon: make(chan struct{}, 1)}
}

// Run looks for answers that other processes stored, until ctx ends. It returns ErrChanged if they change the settings in
// force, and calls reload if they only allow a workflow.
func (w *Watch) Run(ctx context.Context, reload func()) error {
	ticker := time.NewTicker(Every)
	defer ticker.Stop()
	seen := w.trust.stamp()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.soon:
		case <-ticker.C:
		}
		if w.there() != nil {
			continue
		}
		if w.trust.Outdated() {
			w.log.Info("what this vault is trusted with has changed; starting over")
			return ErrChanged
		}
		if now := w.trust.stamp(); now != seen {
			seen = now
			reload()
		}
	}
}

// Soon makes Run check now.
func (w *Watch) Soon() {
	select {
	case w.soon <- struct{}{}:
	default:
	}
}

// Outdated reports whether the settings in force were loaded with other grants than there are now.
func (t *Trust) Outdated() bool {
	s, err := t.answers.store.Read()
	return err == nil && Fingerprint(s) != t.Fingerprint()
}

// stamp returns a text that changes when the user allows a workflow.
func (t *Trust) stamp() string {
	s, _ := t.answers.store.Read()
	text := ""
	for _, g := range s.Workflows {
		text += g.Workflow + " " + g.Digest + "\n"
	}
	return text
}
