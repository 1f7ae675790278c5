package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/settings"
)

// findState says where the vault's state is kept.
func (a *app) findState(g *globals) (err error) {
	if a.stateDir, err = settings.StateDir(a.dir, g.stateDir, os.Environ()); err != nil {
		return exit(exitInvalid, err)
	}
	return nil
}

// loadSettings reads the vault's settings and finds its state directory. Faults are printed, each on its line.
func (a *app) loadSettings(g *globals) error {
	environ := os.Environ()
	if err := a.findState(g); err != nil {
		return err
	}
	var err error
	a.settings, err = settings.Load(settings.Input{
		File: g.settings, Vault: a.dir, User: settings.UserFile(environ), StateDir: a.stateDir, Environ: environ, Overrides: g.overrides, Grants: g.grants,
	})
	var faults *settings.Error
	if errors.As(err, &faults) {
		for _, d := range faults.Diagnostics {
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
	if err != nil {
		return exit(exitInvalid, err)
	}
	for _, d := range a.settings.Diagnostics {
		if d.Severity != settings.SeverityNote && !g.json {
			fmt.Fprintln(g.err, d)
		}
	}
	return nil
}

// grants reports whether a value of the vault's settings was granted.
func (*globals) grants(settings.Waiting) bool { return true }

func newConfig(g *globals) *cobra.Command {
	var example bool
	cmd := &cobra.Command{
		Use: "config", Short: "Print the settings in force, or a commented example of all of them", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if example {
				_, err := io.WriteString(g.out, settings.Example())
				return err
			}
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			return a.printConfig(g)
		},
	}
	cmd.Flags().BoolVar(&example, "example", false, "print settings.example.yaml")
	return cmd
}

// printConfig prints every setting with keys hidden; with --json one object for each setting, with its origin.
func (a *app) printConfig(g *globals) error {
	if g.json {
		for _, v := range a.settings.Values() {
			line := struct {
				Type string `json:"type"`
				settings.Value
			}{"setting", v}
			if err := g.print(line, nil); err != nil {
				return err
			}
		}
		return nil
	}
	file := a.settings.File
	if file == "" {
		file = "none, these are the defaults"
	}
	fmt.Fprintf(g.out, "# settings file: %s\n# state: %s\n", file, a.stateDir)
	data, err := yaml.Marshal(a.settings)
	if err != nil {
		return fmt.Errorf("encode the settings: %w", err)
	}
	_, err = g.out.Write(data)
	return err
}
