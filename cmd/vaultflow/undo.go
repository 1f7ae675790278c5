package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
)

func newUndo(g *globals) *cobra.Command {
	var dry, yes bool
	cmd := &cobra.Command{
		Use: "undo RUN", Short: "Undo the file changes of a run; an undo can be undone too", Args: args(cobra.ExactArgs(1)),
		Long: "Undo the file changes of a run: files that it created are removed; files that it changed, moved or deleted are restored.\n" +
			"Files edited since are kept and reported (exit code 4). Runs that its tools started are undone too, and its pending inputs\n" +
			"are pending again. An undo is a run of its own, which you can undo.",
		RunE: func(cmd *cobra.Command, ids []string) error {
			a, err := g.open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			ask := func(open int) (bool, error) {
				if yes || g.json || !isTerminal(cmd.InOrStdin()) {
					return true, nil
				}
				return confirm(untilDone{cmd.Context(), cmd.InOrStdin()}, g.err, open)
			}
			return undoRun(cmd.Context(), a, g, ids[0], dry, ask)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only show what would be undone")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return detachable(g, cmd)
}

// confirm asks a person at a terminal.
func confirm(in io.Reader, out io.Writer, open int) (bool, error) {
	return agrees(bufio.NewReader(in), out, fmt.Sprintf("undo %s? [y/N] ", words.Counted(open, "change")))
}

// undoRun shows the changes of a run, and undoes them unless this is a dry run or the user declines.
func undoRun(ctx context.Context, a *daemon.Workspace, g *globals, id string, dry bool, ask func(open int) (bool, error)) error {
	run, err := knownRun(ctx, a, id)
	if err != nil {
		return err
	}
	if refused := engine.CheckUndo(run); refused != nil {
		return exit(exitUsage, refused)
	}
	preview, err := a.PreviewUndo(ctx, run.ID)
	if err != nil {
		return err
	}
	open, kept, err := showUndo(g, preview)
	switch {
	case err != nil || dry:
		return err
	case preview.Nothing() && kept > 0:
		return exit(exitOmissions, fmt.Errorf("none of the changes of run %s can be undone: see above", run.ID))
	case preview.Nothing():
		fmt.Fprintf(g.err, "run %s has no changes left to undo\n", run.ID)
		return nil
	}
	if sure, err := ask(open); err != nil || !sure {
		return cmp.Or(err, exit(exitCancelled, nil))
	}
	return runNow(ctx, a, g, control.Order{Undo: run.ID}, func(ctx context.Context, w *daemon.Process) (string, error) { return w.Runs.Undo(ctx, run.ID) })
}

// showUndo prints a preview, and counts the changes that would be made and those that would not.
func showUndo(g *globals, p engine.UndoPreview) (open, kept int, err error) {
	for _, f := range p.Files {
		switch f.Fate {
		case engine.FateOpen:
			open++
		case engine.FateKept:
			kept++
		}
		if err := g.print(f, func(w io.Writer) {
			fmt.Fprint(w, undoText(f))
		}); err != nil {
			return open, kept, err
		}
	}
	if !g.json {
		for _, words := range engine.MemoryWords(p.Memories) {
			fmt.Fprintln(g.out, "then "+words)
		}
		return open, kept, nil
	}
	for _, m := range p.Memories {
		if err := g.print(m, nil); err != nil {
			return open, kept, err
		}
	}
	return open, kept, nil
}

// undoText is a way back for people: what would be done and its diff, or why nothing would be.
func undoText(f engine.UndoFile) string {
	c := f.Change
	switch f.Fate {
	case engine.FateKept:
		return fmt.Sprintf("keep %s: %s\n", visible.Name(c.Name), visible.Name(f.Reason))
	case engine.FateNothing:
		name := c.Name
		if c.To != "" {
			name = c.To
		}
		return fmt.Sprintf("%s is as it was before\n", visible.Name(name))
	}
	verb := map[string]string{
		engine.ChangeCreate: "bring back ", engine.ChangeDelete: "remove ", engine.ChangeWrite: "restore ", engine.ChangeMove: "move ",
	}[c.Kind]
	text := verb + c.Name
	if c.To != "" {
		text += " back to " + c.To
	}
	return visible.Name(text) + "\n" + f.Diff
}
