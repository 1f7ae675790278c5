package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/settings"
)

// rank orders severities, the worst last.
func rank(s diag.Severity) int {
	if s == diag.SeverityError {
		return 1
	}
	return 0
}

// mostWaiting is how many values that wait are named one by one whenever a command starts.
const mostWaiting = 3

// warnings prints what is to be said about the settings, of one of several vaults with its name. Many values that wait make one line: `vaultflow trust`
// lists them.
func (g *globals) warnings(s *settings.Settings, vault string) {
	if g.json {
		return
	}
	if vault != "" {
		vault += ": "
	}
	many := len(s.Waiting) > mostWaiting
	for _, d := range s.Diagnostics {
		if d.Severity != diag.SeverityNote && !(many && d.Code == settings.CodeWaits) {
			fmt.Fprintf(g.err, "%s%s\n", vault, d)
		}
	}
	if many {
		fmt.Fprint(g.err, vault)
		g.manyWait(len(s.Waiting))
	}
}

func (g *globals) manyWait(n int) {
	fmt.Fprintf(g.err, "%d values in the files of this vault have no effect until you allow them; `vaultflow trust` shows them and asks\n", n)
}

func newConfig(g *globals) *cobra.Command {
	var example bool
	cmd := &cobra.Command{
		Use: "config", Short: "Print the settings in force, or a commented example of all of them", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if example {
				_, err := io.WriteString(g.out, settings.Example())
				return err
			}
			a, err := g.open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			return printConfig(a, g)
		},
	}
	cmd.Flags().BoolVar(&example, "example", false, "print settings.example.yaml")
	return cmd
}

// printConfig prints every setting with keys hidden and where it comes from, and what waits for a yes; with --json one object
// for each.
func printConfig(a *daemon.Workspace, g *globals) error {
	if g.json {
		for _, v := range a.Settings.Values() {
			line := struct {
				Type string `json:"type"`
				settings.Value
			}{"setting", v}
			if err := g.print(line, nil); err != nil {
				return err
			}
		}
		for _, w := range a.Settings.Waiting {
			line := struct {
				Type string `json:"type"`
				settings.Waiting
			}{"waiting", w}
			if err := g.print(line, nil); err != nil {
				return err
			}
		}
		return nil
	}
	file := a.Settings.File
	switch {
	case file == "" && a.Settings.UserFile == "":
		file = "none, these are the defaults"
	case file == "":
		file = "none"
	}
	fmt.Fprintf(g.out, "# settings file: %s\n", file)
	if a.Settings.UserFile != "" {
		fmt.Fprintf(g.out, "# your settings: %s\n", a.Settings.UserFile)
	}
	fmt.Fprintf(g.out, "# state: %s\n", a.StateDir)
	for _, w := range a.Settings.Waiting {
		fmt.Fprintf(g.out, "# has no effect until you allow it (vaultflow trust): %s: %s\n", w.Key, w.Says)
	}
	data, err := a.Settings.Describe()
	if err != nil {
		return fmt.Errorf("encode the settings: %w", err)
	}
	_, err = g.out.Write(data)
	return err
}
