package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/workflow"
)

func newCheck(g *globals) *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use: "check [WORKFLOW...]", Short: "Report every mistake of the workflows, or of those named",
		Long: "check reports every mistake of the workflows, or of those named, and the next fire times of those that have\n" +
			"a schedule and are enabled or named.\n\n" +
			"With --fix it first mends what is mechanical: spellings, quotes, and notes in the dialect of AssistantMD. It\n" +
			"never changes prompt text, and prints each line that it changes.",
		RunE: func(cmd *cobra.Command, names []string) error {
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			chosen := func(name string) bool {
				return len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return sameName(name, n) })
			}
			if fix {
				if err := a.fix(cmd.Context(), g, chosen); err != nil {
					return err
				}
			}
			return a.check(cmd.Context(), g, names, chosen)
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "mend mechanical mistakes in the notes first")
	return cmd
}

// check prints the diagnostics of the workflows and fails when one of them is an error.
func (a *app) check(ctx context.Context, g *globals, names []string, chosen func(name string) bool) error {
	world := a.world()
	world.Can = a.can // a run may be given another model, so only check looks at what models can
	all, err := a.workflowsIn(world)
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
		if !chosen(loaded.Plan.Name) {
			continue
		}
		count++
		loaded.Diagnostics = directives.Sort(append(loaded.Diagnostics, workflow.Inspect(ctx, loaded.Plan, world)...))
		for _, d := range loaded.Diagnostics {
			if err := g.print(d, func(w io.Writer) { fmt.Fprintln(w, d) }); err != nil {
				return err
			}
		}
		if !loaded.Valid() {
			failed++
		} else if loaded.Plan.Meta.Enabled || len(names) > 0 {
			if err := a.printNext(g, loaded.Plan); err != nil {
				return err
			}
		}
	}
	if len(names) == 0 {
		for _, old := range workflow.FindAbroad(a.vault.FS(), a.settings.Vault.WorkflowsDir) {
			if err := g.print(old.Diagnostic(), func(w io.Writer) { fmt.Fprintln(w, old.Diagnostic()) }); err != nil {
				return err
			}
		}
	}
	a.warnOfAliases(ctx, g)
	if failed > 0 {
		return exit(exitInvalid, fmt.Errorf("%d of %d workflows cannot run", failed, count))
	}
	if !g.json {
		fmt.Fprintf(g.err, "%d workflows, no errors\n", count)
	}
	return nil
}

// warnOfAliases tells which settings of models do nothing.
func (a *app) warnOfAliases(ctx context.Context, g *globals) {
	for _, alias := range a.settings.AliasNames() {
		model, _ := a.models.Model(ctx, alias) // one that cannot be asked is told of elsewhere
		for _, line := range model.Warnings() {
			fmt.Fprintln(g.err, "warning: "+line)
		}
	}
}

// fireTimes is how many of the next fire times check prints for a schedule.
const fireTimes = 5

// printNext prints when a workflow with a schedule fires next, or would fire if it were enabled.
func (a *app) printNext(g *globals, p *workflow.Plan) error {
	if len(p.Meta.Schedules) == 0 {
		return nil
	}
	line := struct {
		Type     string      `json:"type"`
		Workflow string      `json:"workflow"`
		File     string      `json:"file"`
		Enabled  bool        `json:"enabled"`
		Next     []time.Time `json:"next"`
	}{Type: "fire_times", Workflow: p.Name, File: p.File, Enabled: p.Meta.Enabled}
	enabled := *p
	enabled.Meta.Enabled = true
	line.Next = trigger.Next(&enabled, time.Now(), fireTimes, a.zone)
	if len(line.Next) == 0 {
		return nil // a schedule that has passed, which is a diagnostic
	}
	return g.print(line, func(w io.Writer) {
		words := make([]string, len(line.Next))
		for i, t := range line.Next {
			words[i] = t.Format("Mon 2006-01-02 15:04 MST")
		}
		when := "fires next"
		if !p.Meta.Enabled {
			when = "would fire next, if enabled"
		}
		fmt.Fprintf(w, "%s: %s: %s\n", p.File, when, strings.Join(words, ", "))
	})
}

// workflows loads every workflow of the vault with all its diagnostics.
func (a *app) workflows() ([]workflow.Loaded, error) { return a.workflowsIn(a.world()) }

func (a *app) workflowsIn(world workflow.World) ([]workflow.Loaded, error) {
	all, err := workflow.Load(a.vault.FS(), a.settings.Vault.WorkflowsDir)
	if err != nil {
		return nil, fmt.Errorf("list workflows: %w", err)
	}
	plans := make([]*workflow.Plan, len(all))
	for i := range all {
		plans[i] = all[i].Plan
		all[i].Diagnostics = append(all[i].Diagnostics, workflow.Check(all[i].Plan, world)...)
	}
	for _, d := range workflow.Loops(plans, workflow.Folders{Import: a.settings.Vault.ImportDir, Imported: a.settings.Vault.ImportedDir}) {
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
	if near := directives.Nearest(name, known); near != "" && len(name) > 1 { // a letter is near to every other
		message += fmt.Sprintf("; did you mean %q?", near)
	} else if len(known) > 0 {
		message += "; there are: " + strings.Join(known, ", ")
	}
	return exit(exitUsage, errors.New(message))
}

func sameName(a, b string) bool { return strings.EqualFold(a, strings.TrimSuffix(b, ".md")) }
