package main

import (
	"errors"
	"os"
	"path/filepath"
)

// vaultDir finds the vault: the flag or environment, else the nearest folder above the working directory that holds
// `.obsidian` or `settings.yaml`.
func (g *globals) vaultDir() (string, error) {
	if g.vault != "" {
		info, err := os.Stat(g.vault)
		if err != nil || !info.IsDir() {
			return "", usagef("%s is not a folder; name the vault with --vault or VAULTFLOW_VAULT", g.vault)
		}
		return filepath.Abs(g.vault)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		for _, mark := range []string{".obsidian", "settings.yaml"} {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir, nil
			}
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", exit(exitUsage, errors.New("no vault here: go into one, name one with --vault DIR, or make one with `vaultflow init DIR`"))
		}
		dir = above
	}
}
