package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow"
	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/settings/vaultid"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

func newInit(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "init [DIR]", Short: "Set up a vault: folders, settings.yaml, an example workflow and note. Never overwrites",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			dir := g.vault
			if len(dirs) > 0 {
				dir = dirs[0]
			}
			if dir == "" {
				dir = "."
			}
			return makeVault(cmd.Context(), g, dir)
		},
	}
}

func makeVault(ctx context.Context, g *globals, dir string) error {
	if _, err := settings.StateDir(dir, g.stateDir, os.Environ()); err != nil { // refused before anything is made
		return exit(exitInvalid, err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usagef("%s is a file; `vaultflow init FOLDER` makes a folder a vault", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the vault: %w", err)
	}
	st, err := stateOfNew(ctx, g, dir)
	if err != nil {
		return err
	}
	foreign := bringsOrders(dir) // before anything of ours is there
	v, err := disk.Open(dir, disk.Options{})
	if err != nil {
		return err
	}
	defer v.Close()
	for _, folder := range []string{"Import", "Imported", "Workflows"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return fmt.Errorf("make %s: %w", folder, err)
		}
	}
	if err := createFile(ctx, g, v, "settings.yaml", []byte(settings.Starter())); err != nil {
		return err
	}
	err = fs.WalkDir(vaultflow.Start, "examples/start", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := vaultflow.Start.ReadFile(path)
		if err != nil {
			return err
		}
		return createFile(ctx, g, v, strings.TrimPrefix(path, "examples/start/"), data)
	})
	if err != nil {
		return err
	}
	if err := trustNew(g, dir, st.Dir, foreign); err != nil {
		return err
	}
	made := st.Vault.ID == ""
	unwritten, err := st.Settle(ctx, vault.NewFiles(v, policy.Gate{}, policy.ByIdentity), time.Now())
	if err = errors.Join(unwritten, err); err != nil {
		return err
	}
	if err := printFile(g, policy.IdentityFile, made); err != nil {
		return err
	}
	fmt.Fprintf(g.err, "next: vaultflow preview Welcome --vault %[1]s, then vaultflow run Welcome --vault %[1]s, then vaultflow serve --vault %[1]s\n", dir)
	return nil
}

// stateOfNew finds the state directory of a vault that is being made. In an empty folder nothing is left of a vault that was at its
// place before, and a history of its own begins.
func stateOfNew(ctx context.Context, g *globals, dir string) (vaultid.State, error) {
	st, err := statedir.Find(dir, g.stateDir)
	if err != nil {
		return st, err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 && st.Standing == vaultid.Replaced {
		return statedir.StartOver(ctx, st)
	}
	if err := st.Usable(); err != nil {
		return st, exit(exitRefused, err)
	}
	return st, nil
}

// bringsOrders reports whether a folder holds what vaultflow would obey: settings, keys or workflows. Somebody else may have
// written them.
func bringsOrders(dir string) bool {
	for _, name := range []string{settings.FileName, ".env"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	found, err := os.ReadDir(filepath.Join(dir, "Workflows"))
	return err == nil && len(found) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// trustNew makes a vault one's own that brought no orders of its own. Nobody is asked about any other here.
func trustNew(g *globals, dir, stateDir string, foreign bool) error {
	store, err := trust.Open(stateDir, dir)
	if err != nil {
		return err
	}
	now, err := store.Read()
	switch {
	case err != nil:
		return exit(exitRefused, err)
	case now.Known():
		return nil
	case foreign:
		earlier, err := journal.Earlier(context.Background(), stateDir)
		if err == nil && earlier && !store.Exists() {
			return nil // it is adopted when it is used next
		}
		fmt.Fprintf(g.err, "this folder brought settings or workflows of its own: `vaultflow trust --vault %s` shows what they ask for, and asks you\n", dir)
		return nil
	}
	return store.Change(func(s *trust.State) { s.Decide(trust.Own, time.Now()) })
}

// madeFile is a file as `init` prints it.
type madeFile struct {
	Type  string `json:"type"` // "file"
	Name  string `json:"name"`
	State string `json:"state"` // made or kept
}

// createFile writes a file unless it exists, and prints which.
func createFile(ctx context.Context, g *globals, v *disk.Vault, name string, data []byte) error {
	if _, err := fs.Stat(v.FS(), name); err == nil {
		return printFile(g, name, false)
	}
	err := vault.NewFiles(v, policy.Gate{}, policy.ByInit).Write(ctx, name, data, "")
	if err != nil && !errors.Is(err, vault.ErrConflict) {
		return err
	}
	return printFile(g, name, err == nil)
}

// printFile reports that a file was made, or kept as it is.
func printFile(g *globals, name string, made bool) error {
	line := madeFile{Type: "file", Name: name, State: "kept"}
	if made {
		line.State = "made"
	}
	return g.print(line, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", line.State, line.Name) })
}
