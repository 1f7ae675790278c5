package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/settings"
)

// options are what the flags say about the vault.
func (g *globals) options(ctx context.Context) (daemon.Options, error) {
	dir, err := g.vaultDir()
	if err == nil && g.changes {
		err = confirmMove(ctx, g, dir)
	}
	return g.optionsOf(dir, ""), err
}

// optionsOf are what the flags say about a vault. One of several has a name.
func (g *globals) optionsOf(dir, name string) daemon.Options {
	return daemon.Options{
		Dir: dir, Changes: g.changes, StateDir: g.stateDir, Settings: g.settings, Overrides: g.overrides, Version: version, Source: source,
		Logger: func(s *settings.Settings) *slog.Logger {
			g.warnings(s, name)
			log := newLogger(g, s)
			if name != "" {
				log = log.With("vault", name)
			}
			return log
		},
	}
}

// open finds the vault, loads its settings and opens it. Faults and warnings of the settings go to standard error.
func (g *globals) open(ctx context.Context) (*daemon.Workspace, error) {
	o, err := g.options(ctx)
	if err != nil {
		return nil, err
	}
	a, err := g.openWith(ctx, o)
	if err == nil {
		a.Beside(ctx)
	}
	return a, err
}

// openDespiteFaults opens the vault for a command that looks, or takes something back. A settings file with faults, which
// others may have written, does not stop it: the file counts as absent, and its faults are warnings.
func (g *globals) openDespiteFaults(ctx context.Context) (*daemon.Workspace, error) {
	o, err := g.options(ctx)
	if err != nil {
		return nil, err
	}
	o.Tolerate = func(err error) {
		lines := []string{err.Error()}
		if faults, ok := errors.AsType[*settings.Error](err); ok {
			lines = nil
			for _, d := range faults.Diagnostics {
				if d.Severity == diag.SeverityError {
					lines = append(lines, d.String())
				}
			}
		}
		for _, line := range lines {
			fmt.Fprintln(g.err, line)
		}
		fmt.Fprintln(g.err, "warning: the settings have faults; here the file with them counts as absent")
	}
	return g.openWith(ctx, o)
}

func (g *globals) openWith(ctx context.Context, o daemon.Options) (*daemon.Workspace, error) {
	a, err := daemon.Open(ctx, o)
	if err != nil {
		return nil, g.faults(err)
	}
	if err := a.State.Usable(); err != nil {
		fmt.Fprint(g.err, "note: "+strings.TrimPrefix(errorText(err), "vaultflow: "))
	}
	return a, nil
}

// faults prints the faults of settings that could not be loaded, each on its line. Other errors are returned as they are.
func (g *globals) faults(err error) error {
	faults, ok := errors.AsType[*settings.Error](err)
	if !ok {
		return err
	}
	list := slices.Clone(faults.Diagnostics) // what must be mended comes last, where a person reads
	slices.SortStableFunc(list, func(a, b diag.Diagnostic) int {
		return cmp.Compare(rank(a.Severity), rank(b.Severity))
	})
	waiting := 0
	for _, d := range list {
		if d.Code == settings.CodeWaits {
			waiting++
		}
	}
	if many := waiting > mostWaiting; many && !g.json {
		list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return d.Code == settings.CodeWaits })
		g.manyWait(waiting)
	}
	for _, d := range list {
		if g.json {
			if err := g.print(d, nil); err != nil {
				return err
			}
		} else {
			fmt.Fprintln(g.err, d)
		}
	}
	return exit(exitInvalid, errors.New("the settings have faults"))
}

// reading opens the vault and its journal for a command that only looks. There is nothing to see when nothing was ever run.
func (g *globals) reading(ctx context.Context, fn func(*daemon.Workspace, *journal.Journal) error) error {
	a, err := g.openDespiteFaults(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	err = a.Reading(ctx, func(j *journal.Journal) error { return fn(a, j) })
	if !errors.Is(err, daemon.ErrNothingRun) {
		return err
	}
	if !g.json {
		fmt.Fprintln(g.err, err)
	}
	return nil
}
