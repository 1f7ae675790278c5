package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/policy/trust"
)

// clearOrigin makes the present content of a file one's own: here, or in the process that works on the vault.
func clearOrigin(ctx context.Context, a *daemon.Workspace, name string) error {
	w, err := a.Work(ctx)
	if isLocked(err) {
		_, err = a.Ask(ctx, control.Order{Own: name})
		return err
	}
	if err != nil {
		return err
	}
	defer w.Close()
	return w.ClearOrigin(ctx, name)
}

// clearOrigins ends the foreign origin of notes. dry only shows it.
func clearOrigins(ctx context.Context, g *globals, notes []string, dry bool) error {
	a, err := g.open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	for i, name := range notes {
		if notes[i], err = fileNamed(g, a, name); err != nil {
			return err
		}
	}
	show := func(j *journal.Journal) error {
		for _, name := range notes {
			if err := showOrigin(ctx, g, a, j, name); err != nil {
				return err
			}
		}
		return nil
	}
	if err := a.Reading(ctx, show); errors.Is(err, daemon.ErrNothingRun) {
		err = show(nil)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	for _, name := range notes {
		if dry {
			break
		}
		if err := clearOrigin(ctx, a, name); err != nil {
			return fmt.Errorf("trust %s: %w", name, err)
		}
		fmt.Fprintf(g.err, "%s counts as yours now\n", trust.Plain(name))
	}
	return nil
}

// originLine is where a file comes from, as machines read it.
type originLine struct {
	Type string `json:"type"` // "origin"
	origin.Finding
}

// showOrigin prints where a file of the vault comes from.
func showOrigin(ctx context.Context, g *globals, a *daemon.Workspace, j *journal.Journal, name string) error {
	var store origin.Store
	if j != nil {
		store = j.Origins
	}
	f, err := a.Book(store).Explain(ctx, name)
	if err != nil {
		return err
	}
	return g.print(originLine{"origin", f}, func(w io.Writer) {
		fmt.Fprintln(w, trust.Plain(f.Describe()))
		for _, s := range f.Spans {
			lines := fmt.Sprintf("line %d", s.First)
			if s.Last > s.First {
				lines = fmt.Sprintf("lines %d-%d", s.First, s.Last)
			}
			fmt.Fprintf(w, "  %s: %s\n", lines, trust.Plain(strings.Join(s.Origins, ", ")))
		}
	})
}
