package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/trust"
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
	input := settings.Input{
		File: g.settings, Vault: a.dir, User: settings.UserFile(environ), StateDir: a.stateDir, Environ: environ, Overrides: g.overrides,
	}
	a.loaded = rememberFiles(input)
	var err error
	if a.trust, err = openTrust(context.Background(), a.stateDir, a.dir, func() ([]trust.Ask, error) { return asked(input) }); err != nil {
		return err
	}
	input.Grants = a.trust.grants
	a.settings, err = settings.Load(input)
	var faults *settings.Error
	if errors.As(err, &faults) {
		list := slices.Clone(faults.Diagnostics) // what must be mended comes last, where a person reads
		slices.SortStableFunc(list, func(a, b settings.Diagnostic) int {
			return cmp.Compare(rank(a.Severity), rank(b.Severity))
		})
		for _, d := range list {
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
	g.warnings(a.settings)
	a.trust.settings, a.trust.asks, a.trust.granted = a.settings, asksOf(a.settings.Waiting), asksOf(a.settings.Granted)
	return a.trust.narrow(a.settings, g)
}

// rank orders severities, the worst last.
func rank(s settings.Severity) int {
	if s == settings.SeverityError {
		return 1
	}
	return 0
}

// mostWaiting is how many values that wait are named one by one whenever a command starts.
const mostWaiting = 3

// warnings prints what is to be said about the settings. Many values that wait make one line: `vaultflow trust` lists them.
func (g *globals) warnings(s *settings.Settings) {
	if g.json {
		return
	}
	many := len(s.Waiting) > mostWaiting
	for _, d := range s.Diagnostics {
		if d.Severity != settings.SeverityNote && !(many && d.Code == settings.CodeWaits) {
			fmt.Fprintln(g.err, d)
		}
	}
	if many {
		fmt.Fprintf(g.err, "%d values in the files of this vault have no effect until you allow them; `vaultflow trust` shows them and asks\n", len(s.Waiting))
	}
}

// asked are the values of the vault's files that wait while nothing is granted, with those that come to light when others
// are: a link to a file of settings hides what the file says.
func asked(in settings.Input) ([]trust.Ask, error) {
	in.Grants = func(settings.Waiting) bool { return true }
	if s, err := settings.Load(in); err == nil {
		return asksOf(s.Granted), nil
	}
	in.Grants = nil
	s, err := settings.Load(in)
	if err != nil {
		return nil, err
	}
	return asksOf(s.Waiting), nil
}

func asksOf(list []settings.Waiting) []trust.Ask {
	asks := make([]trust.Ask, len(list))
	for i, w := range list {
		asks[i] = trust.Ask{Key: w.Key, Digest: w.Digest, Says: w.Says, Value: w.Value}
	}
	return asks
}

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

// printConfig prints every setting with keys hidden and where it comes from, and what waits for a yes; with --json one object
// for each.
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
		for _, w := range a.settings.Waiting {
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
	file := a.settings.File
	switch {
	case file == "" && a.settings.UserFile == "":
		file = "none, these are the defaults"
	case file == "":
		file = "none"
	}
	fmt.Fprintf(g.out, "# settings file: %s\n", file)
	if a.settings.UserFile != "" {
		fmt.Fprintf(g.out, "# your settings: %s\n", a.settings.UserFile)
	}
	fmt.Fprintf(g.out, "# state: %s\n", a.stateDir)
	for _, w := range a.settings.Waiting {
		fmt.Fprintf(g.out, "# has no effect until you allow it (vaultflow trust): %s: %s\n", w.Key, w.Says)
	}
	data, err := a.settings.Describe()
	if err != nil {
		return fmt.Errorf("encode the settings: %w", err)
	}
	_, err = g.out.Write(data)
	return err
}
