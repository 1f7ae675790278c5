package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/workflow"
)

func newCheck(g *globals) *cobra.Command {
	var fix, notes bool
	cmd := &cobra.Command{
		Use: "check [WORKFLOW...]", Short: "Find the mistakes in workflows: all, or the named ones",
		Long: "Report every mistake in all workflows or the named ones, and the next fire times of those with a schedule that are\n" +
			"enabled or named.\n\n" +
			"--fix first corrects mechanical mistakes: spelling, quotes, and notes written for AssistantMD. It never changes\n" +
			"prompt text, and prints each line that it changes.\n\n" +
			"--notes also reads the notes that the workflows reach, and reports references that a model would not get: missing, torn,\n" +
			"of a kind that cannot be shown, over a budget. Nothing is sent.",
		RunE: func(cmd *cobra.Command, names []string) error {
			a, err := g.open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			chosen := func(p *workflow.Plan) bool {
				return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return a.Workflows.Is(p, name) })
			}
			if fix {
				if err := fixWorkflows(cmd.Context(), a, g, chosen); err != nil {
					return err
				}
			}
			if err := checkWorkflows(cmd.Context(), a, g, names, chosen); err != nil || !notes {
				return err
			}
			return checkNotes(cmd.Context(), a, g, chosen)
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "correct mechanical mistakes in the notes first")
	cmd.Flags().BoolVar(&notes, "notes", false, "also report references in notes that a model would not get")
	return cmd
}

// checkNotes reports what models would not get of the notes that workflows reach.
func checkNotes(ctx context.Context, a *daemon.Workspace, g *globals, chosen func(*workflow.Plan) bool) error {
	all, err := a.Workflows.Checked(ctx)
	if err != nil {
		return err
	}
	previewer, done, err := a.Previewer(ctx)
	if err != nil {
		return err
	}
	defer done()
	c := &noteChecker{workspace: a, g: g, previewer: previewer, told: map[string]bool{}}
	for _, loaded := range all {
		if !loaded.Valid() || !chosen(loaded.Plan) {
			continue
		}
		if err := c.check(ctx, *loaded.Plan); err != nil {
			return err
		}
	}
	if c.found > 0 {
		return exit(exitOmissions, fmt.Errorf("models would get less than is written: %s", words.Counted(c.found, "omission")))
	}
	return nil
}

// check prints the diagnostics of the workflows and fails when one of them is an error.
func checkWorkflows(ctx context.Context, a *daemon.Workspace, g *globals, names []string, chosen func(*workflow.Plan) bool) error {
	all, err := a.Workflows.Checked(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(l workflow.Loaded) bool { return a.Workflows.Is(l.Plan, name) }) {
			return a.Workflows.Unknown(name, all)
		}
	}
	failed, count := 0, 0
	for _, loaded := range all {
		if !chosen(loaded.Plan) {
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
			continue
		}
		if err := printOtherPrompts(ctx, a, g, loaded.Plan); err != nil {
			return err
		}
		if loaded.Plan.Meta.Enabled || len(names) > 0 {
			if err := printNext(a, g, loaded.Plan); err != nil {
				return err
			}
		}
	}
	if len(names) == 0 {
		for _, old := range workflow.FindAbroad(a.Vault.FS(), a.Settings.Vault.WorkflowsDir) {
			if err := g.print(old.Diagnostic(), func(w io.Writer) { fmt.Fprintln(w, old.Diagnostic()) }); err != nil {
				return err
			}
		}
	}
	warnOfAliases(ctx, a, g, all)
	if failed > 0 {
		return exit(exitInvalid, fmt.Errorf("%d of %s cannot run", failed, words.Counted(count, "workflow")))
	}
	if !g.json {
		fmt.Fprintf(g.err, "%s, no errors\n", words.Counted(count, "workflow"))
	}
	return nil
}

// printOtherPrompts prints how many parts of documents were done with another prompt than the workflow has now. Reading the documents
// needs trust; what cannot be read now is reported by preview and by the run.
func printOtherPrompts(ctx context.Context, a *daemon.Workspace, g *globals, p *workflow.Plan) error {
	divides := func(s workflow.Step) bool { return s.ForEach != nil && s.ForEach.Parts != "" }
	if !slices.ContainsFunc(p.Steps, divides) || a.Trust.MayPreview(p) != nil {
		return nil
	}
	previewer, done, err := a.Previewer(ctx)
	if err != nil {
		return err
	}
	defer done()
	found, err := previewer.OtherPrompts(ctx, *p, time.Now().In(a.Zone))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil //nolint:nilerr // the documents of this workflow cannot be read now
	}
	for _, d := range found {
		d.File = p.File
		if err := g.print(d, func(w io.Writer) { fmt.Fprintln(w, d) }); err != nil {
			return err
		}
	}
	return nil
}

// warnOfAliases warns about settings of models that have no effect, and about models that are retired.
func warnOfAliases(ctx context.Context, a *daemon.Workspace, g *globals, all []workflow.Loaded) {
	for _, alias := range a.Settings.AliasNames() {
		model, _ := a.Models.Model(ctx, alias) // an unreachable model is reported elsewhere
		for _, line := range model.Warnings() {
			fmt.Fprintln(g.err, "warning: "+line)
		}
	}
	for _, alias := range a.Models.Retiring(all) {
		fmt.Fprintf(g.err, "warning: alias %s: %s\n", alias, a.Models.Retirement(alias).Text(time.Now()))
	}
}

// fireTimes is how many of the next fire times check prints for a schedule.
const fireTimes = 5

// printNext prints when a workflow with a schedule fires next, or would fire if it were enabled.
func printNext(a *daemon.Workspace, g *globals, p *workflow.Plan) error {
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
	line.Next = trigger.Next(&enabled, time.Now(), fireTimes, a.Zone)
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
