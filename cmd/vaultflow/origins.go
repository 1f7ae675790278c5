package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/origin"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/trust"
	"github.com/vaultflow/vaultflow/vault"
)

// book answers where contents of the vault come from. Without a store its rules alone decide.
func (a *app) book(store origin.Store) *origin.Book {
	s := a.settings
	return &origin.Book{FS: a.vault.FS(), Store: store, Rules: origin.Rules{
		ImportedDir: s.Vault.ImportedDir, ImportDir: s.Vault.ImportDir, Globs: s.Policy.Untrusted, Properties: s.Policy.UntrustedProperties,
	}}
}

// knowOrigins lets a workflow's activities, and the prompts that they build, ask where contents come from.
func knowOrigins(w *step.Workflow, book *origin.Book) {
	known := step.Origins{Book: book}
	w.Origin, w.Prompt.Known, w.Prompt.Named = book, known.Known, known.Named
}

// followOrigins tells the book of a change that the watcher saw, so that it holds for the next name and the next edit.
func (w *working) followOrigins(ctx context.Context, c vault.Change) {
	book := w.book(w.journal.Origins)
	var err error
	if c.Op == vault.OpRemove {
		err = book.Removed(ctx, c.Name)
	} else {
		err = book.Changed(ctx, c.Name, c.SHA256)
	}
	if err != nil && ctx.Err() == nil {
		w.log.Warn("origin of a changed file not recorded", "name", c.Name, "err", err)
	}
}

// clearOrigin makes the present content of a file one's own: here, or in the process that works on the vault.
func (a *app) clearOrigin(ctx context.Context, name string) error {
	w, err := a.work(ctx)
	if isLocked(err) {
		_, err = a.ask(ctx, order{Own: name})
		return err
	}
	if err != nil {
		return err
	}
	defer w.close()
	return w.clearOrigin(ctx, name)
}

func (w *working) clearOrigin(ctx context.Context, name string) error {
	file, err := w.fileNamed(name)
	if err != nil {
		return err
	}
	return w.book(w.journal.Origins).Clear(ctx, file)
}

// clearOrigins ends the foreign origin of notes. dry only says what it is.
func (g *globals) clearOrigins(ctx context.Context, notes []string, dry bool) error {
	a, err := g.open()
	if err != nil {
		return err
	}
	defer a.close()
	for i, name := range notes {
		if notes[i], err = a.fileNamed(name); err != nil {
			return err
		}
	}
	show := func(j *journal.Journal) error {
		for _, name := range notes {
			if err := g.showOrigin(ctx, a, j, name); err != nil {
				return err
			}
		}
		return nil
	}
	if err := a.reading(ctx, show); errors.Is(err, errNoState) {
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
		if err := a.clearOrigin(ctx, name); err != nil {
			return fmt.Errorf("trust %s: %w", name, err)
		}
		fmt.Fprintf(g.err, "%s counts as yours now\n", trust.Plain(name))
	}
	return nil
}

// fileNamed finds a file of the vault by its name, or a note by its name without .md.
func (a *app) fileNamed(name string) (string, error) {
	name = path.Clean(strings.TrimPrefix(name, "./"))
	for _, candidate := range []string{name, name + ".md"} {
		if !fs.ValidPath(candidate) {
			break
		}
		info, err := fs.Stat(a.vault.FS(), candidate)
		if err == nil && info.Mode().IsRegular() {
			return candidate, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", usagef("there is no file %q in the vault; write its name from the vault's folder, such as Notes/today.md", name)
}

// originLine is where a file comes from, as machines read it.
type originLine struct {
	Type string `json:"type"` // "origin"
	origin.Finding
}

// showOrigin prints where a file of the vault comes from.
func (g *globals) showOrigin(ctx context.Context, a *app, j *journal.Journal, name string) error {
	var store origin.Store
	if j != nil {
		store = j.Origins
	}
	f, err := a.book(store).Explain(ctx, name)
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
