package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// streams are where results (out) and everything else (err) go.
type streams struct{ out, err io.Writer }

// globals are the flags of every command.
type globals struct {
	*streams
	vault     string
	stateDir  string
	settings  string
	json      bool
	verbose   bool
	detach    bool              // see [detachable]
	daemon    bool              // serve: logs run for months
	changes   bool              // the command changes the state, see [changing]
	overrides map[string]string // settings given as flags, by path
}

// newRoot builds the command tree. A command without a subcommand of that name fails with the usage code.
func newRoot(s *streams) *cobra.Command {
	g := &globals{streams: s}
	s.out, s.err = &screen{to: s.out}, &screen{to: s.err}
	root := &cobra.Command{
		Use:   "vaultflow",
		Short: "Workflows for Markdown vaults",
		Long: "vaultflow imports files into a vault of Markdown notes and runs workflows written as notes.\n\n" +
			exitHelp(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var known []string
			for _, c := range cmd.Commands() {
				known = append(known, c.Name())
			}
			if near := diag.Nearest(args[0], known); near != "" {
				return usagef("unknown command %q; did you mean `vaultflow %s`?", args[0], near)
			}
			return usagef("unknown command %q; `vaultflow help` lists them", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(*cobra.Command, []string) {
			if g.json {
				s.out = plain(s.out)
			}
		},
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see `%s --help`", flagError(err), cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.StringVar(&g.vault, "vault", os.Getenv("VAULTFLOW_VAULT"), "vault folder (default: the nearest folder above with .obsidian or settings.yaml)")
	flags.StringVar(&g.stateDir, "state-dir", os.Getenv("VAULTFLOW_STATE_DIR"), "folder for runs and blobs (default: $XDG_STATE_HOME/vaultflow/<vault>)")
	flags.StringVar(&g.settings, "settings", os.Getenv("VAULTFLOW_SETTINGS"), "settings file (default: settings.yaml in the vault)")
	flags.BoolVar(&g.json, "json", false, "print one JSON object per line")
	flags.BoolVarP(&g.verbose, "verbose", "v", false, "log more")
	root.AddCommand(changing(g, newServe(g), newRun(g), newImport(g), newRetry(g), newCancel(g), newDismiss(g), newUndo(g), newUnpause(g), newApprove(g), newTrust(g))...)
	root.AddCommand(
		newInit(g), newPreview(g), newCheck(g), newList(g), newRuns(g), newShow(g), newStatus(g), newSlots(g), newApprovals(g), newToken(g), newModels(g), newSchema(g),
		newDoctor(g), newConfig(g), newMove(g), newBackup(g), newRestore(g), newVersion(g),
	)
	return root
}

// changing marks commands that change the state of a vault: they are refused while the state of a moved vault can only be read.
func changing(g *globals, commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		c.PreRun = func(*cobra.Command, []string) { g.changes = true }
	}
	return commands
}

// print writes one line of JSON with --json, else what text prints.
func (g *globals) print(line any, text func(w io.Writer)) error {
	if !g.json {
		out := bufio.NewWriter(g.out) // a table writes each cell on its own
		text(out)
		return out.Flush()
	}
	data, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encode a line: %w", err)
	}
	_, err = fmt.Fprintf(g.out, "%s\n", data)
	return err
}

func newVersion(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			line := struct {
				Type    string `json:"type"`
				Version string `json:"version"`
			}{"version", version}
			return g.print(line, func(w io.Writer) { fmt.Fprintln(w, "vaultflow", version) })
		},
	}
}
