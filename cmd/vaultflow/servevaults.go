package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/vaults"
	"github.com/vaultflow/vaultflow/settings"
)

// severalVaults returns the vaults of a serve of several: those that were named, or those of the user's own settings where no vault is
// named or near. Without any, serve is of one vault.
func severalVaults(g *globals, named []string) ([]string, error) {
	if len(named) > 0 {
		for _, dir := range named {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return nil, usagef("%s is not a folder; name each vault with --vault", dir)
			}
		}
		return named, nil
	}
	if _, err := g.vaultDir(); err == nil || g.vault != "" {
		return nil, nil
	}
	s, err := ownSettings(g)
	if err != nil {
		return nil, g.faults(err)
	}
	var dirs []string
	for _, dir := range s.Vaults {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, err
			}
			dir = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(dir) {
			return nil, usagef("vaults in %s: %s is not an absolute path", s.UserFile, dir)
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// ownSettings loads the user's own settings, without those of any vault.
func ownSettings(g *globals) (*settings.Settings, error) {
	environ := os.Environ()
	return settings.Load(settings.Input{User: settings.UserFile(environ), Environ: environ, Overrides: g.overrides})
}

// frontDir is where a serve of several vaults keeps who signed in, and where it answers.
func frontDir() (string, error) {
	home, err := settings.StateHome(os.Environ())
	return filepath.Join(home, "serve"), err
}

// askFront asks the running serve of several vaults about one of them.
func askFront(ctx context.Context, dir string) (control.Reply, error) {
	at, err := frontDir()
	if err != nil {
		return control.Reply{}, err
	}
	return control.Ask(ctx, at, control.Order{Info: true, Vault: dir})
}

// printURLOf asks the running serve of several vaults for its dashboard: any vault answers, or else what they have in common.
func printURLOf(ctx context.Context, g *globals, dirs []string) (err error) {
	for _, dir := range dirs {
		var a *daemon.Workspace
		if a, err = g.openWith(ctx, g.optionsOf(dir, "")); err != nil {
			continue
		}
		err = printURL(ctx, a, g)
		a.Close()
		if err == nil {
			return nil
		}
	}
	if r, frontErr := askFront(ctx, ""); frontErr == nil {
		return printDashboard(g, r)
	}
	return err
}

// serveSeveral runs the daemon on several vaults until ctx ends.
func serveSeveral(ctx context.Context, g *globals, dirs []string, withWeb bool) error {
	if g.stateDir != "" || g.settings != "" {
		return usagef("--state-dir and --settings (VAULTFLOW_STATE_DIR, VAULTFLOW_SETTINGS) are for one vault, and %d are to be served", len(dirs))
	}
	s, err := ownSettings(g)
	if err != nil {
		return g.faults(err)
	}
	state, err := frontDir()
	if err != nil {
		return err
	}
	look := make(chan os.Signal, 1)
	signal.Notify(look, syscall.SIGHUP)
	defer signal.Stop(look)
	g.changes = true
	return vaults.Serve(ctx, vaults.Config{
		Dirs: dirs, Settings: s, StateDir: state, Web: withWeb, Look: look, Version: version, Source: source, Log: newLogger(g, s),
		Open:  g.optionsOf,
		Ready: func(r daemon.Ready) error { return printReady(g.err, r) },
	})
}
