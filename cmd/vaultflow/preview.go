package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine/activity"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/workflow"
)

func newPreview(g *globals) *cobra.Command {
	var steps, inputs []string
	var model, page string
	cmd := &cobra.Command{
		Use:   "preview [WORKFLOW]",
		Short: "Print the receipt and the exact prompt that a run would send; no network, no side effect",
		Long: "Print for each step the receipt (every chunk and reference with its fate) and the exact prompt.\n" +
			"With -i any note or file: vaultflow preview -i 'Daily/2026-11-16.md (images=auto)'",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			if (len(names) == 0) == (len(inputs) == 0) {
				return usagef("name a workflow, or inputs with -i")
			}
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			var plan *workflow.Plan
			if len(inputs) > 0 {
				plan, err = inputPlan(inputs)
			} else {
				plan, err = a.workflow(names[0])
			}
			if err != nil {
				return err
			}
			return a.preview(cmd.Context(), g, plan, previewOptions{steps: steps, model: model, page: page})
		},
	}
	cmd.Flags().StringArrayVar(&steps, "step", nil, "only this step (repeatable)")
	cmd.Flags().StringArrayVarP(&inputs, "input", "i", nil, "an input as after @input, instead of a workflow (repeatable)")
	cmd.Flags().StringVar(&model, "model", "", "preview for this model alias")
	cmd.Flags().StringVar(&page, "html", "", "write a page with the text and thumbnails to this file instead")
	return cmd
}

// previewOptions are the flags of preview.
type previewOptions struct {
	steps []string
	model string // alias for every step
	page  string // file for the page; empty: print
}

// inputPlan is a workflow of one step with the inputs of the command line.
func inputPlan(inputs []string) (*workflow.Plan, error) {
	step := workflow.Step{Name: "preview"}
	for i, text := range inputs {
		input, diagnostics := directives.ParseInput(text)
		if directives.HasErrors(diagnostics) {
			return nil, exit(exitUsage, diagnostics[0])
		}
		input.Index = i
		step.Inputs = append(step.Inputs, input)
	}
	return &workflow.Plan{Name: "preview", Meta: workflow.Meta{WeekStart: "monday"}, Steps: []workflow.Step{step}}, nil
}

func (a *app) preview(ctx context.Context, g *globals, plan *workflow.Plan, o previewOptions) error {
	if o.model != "" {
		plan.Meta.Model = o.model
		for i := range plan.Steps {
			plan.Steps[i].Model = nil
		}
	}
	if err := knownSteps(plan, o.steps); err != nil {
		return err
	}
	flow, closeFlow, err := a.previewer(ctx)
	if err != nil {
		return err
	}
	defer closeFlow()
	title := plan.Name
	if plan.File == "" {
		title = "the inputs"
	}
	page := htmlPreview{title: title, pictures: flow.Thumbnails(thumbnailSide)}
	for i, step := range plan.Steps {
		if !chosen(step.Name, o.steps) {
			continue
		}
		previewed, err := flow.Preview(ctx, *plan, i, time.Now().In(a.zone))
		if err != nil {
			return exit(failureExit(err), err)
		}
		if previewed.Model != "" {
			if _, err := a.models.Model(ctx, previewed.Model); err != nil {
				fmt.Fprintf(g.err, "step %s could not run now: %v\n", step.Name, err)
			}
		}
		if o.page != "" {
			page.add(ctx, step.Name, previewed)
		} else if err := g.printPreview(step.Name, previewed); err != nil {
			return err
		}
	}
	if o.page == "" {
		return nil
	}
	if err := page.write(o.page); err != nil {
		return err
	}
	fmt.Fprintf(g.err, "wrote %s\n", o.page)
	return nil
}

// previewNotes say in words what else the run would do with the step.
func previewNotes(activity.Previewed) []string { return nil }

// promptLine is what a step would send, as machines read it.
type promptLine struct {
	Type    string   `json:"type"` // "prompt", or "preview" for a step without a model
	Step    string   `json:"step"`
	Model   string   `json:"model"`
	Text    string   `json:"text,omitempty"`
	Missing []string `json:"missing,omitempty"` // required inputs that were not found: the step would be skipped
}

func (g *globals) printPreview(step string, p activity.Previewed) error {
	if p.Prompt == nil {
		return g.print(promptLine{Type: "preview", Step: step, Model: "none"}, func(w io.Writer) { fmt.Fprintf(w, "step %s: no model, the inputs go to the outputs\n", step) })
	}
	if g.json {
		if err := g.print(p.Prompt.Receipt, nil); err != nil {
			return err
		}
		return g.print(promptLine{Type: "prompt", Step: step, Model: p.Model, Text: prompt.Text(p.Prompt), Missing: p.Missing}, nil)
	}
	if len(p.Missing) > 0 {
		fmt.Fprintf(g.out, "step %s would be skipped: nothing found for %s\n", step, strings.Join(p.Missing, ", "))
	}
	for _, warning := range p.Warnings {
		fmt.Fprintln(g.out, "warning:", warning)
	}
	writeReceipt(g.out, p.Prompt.Receipt)
	_, err := fmt.Fprintf(g.out, "\n%s\n", strings.TrimRight(prompt.Text(p.Prompt), "\n"))
	return err
}

// knownSteps refuses names of steps that the workflow has not.
func knownSteps(plan *workflow.Plan, steps []string) error {
	for _, name := range steps {
		if _, ok := plan.Step(name); ok {
			continue
		}
		known := make([]string, len(plan.Steps))
		for i, s := range plan.Steps {
			known[i] = s.Name
		}
		return usagef("%s has no step %q; there are: %s", plan.Name, name, strings.Join(known, ", "))
	}
	return nil
}

func chosen(step string, steps []string) bool {
	if len(steps) == 0 {
		return true
	}
	for _, s := range steps {
		if strings.EqualFold(s, step) {
			return true
		}
	}
	return false
}
