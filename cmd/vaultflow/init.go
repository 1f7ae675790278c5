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

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/examples"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault"
)

func newInit(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "init [DIR]", Short: "Make a folder a vault: folders, settings.yaml, an example workflow and a note; never overwrites",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			dir := g.vault
			if len(dirs) > 0 {
				dir = dirs[0]
			}
			if dir == "" {
				dir = "."
			}
			return g.init(cmd.Context(), dir)
		},
	}
}

func (g *globals) init(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the vault: %w", err)
	}
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		return err
	}
	defer v.Close()
	for _, folder := range []string{"Import", "Imported", "Workflows"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return fmt.Errorf("make %s: %w", folder, err)
		}
	}
	if err := g.create(ctx, v, "settings.yaml", []byte(settings.Starter())); err != nil {
		return err
	}
	err = fs.WalkDir(examples.Start, "start", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := examples.Start.ReadFile(path)
		if err != nil {
			return err
		}
		return g.create(ctx, v, strings.TrimPrefix(path, "start/"), data)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(g.err, "next: vaultflow preview Welcome --vault %[1]s, then vaultflow run Welcome --vault %[1]s, then vaultflow serve --vault %[1]s\n", dir)
	return nil
}

// madeFile is a file as `init` prints it.
type madeFile struct {
	Type  string `json:"type"` // "file"
	Name  string `json:"name"`
	State string `json:"state"` // made or kept
}

// create writes a file that is not there yet and says what it did.
func (g *globals) create(ctx context.Context, v *vault.Vault, name string, data []byte) error {
	line := madeFile{Type: "file", Name: name, State: "made"}
	if _, err := fs.Stat(v.FS(), name); err == nil {
		line.State = "kept"
	} else if err := (gated{v, policy.Gate{}, policy.ByInit}).Write(ctx, name, data, ""); errors.Is(err, vault.ErrConflict) {
		line.State = "kept"
	} else if err != nil {
		return err
	}
	return g.print(line, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", line.State, line.Name) })
}
