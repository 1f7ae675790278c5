package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/settings"
)

// A vault or a state directory may vanish under a serve that runs: its disk is unmounted, or somebody moves it. Nothing may
// start then: notes would look deleted, and what a run records would be lost. serve stops its work, says so, and starts
// again when both are back.

// guardEvery is how often serve looks whether vault and state are there.
const guardEvery = 2 * time.Second

// goneError is a vault or a state directory that is gone.
type goneError struct {
	error
	back func() bool // whether both are there again
}

// Unwrap returns what is gone.
func (e goneError) Unwrap() error { return e.error }

// guard looks after vault and state until ctx ends or one of them is gone.
func guard(ctx context.Context, w *Process) error {
	marks := marksOf(w.Workspace.Dir, w.Workspace.Settings)
	ticker := time.NewTicker(guardEvery)
	defer ticker.Stop()
	for {
		if err := errors.Join(w.Workspace.Vault.There(), w.Journal.There()); err != nil {
			return goneError{err, func() bool { return there(marks) && w.Journal.There() == nil }}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// marksOf returns paths that tell this vault from an empty folder in its place.
func marksOf(dir string, set *settings.Settings) []string {
	marks := []string{dir}
	for _, name := range []string{".obsidian", "settings.yaml", set.Vault.WorkflowsDir, set.Vault.ImportDir} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if there([]string{path}) {
			marks = append(marks, path)
		}
	}
	return marks
}

func there(paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// comeBack waits until what is gone is there again. It says false when ctx ends before. The vault stays taken, so that nobody
// begins with an empty history meanwhile.
func comeBack(ctx context.Context, a *Workspace, gone goneError) bool {
	a.Log.Error("stopped until it is back; no runs or imports start until then", "err", gone)
	if release, err := a.Vault.Lock(); err == nil {
		defer release() //nolint:errcheck // the vault is opened again
	}
	ticker := time.NewTicker(guardEvery)
	defer ticker.Stop()
	for !gone.back() {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	a.Log.Info("it is back; starting again")
	return true
}
