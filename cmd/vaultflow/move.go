package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

func newMove(g *globals) *cobra.Command {
	var fresh bool
	cmd := &cobra.Command{
		Use: "move", Short: "Continue the history of a vault that was moved or renamed; --new: start another one",
		Long: "A vault has an id in .vaultflow/vault.json, and its state directory records the id and the vault's place. When the vault is found\n" +
			"at another place, its history can only be read until you run this command there. What the vault is trusted with follows only if\n" +
			"the folder is the same one, renamed; else `vaultflow trust` asks again.\n\n" +
			"With --new, the vault gets another id and an empty history: for a copy whose original is still in use.",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := g.vaultDir()
			if err != nil {
				return err
			}
			st, err := statedir.Find(dir, g.stateDir)
			if err != nil {
				return err
			}
			if fresh {
				if st, err = statedir.StartOver(cmd.Context(), st); err != nil {
					return exit(failureExit(err), err)
				}
				return printMoved(g, st, "", false)
			}
			return takeOver(cmd.Context(), g, st)
		},
	}
	cmd.Flags().BoolVar(&fresh, "new", false, "start another history, under a new id")
	return cmd
}

// takeOver continues a moved vault's history at its present place.
func takeOver(ctx context.Context, g *globals, st vaultid.State) error {
	switch st.Standing {
	case vaultid.New:
		return exit(exitFailed, fmt.Errorf("no state directory on this computer records this vault; %s is used from the first run on", st.Dir))
	case vaultid.Own:
		return printMoved(g, st, st.Record.Path, true)
	}
	from := st.Record.Path
	st, trusted, err := statedir.TakeOver(ctx, st)
	if err != nil {
		return err
	}
	return printMoved(g, st, from, trusted)
}

// printMoved reports where the history of a vault is. from is the former place; it is empty for a history that begins.
func printMoved(g *globals, st vaultid.State, from string, trusted bool) error {
	line := struct {
		Type  string `json:"type"` // "move"
		Vault string `json:"vault"`
		ID    string `json:"id"`
		State string `json:"state"`
		From  string `json:"from,omitempty"`
	}{"move", st.Vault.Path, st.Vault.ID, st.Dir, from}
	return g.print(line, func(w io.Writer) {
		switch from {
		case "":
			fmt.Fprintf(w, "%s has the id %s now, and a history of its own in %s\n", line.Vault, line.ID, line.State)
		case line.Vault:
			fmt.Fprintf(w, "%s is where its state directory %s expects it\n", line.Vault, line.State)
		default:
			fmt.Fprintf(w, "%s continues the history of %s in %s\n", line.Vault, from, line.State)
		}
		if !trusted {
			fmt.Fprintln(w, "what it was trusted with does not follow: `vaultflow trust` asks you")
		}
	})
}

// confirmMove asks a user at a terminal whether a moved vault continues its history. Without a terminal, the command is refused where it
// opens the vault.
func confirmMove(ctx context.Context, g *globals, dir string) error {
	st, err := statedir.Find(dir, g.stateDir)
	if err != nil || st.Standing != vaultid.Moved || g.json || !isTerminal(os.Stdin) {
		return err
	}
	fmt.Fprintf(g.err, "This vault was at %s before.\n", st.Record.Path)
	sure, err := agrees(bufio.NewReader(untilDone{ctx, os.Stdin}), g.err, "Continue its history here? [y/N] ")
	if err != nil {
		return err
	}
	if !sure {
		return exit(exitRefused, errors.New("its history can only be read; `vaultflow move --new` starts another one"))
	}
	return takeOver(ctx, g, st)
}
