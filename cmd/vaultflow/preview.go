package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/workflow"
)

func newPreview(g *globals) *cobra.Command {
	var steps, inputs []string
	var model, page string
	batch := 1
	cmd := &cobra.Command{
		Use:   "preview [WORKFLOW [FILE...]]",
		Short: "Show the exact prompt that a run would send, without sending it",
		Long: "Print the receipt (every chunk and reference, and what happens to it) and the exact prompt of each step. Nothing is sent.\n" +
			"FILE is what the run would be about, by its name in the vault.\n" +
			"-i previews any note or file: vaultflow preview -i 'Daily/2026-11-16.md (images=auto)'",
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, names []string) error {
			switch {
			case len(names) == 0 && len(inputs) == 0:
				return usagef("name a workflow, or an input with -i")
			case len(names) > 0 && len(inputs) > 0:
				return usagef("a workflow and -i exclude each other: name one of them")
			}
			a, err := g.open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			var plan *workflow.Plan
			if len(inputs) > 0 {
				plan, err = inputPlan(inputs)
			} else {
				plan, err = namedPlan(a, names)
			}
			if err != nil {
				return err
			}
			files, err := filesFor(g, a, plan, steps, names)
			if err != nil {
				return err
			}
			return previewPlan(cmd.Context(), a, g, plan, previewOptions{steps: steps, model: model, page: page, batch: batch, files: files})
		},
	}
	cmd.Flags().StringArrayVar(&steps, "step", nil, "only this step (repeatable)")
	cmd.Flags().StringArrayVarP(&inputs, "input", "i", nil, "preview this input, written as after @input, instead of a workflow (repeatable)")
	cmd.Flags().StringVar(&model, "model", "", "preview for this model alias")
	counted(cmd.Flags(), &batch, "batch", "", "the batch to show of a step with @for_each, from 1")
	cmd.Flags().StringVar(&page, "html", "", "write a page with the text and thumbnails to this file instead")
	return cmd
}

// previewOptions are the flags of preview.
type previewOptions struct {
	steps []string
	model string   // alias for every step
	page  string   // file for the page; empty: print
	batch int      // of a step with @for_each, from 1; 0 means 1
	files []string // that the run would be about
}

// inputPlan is a workflow of one step with the inputs of the command line.
func inputPlan(inputs []string) (*workflow.Plan, error) {
	step := workflow.Step{Name: "preview"}
	for i, text := range inputs {
		input, diagnostics := directives.ParseInput(text)
		if diag.HasErrors(diagnostics) {
			first := diagnostics[slices.IndexFunc(diagnostics, func(d diag.Diagnostic) bool { return d.Severity == diag.SeverityError })]
			return nil, usagef("-i %q: %s; %s", text, first.Message, first.Suggestion) // it has no place in a file
		}
		input.Index = i
		step.Inputs = append(step.Inputs, input)
	}
	return &workflow.Plan{Name: "preview", Meta: workflow.Meta{WeekStart: "monday"}, Steps: []workflow.Step{step}}, nil
}

