package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/workflow"
)

func newCheck(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "check [WORKFLOW...]", Short: "Report every mistake of the workflows, or of those named",
		RunE: func(cmd *cobra.Command, names []string) error {
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			return a.check(g, names)
		},
	}
}

// check prints the diagnostics of the workflows and fails when one of them is an error.
func (a *app) check(g *globals, names []string) error {
	all, err := a.workflows()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(l workflow.Loaded) bool { return sameName(l.Plan.Name, name) }) {
			return a.unknownWorkflow(name, all)
		}
	}
	failed, count := 0, 0
	for _, loaded := range all {
		if len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return sameName(loaded.Plan.Name, n) }) {
			continue
		}
		count++
		for _, d := range loaded.Diagnostics {
			if err := g.print(d, func(w io.Writer) { fmt.Fprintln(w, d) }); err != nil {
				return err
			}
		}
		if !loaded.Valid() {
			failed++
		}
	}
	if failed > 0 {
		return exit(exitInvalid, fmt.Errorf("%d of %d workflows cannot run", failed, count))
	}
	if !g.json {
		fmt.Fprintf(g.err, "%d workflows, no errors\n", count)
	}
	return nil
}

// workflows loads every workflow of the vault with all its diagnostics.
func (a *app) workflows() ([]workflow.Loaded, error) {
	all, err := workflow.Load(a.vault.FS(), a.settings.Vault.WorkflowsDir)
	if err != nil {
		return nil, fmt.Errorf("list workflows: %w", err)
	}
	plans := make([]*workflow.Plan, len(all))
	for i := range all {
		plans[i] = all[i].Plan
		all[i].Diagnostics = append(all[i].Diagnostics, workflow.Check(all[i].Plan, a.world())...)
	}
	for _, d := range workflow.Loops(plans) {
		i := slices.IndexFunc(all, func(l workflow.Loaded) bool { return l.Plan.File == d.File })
		if i >= 0 {
			all[i].Diagnostics = append(all[i].Diagnostics, d)
		}
	}
	for i := range all {
		all[i].Diagnostics = directives.Sort(all[i].Diagnostics)
	}
	return all, nil
}

// workflow finds one workflow that may run, by name. Names are compared without case and `.md`.
func (a *app) workflow(name string) (*workflow.Plan, error) {
	all, err := a.workflows()
	if err != nil {
		return nil, err
	}
	for _, loaded := range all {
		if !sameName(loaded.Plan.Name, name) {
			continue
		}
		if loaded.Valid() {
			return loaded.Plan, nil
		}
		lines := make([]string, len(loaded.Diagnostics)) // as text: each line has its own hint
		for i, d := range loaded.Diagnostics {
			lines[i] = d.String()
		}
		return nil, exit(exitInvalid, errors.New(strings.Join(lines, "\n")))
	}
	return nil, a.unknownWorkflow(name, all)
}

func (a *app) unknownWorkflow(name string, all []workflow.Loaded) error {
	known := make([]string, len(all))
	for i, l := range all {
		known[i] = l.Plan.Name
	}
	message := fmt.Sprintf("no workflow %q below %s", name, a.settings.Vault.WorkflowsDir)
	if near := directives.Nearest(name, known); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	} else if len(known) > 0 {
		message += "; there are: " + strings.Join(known, ", ")
	}
	return exit(exitUsage, errors.New(message))
}

func sameName(a, b string) bool { return strings.EqualFold(a, strings.TrimSuffix(b, ".md")) }
