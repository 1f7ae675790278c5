package daemon

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/settings"
)

// changedFiles names the files of settings that hold something else now, those of the vault by their vault names.
func changedFiles(loaded settings.Snapshot, vault string) []string {
	var names []string
	for _, path := range loaded.Changed() {
		if rel, err := filepath.Rel(vault, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.ToSlash(rel)
		}
		names = append(names, path)
	}
	slices.Sort(names)
	return names
}

// OutdatedText explains that a running serve does not know the current settings.
func OutdatedText(changed []string) string {
	return strings.Join(changed, ", ") + ": changed since serve started; restart it to apply the change"
}

// followSettings logs that files of settings change under the running serve, and that they are as before again.
func followSettings(ctx context.Context, w *Process) error {
	ticker := time.NewTicker(consent.Every)
	defer ticker.Stop()
	var told []string
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if w.Workspace.Vault.There() != nil || w.Journal.There() != nil {
			continue // guard sees to that
		}
		now := changedFiles(w.Workspace.loaded, w.Workspace.Dir)
		switch {
		case slices.Equal(now, told):
		case len(now) == 0:
			w.Workspace.Log.Info("the settings are again those that serve works with")
		default:
			w.Workspace.Log.Warn("settings changed; restart serve, which works with the former ones", "files", strings.Join(now, ", "))
		}
		told = now
	}
}