func previewPlan(ctx context.Context, a *daemon.Workspace, g *globals, plan *workflow.Plan, o previewOptions) error {
	if o.model != "" {
		daemon.UseModel(plan, o.model)
	}
	if err := daemon.KnownSteps(plan, o.steps); err != nil {
		return err
	}
	if err := a.Trust.MayPreview(plan); err != nil {
		return exit(failureExit(err), err)
	}
	files, err := a.Workflows.Files(plan, o.steps, o.files)
	if err != nil {
		return err
	}
	previewer, done, err := a.Previewer(ctx)
	if err != nil {
		return err
	}
	defer done()
	title := plan.Name
	if plan.File == "" {
		title = "the inputs"
	}
	page := htmlPreview{title: title, pictures: previewer.Thumbnails(thumbnailSide)}
	for i, step := range plan.Steps {
		if !chosen(step.Name, o.steps) {
			continue
		}
		previewed, err := previewer.Preview(ctx, *plan, i, time.Now().In(a.Zone), max(o.batch, 1), files)
		if err != nil {
			return exit(failureExit(err), err)
		}
		if previewed.Model != "" {
			_, err := a.Models.Model(ctx, previewed.Model)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				fmt.Fprintf(g.err, "step %s could not run now: %v\n", step.Name, err)
			}
		}
		if o.page != "" {
			page.add(ctx, step.Name, previewed)
		} else if err := printPreview(g, step.Name, previewed); err != nil {
			return err
		}
		if plan.File == "" {
			continue // inputs of the command line are no step that will run
		}
		if err := previewer.Keep(previewed); err != nil {
			fmt.Fprintf(g.err, "a run will not be compared with this preview: %v\n", err)
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

// promptLine is what a step would send, as machines read it.
type promptLine struct {
	Type     string          `json:"type"` // "prompt", or "preview" for a step that would send nothing
	Step     string          `json:"step"`
	Model    string          `json:"model"`
	Text     string          `json:"text,omitempty"`
	Digest   string          `json:"digest,omitempty"`  // of all that would be sent; a run has the same one in `sent`, or lists the differences
	Missing  []string        `json:"missing,omitempty"` // required inputs that were not found: the step would be skipped
	Unmet    []string        `json:"unmet,omitempty"`   // required inputs that would not arrive: the step would be skipped
	Skip     string          `json:"skip,omitempty"`    // the @when that does not hold: the step would be skipped
	Items    int             `json:"items,omitempty"`   // of an @for_each
	Batches  int             `json:"batches,omitempty"`
	Batch    int             `json:"batch,omitempty"`       // the one that is shown
	Names    []string        `json:"batch_items,omitempty"` // its items
	Parts    []string        `json:"parts,omitempty"`       // of documents, all that would be done
	Done     int             `json:"parts_done,omitempty"`  // that are done already
	Other    int             `json:"parts_done_with_another_prompt,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"`
	Cache    string          `json:"cache,omitempty"` // hit or miss
	Tools    []string        `json:"tools,omitempty"`
	MaxUSD   float64         `json:"max_cost_usd,omitempty"` // the most that the first call should cost
	MaxTotal int64           `json:"max_total_tokens,omitempty"`
	Guessed  bool            `json:"cost_guessed,omitempty"` // at the dearest known price, since the model's own is not known
	Caps     []cost.CapState `json:"caps,omitempty"`
	Refused  string          `json:"refused,omitempty"`
	Waits    []string        `json:"waits,omitempty"` // with @approve prompt: why the prompt would wait for approval
	Fallback string          `json:"fallback,omitempty"`
	Writes   []string        `json:"writes,omitempty"` // how outputs would be merged with notes

	Media     []step.MediumPlace `json:"media,omitempty"`      // where each medium of the prompt goes
	ToolMedia []step.MediumPlace `json:"tool_media,omitempty"` // where media of tools go, by kind
}

func printPreview(g *globals, step string, p step.Previewed) error {
	line := promptLine{
		Type: "prompt", Step: step, Model: p.Model, Missing: p.Missing, Unmet: p.Unmet, Skip: p.Skip, Schema: p.Schema, Cache: p.Cache, Tools: p.Tools,
		MaxUSD: p.MaxUSD, MaxTotal: p.MaxTokens, Guessed: p.Guessed, Caps: p.Caps, Refused: p.Refused, Waits: p.Waits, Media: p.Media, ToolMedia: p.ToolMedia, Writes: p.Writes,
	}
	if line.Model == "" {
		line.Model = "none"
	}
	if i := p.Items; i != nil {
		line.Items, line.Batches, line.Batch, line.Names = i.Items, i.Batches, i.Batch, i.Names
		line.Parts, line.Done, line.Other = i.Parts, i.Done, i.Other
	}
	if p.Fallback != nil {
		line.Fallback = p.Fallback.Model
	}
	if p.Prompt == nil {
		line.Type = "preview"
		return g.print(line, func(w io.Writer) { writeNotes(w, step, p) })
	}
	line.Text, line.Digest = prompt.Text(p.Prompt), p.Sketch.Digest
	if g.json {
		if err := g.print(beforeSending(p.Prompt.Receipt), nil); err != nil {
			return err
		}
	}
	return g.print(line, func(w io.Writer) {
		writeNotes(w, step, p)
		writeReceipt(w, beforeSending(p.Prompt.Receipt))
		writePlaces(w, p)
		fmt.Fprintf(w, "  digest: %s\n", line.Digest)
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(line.Text, "\n"))
	})
}

func writeNotes(w io.Writer, step string, p step.Previewed) {
	for _, note := range previewNotes(p) {
		fmt.Fprintf(w, "step %s: %s\n", step, note)
	}
	for _, warning := range p.Warnings {
		fmt.Fprintln(w, "warning:", warning)
	}
}

// partNotes list the parts of documents that the run would do, and say how many are done.
func partNotes(i step.PreviewedItems) []string {
	var notes []string
	for _, part := range i.Parts {
		notes = append(notes, "part: "+part)
	}
	if i.Done > 0 {
		notes = append(notes, words.Counted(i.Done, "more part")+" done already, unchanged since")
	}
	if i.Other > 0 {
		notes = append(notes, fmt.Sprintf("%d of them with another prompt; vaultflow run --fresh does all parts again", i.Other))
	}
	return notes
}

// previewNotes say in words what the run would do with the step besides sending its prompt.
func previewNotes(p step.Previewed) []string {
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if p.Skip != "" {
		say("would be skipped: %s does not hold", p.Skip)
	}
	if i := p.Items; i != nil && i.Items == 0 {
		say("would be skipped: @for_each finds no items now")
	} else if i != nil {
		say("%s; this is batch %d of %d: %s", words.Counted(i.Items, "item"), i.Batch, i.Batches, listed(i.Names))
	}
	if i := p.Items; i != nil {
		notes = append(notes, partNotes(*i)...)
	}
	if len(p.Missing) > 0 {
		say("would be skipped: nothing found for %s", strings.Join(p.Missing, ", "))
	}
	for _, line := range p.Unmet {
		say("would be skipped: a required input would not arrive: %s", line)
	}
	if p.Model == "" {
		say("no model, the inputs go to the outputs")
	}
	for _, line := range p.Writes {
		say("would write %s", line)
	}
	if p.Refused != "" {
		say("would be refused: %s", p.Refused)
	} else if p.MaxUSD > 0 {
		guessed := ""
		if p.Guessed {
			guessed = ", at the dearest known price: the model's own is not known"
		}
		say("the first call costs at most about $%.4f%s", p.MaxUSD, guessed)
	}
	for _, c := range p.Caps {
		say("%s", capText(c))
	}
	switch {
	case p.Native:
		say("the answer is JSON that fits the schema; the provider holds the model to it")
	case len(p.Schema) > 0:
		say("the answer is JSON that fits the schema; the prompt asks for it")
	}
	if len(p.Waits) > 0 {
		say("would wait for your approval of the prompt: %s", strings.Join(p.Waits, "\n"))
	}
	switch p.Cache {
	case "hit":
		say("an answer is kept that would be used: nothing would be sent")
	case "miss":
		say("no answer is kept for this prompt: the model would be asked")
	}
	if len(p.Tools) > 0 {
		say("the model may call %s", strings.Join(p.Tools, ", "))
	}
	if f := p.Fallback; f != nil && f.Problem != "" {
		say("the fallback %s could not be asked: %s", f.Model, f.Problem)
	} else if f != nil {
		say("when the call fails, %s is asked", f.Model)
	}
	return notes
}

// capText describes what is left of a cap.
func capText(c cost.CapState) string {
	text := fmt.Sprintf("%s of the %s is %s", c.Key(), c.Scope, c.Text(c.Limit))
	if c.Spent+c.Reserved > 0 {
		text += fmt.Sprintf("; %s spent", c.Text(c.Spent))
	}
	if c.Reserved > 0 {
		text += fmt.Sprintf(", %s reserved", c.Text(c.Reserved))
	}
	return text + fmt.Sprintf("; %s left", c.Text(c.Left()))
}

// listed names the first few.
func listed(names []string) string {
	if len(names) <= 4 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
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
