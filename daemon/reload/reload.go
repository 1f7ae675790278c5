// Package reload notices that what a serve works with has changed: its settings, or the trust in its vault. It changes nothing in a
// running serve, which starts over to use what has changed, or continues as it was if that has faults.
package reload

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/settings"
)

// ErrChanged ends a serve that is to start over with what has changed.
var ErrChanged = errors.New("the settings, or what this vault is trusted with, have changed")

// every is how often a serve looks for changes.
const every = 2 * time.Second

// Unusable is settings without faults with which serve cannot start all the same: the port of its dashboard is taken, say.
type Unusable struct {
	Files settings.Snapshot
	Err   error
}

// Config is what a [Watch] compares.
type Config struct {
	Trust    *consent.Trust
	Input    settings.Input // of the settings in use; From holds their files
	Unusable Unusable
	Working  func() []string // the runs that have begun; they end what they are doing before serve starts over
	There    func() error    // an error while the vault or its state directory is gone: nothing is looked at then
	Log      *slog.Logger
}

// Watch looks whether settings and trust are still those in use. Make one with [New]. It is safe for concurrent use.
type Watch struct {
	cfg  Config
	soon chan struct{}

	mu     sync.Mutex // guards what follows
	used   settings.Snapshot
	seen   settings.Snapshot // what the last look found
	found  engine.Reload     // what seen means
	told   string            // what was logged last
	drains bool
	failed Unusable
}

// New returns a watch.
func New(c Config) *Watch {
	return &Watch{cfg: c, soon: make(chan struct{}, 1), used: c.Input.From, seen: c.Input.From, failed: c.Unusable}
}

// Run looks every two seconds, and after [Watch.Soon], until ctx ends. It returns ErrChanged if serve is to start over, and calls
// allowed if only a workflow was allowed.
func (w *Watch) Run(ctx context.Context, allowed func()) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	stamp := w.cfg.Trust.Stamp()
	for {
		if w.Changed() {
			return ErrChanged
		}
		if now := w.cfg.Trust.Stamp(); now != stamp && w.cfg.There() == nil {
			stamp = now
			allowed()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.soon:
		case <-ticker.C:
		}
	}
}

// Soon makes Run look now.
func (w *Watch) Soon() {
	select {
	case w.soon <- struct{}{}:
	default:
	}
}

// Retry makes Run look now, and try settings again with which serve could not start.
func (w *Watch) Retry() {
	w.mu.Lock()
	w.failed, w.seen = Unusable{}, nil
	w.mu.Unlock()
	w.Soon()
}

// Changed looks, and reports whether serve has to start over.
func (w *Watch) Changed() bool { return w.State().Over }

// Draining makes it certain that serve starts over, even if the changes are undone.
func (w *Watch) Draining() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drains = true
}

// State looks, and returns what serve does about changes.
func (w *Watch) State() engine.Reload {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cfg.There() != nil {
		return engine.Reload{} // with the state directory, the answers are gone
	}
	state := w.look()
	if text := state.Text(); text != w.told && !w.drains {
		w.told = text
		w.tell(state)
	}
	if state.Over || w.drains {
		state = engine.Reload{Files: state.Files, Over: true, Waits: w.cfg.Working()}
	}
	return state
}

// look compares what there is with what is in use. The caller holds mu.
func (w *Watch) look() engine.Reload {
	now := w.cfg.Input.Snapshot()
	if w.cfg.Trust.Outdated() {
		return engine.Reload{Over: true}
	}
	if !now.Same(w.seen) {
		w.seen, w.found = now, w.compare(now)
	}
	return w.found
}

// compare returns what settings mean that were read now. The caller holds mu.
func (w *Watch) compare(now settings.Snapshot) engine.Reload {
	files := w.names(w.used.Changed(now))
	if len(files) == 0 {
		return engine.Reload{}
	}
	next, err := w.load(now)
	if err == nil && now.Same(w.failed.Files) {
		err = w.failed.Err
	}
	if err != nil {
		return engine.Reload{Files: files, Faults: faults(err)}
	}
	if former, err := w.load(w.used); err == nil && former.Same(next) {
		w.used = now
		return engine.Reload{}
	}
	return engine.Reload{Files: files, Over: true}
}

func (w *Watch) load(files settings.Snapshot) (*settings.Settings, error) {
	in := w.cfg.Input
	in.From = files
	return settings.Load(in)
}

// tell logs what serve does about a change, once.
func (w *Watch) tell(state engine.Reload) {
	files := strings.Join(state.Files, ", ")
	switch {
	case len(state.Faults) > 0:
		w.cfg.Log.Error("the settings have faults; serve continues with the former ones", "files", files, "err", strings.Join(state.Faults, "; "))
	case state.Over && files == "":
		w.cfg.Log.Info("what this vault is trusted with has changed; starting over")
	case state.Over:
		w.cfg.Log.Info("the settings have changed; starting over with them", "files", files)
	default:
		w.cfg.Log.Info("the settings are again those that serve works with")
	}
}

// names returns paths of files as people know them: those of the vault by their names in it.
func (w *Watch) names(paths []string) []string {
	var names []string
	for _, path := range paths {
		if rel, err := filepath.Rel(w.cfg.Input.Vault, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.ToSlash(rel)
		}
		names = append(names, path)
	}
	slices.Sort(names)
	return names
}

// faults lists what is wrong, each with its place.
func faults(err error) []string {
	var list []string
	if bad, ok := errors.AsType[*settings.Error](err); ok {
		for _, d := range bad.Diagnostics {
			if d.Severity == diag.SeverityError {
				list = append(list, d.String())
			}
		}
	}
	if len(list) == 0 {
		list = []string{fmt.Sprint(err)}
	}
	return list
}
