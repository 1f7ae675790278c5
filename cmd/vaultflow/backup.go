package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/daemon/backup"
	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

func newBackup(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "Write the vault's history into a file, also while serve works",
		Long: "Write the state of the vault (runs, contents, undo, costs, pending marks, approvals, trust) into one file that only you can read.\n" +
			"serve may work meanwhile. Notes, keys in .env files, and who may sign in at the dashboard are not part of it.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			dir, err := g.vaultDir()
			if err != nil {
				return err
			}
			st, err := statedir.Open(dir, g.stateDir, false)
			if err != nil {
				return err
			}
			w, err := backup.Write(cmd.Context(), st, names[0], version)
			if err != nil {
				return err
			}
			line := struct {
				Type    string   `json:"type"` // "backup"
				File    string   `json:"file"`
				Size    int64    `json:"size"`
				Blobs   int      `json:"blobs"`
				Damaged []string `json:"damaged,omitempty"`
			}{"backup", w.File, w.Size, w.Blobs, w.Damaged}
			if err := g.print(line, func(out io.Writer) {
				fmt.Fprintf(out, "%s: %s, with %s\n", w.File, content.FormatSize(w.Size), words.Counted(w.Blobs, "blob"))
			}); err != nil || len(w.Damaged) == 0 {
				return err
			}
			return exit(exitOmissions, fmt.Errorf("%s left out, whose content has changed on disk", words.Counted(len(w.Damaged), "blob")))
		},
	}
}

func newRestore(g *globals) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Restore the vault's history from a backup",
		Long: "Restore what `vaultflow backup` wrote, for the same vault, also at another place. Restore only files that you wrote yourself.\n" +
			"What happened after the backup is not known then: a run that was unfinished in it continues, and can pay again. What the vault is\n" +
			"trusted with now, and who may sign in, stays as it is. A restore that was stopped changes nothing, or is finished by the next\n" +
			"command that works on the vault; without FILE, restore does only that.",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			dir, err := g.vaultDir()
			if err != nil {
				return err
			}
			st, err := statedir.Open(dir, g.stateDir, true)
			if err != nil {
				return err
			}
			var r backup.Restored
			err = statedir.Hold(cmd.Context(), st, func(st vaultid.State, finished *journal.Restored, files vaultid.Files) (err error) {
				switch {
				case len(names) == 1:
					r, err = backup.Restore(cmd.Context(), st, names[0], replace, files)
				case finished == nil:
					err = usagef("name the file that `vaultflow backup` wrote; there is no restore to finish")
				default:
					r = backup.Of(*finished, st.Dir)
				}
				return err
			})
			if errors.Is(err, context.Canceled) && errors.Is(journal.Readable(st.Dir), journal.ErrRestoring) {
				return exit(exitCancelled, errors.New("stopped after the restore had begun; `vaultflow restore`, or the next command that works on the vault, finishes it"))
			}
			if err != nil {
				return err
			}
			return printRestored(g, st.Dir, r)
		},
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "set the present history aside")
	return cmd
}

func printRestored(g *globals, dir string, r backup.Restored) error {
	line := struct {
		Type  string    `json:"type"` // "restore"
		State string    `json:"state"`
		Made  time.Time `json:"made"` // the backup
		Aside string    `json:"aside,omitempty"`
	}{"restore", dir, r.Made, r.Aside}
	return g.print(line, func(out io.Writer) {
		fmt.Fprintf(out, "%s holds the backup of %s\n", dir, r.Made.Local().Format("2006-01-02 15:04"))
		if r.Aside != "" {
			fmt.Fprintf(out, "the former history is in %s; remove the folder when you do not need it\n", r.Aside)
		}
		if r.More > 0 {
			fmt.Fprintf(out, "%s of earlier restores: %s\n", words.Counted(r.More, "folder"), filepath.Join(dir, "before-*"))
		}
	})
}
