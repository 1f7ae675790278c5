package step

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/previewed"
	"github.com/vaultflow/vaultflow/workflow"
)

// Previewed is what a step would send now.
type Previewed struct {
	Missing  []string       // required inputs that were not found: the step would be skipped
	Unmet    []string       // required inputs that were found and would not arrive: the step would be skipped
	Model    string         // alias; empty for @model none
	Prompt   *prompt.Prompt // nil when nothing would be sent
	Warnings []string       // of resolving; the prompt's own are in its receipt

	Skip     string           // the @when condition that does not hold, as written: the step would be skipped
	When     []string         // the conditions that hold, as written
	Items    *PreviewedItems  // of an @for_each; nil without one
	Schema   json.RawMessage  // JSON Schema that the answer must fit; nil without @schema
	Native   bool             // the provider enforces the schema; otherwise the prompt asks for it
	Writes   []string         // how outputs would be merged with notes, in words
	Cache    string           // "hit": a kept answer would be used; "miss": the model would be asked; "": no @cache
	Tools    []string         // offered to the model
	Fallback *PreviewedSecond // the model to ask if the first one fails
	MaxUSD   float64          // the most that the first call should cost; 0 if no model has a known price
	Guessed  bool             // MaxUSD uses the highest known price, because the model's own is unknown
	Refused  string           // why a cap would refuse the first call
	Waits    []string         // with @approve prompt: why it would wait, as [engine.Proposal.Why] says; empty: it is the approved one

	MaxTokens int64           // the most that the first call should take, input and output
	Caps      []cost.CapState // that bound the first call

	Sketch previewed.Sketch // to compare a run with; its digest is empty when nothing would be sent
	key    string           // see previewKey

	Media     []MediumPlace // where each medium of the prompt goes, in order
	ToolMedia []MediumPlace // where media of tool results go, by kind; nil without tools
}

// PreviewedItems are the batches of an @for_each. Without items the step would be skipped.
type PreviewedItems struct {
	Items   int      // in all batches
	Batches int      // how many
	Batch   int      // the one that is shown, from 1; 0 when there is none
	Names   []string // of its items
	Parts   []string // all parts of documents that are done in the run
	Done    int      // how many more parts there are, which are done already
	Other   int      // how many of those were done with another prompt
}

// parts lists the parts of documents that would be done.
func (p *PreviewedItems) parts(found expansion) {
	if found.parts == nil {
		return
	}
	for _, it := range found.items {
		p.Parts = append(p.Parts, it.Shown())
	}
	p.Done, p.Other = len(found.all)-len(found.items), found.parts.Other
}

// PreviewedSecond is what would be sent to the fallback model.
type PreviewedSecond struct {
	Model   string
	Prompt  *prompt.Prompt // nil when it could not be asked
	Problem string
}

// previewRun is what {run} is in a preview.
const previewRun = "preview"

// Previewer shows what steps would send. It reads, and has no side effect.
type Previewer struct {
	inputs     Inputs
	answers    Answers
	budgets    Budgets
	media      media.Source
	conditions *Conditions
	expander   *Expander
	assembler  *Assembler
	generator  *Generator
	approver   *Approver
}

// Preview does what a run does before the model call: it tests the conditions, resolves a step's inputs and builds its prompt; with
// @for_each for one batch, counted from 1. Variables of earlier steps are not set.
func (p *Previewer) Preview(ctx context.Context, plan workflow.Plan, index int, at time.Time, batch int, about []string) (Previewed, error) {
	if index < 0 || index >= len(plan.Steps) {
		return Previewed{}, fmt.Errorf("the workflow has no step %d", index)
	}
	step := plan.Steps[index]
	s := Context{Plan: plan, Step: step, Facts: FactsOf(plan, step.Name, previewRun, at)}
	s.Facts.Title = p.assembler.plans.titles(plan)
	s.About(about, nil)
	out := Previewed{Model: plan.Alias(step, p.assembler.defaultModel)}
	when, err := p.conditions.conditions(ctx, s, nil)
	if err != nil {
		return out, err
	}
	if out.Skip = when.Reason; out.Skip == "" {
		for _, condition := range step.When {
			out.When = append(out.When, conditionText(condition))
		}
	}
	if step.ForEach != nil {
		if err := p.items(ctx, &s, &out, batch); err != nil || out.Items.Batch == 0 {
			return out, err
		}
	}
	if _, err := p.assembler.sources.setItems(ctx, &s, nil); err != nil {
		return out, err
	}
	out.Writes = append(p.writes(s), p.assembler.filing.previewed(ctx, s)...)
	out.Warnings = append(out.Warnings, p.takeovers(ctx, s)...)
	resolved, err := p.resolve(ctx, s, &out)
	if err != nil || out.Model == "" {
		return out, err
	}
	return out, p.prompt(ctx, s, resolved, &out)
}

// OtherPrompts reports, for each step, how many parts of documents were done with another prompt than the step has now.
func (p *Previewer) OtherPrompts(ctx context.Context, plan workflow.Plan, at time.Time) ([]diag.Diagnostic, error) {
	var list []diag.Diagnostic
	for _, step := range plan.Steps {
		each := step.ForEach
		if each == nil || each.Parts == "" || !each.Selection.Pending || each.Target.Scheme == directives.SchemeTrigger {
			continue
		}
		s := Context{Plan: plan, Step: step, Facts: FactsOf(plan, step.Name, "check", at)}
		s.Facts.Title = p.assembler.plans.titles(plan)
		found, err := p.expander.itemsOf(ctx, s, nil)
		if err != nil {
			return list, err
		}
		if found.parts == nil || found.parts.Other == 0 {
			continue
		}
		list = append(list, directives.At(each.Target.At, directives.CodePartPrompt, "vaultflow run --fresh does all parts again",
			"%d of %d parts of %s were done with another prompt", found.parts.Other, len(found.all), each.Target))
	}
	return list, nil
}

// items finds the batches and puts the chosen one into the step context.
func (p *Previewer) items(ctx context.Context, s *Context, out *Previewed, batch int) error {
	found, err := p.expander.itemsOf(ctx, *s, nil)
	if err != nil {
		return err
	}
	items := found.items
	out.Warnings = append(out.Warnings, found.warnings...)
	batches := slices.Collect(slices.Chunk(items, max(s.Step.ForEach.Batch, 1)))
	out.Items = &PreviewedItems{Items: len(items), Batches: len(batches)}
	out.Items.parts(found)
	if len(batches) == 0 {
		return nil
	}
	if batch < 1 || batch > len(batches) {
		return failure.New(failure.Input, "", "step %q has %d batches now, and no batch %d", s.Step.Name, len(batches), batch)
	}
	out.Items.Batch = batch
	for _, it := range batches[batch-1] {
		out.Items.Names = append(out.Items.Names, it.Shown())
	}
	s.setBatch(batch, batches[batch-1])
	return nil
}

// writes lists the notes that keep a part of what they have, with what becomes of the rest.
func (p *Previewer) writes(s Context) []string {
	var list []string
	s.Facts.Unanswered = true
	say := func(out directives.Output, mode directives.WriteMode) {
		name, err := out.Name(p.assembler.outputs.Env(s))
		if err != nil {
			name = out.Target.String()
		}
		if how := merging(mode); how != "" {
			list = append(list, name+": "+how)
		}
	}
	for _, out := range s.Step.Outputs {
		say(out, s.Step.WriteMode)
	}
	for _, in := range s.Step.Inputs {
		if in.Route != nil && in.Route.Target != nil {
			say(in.Route.Output(in.At), in.Route.Mode())
		}
	}
	return list
}

// merging describes what a mode does to a note; "" if it merges nothing.
func merging(m directives.WriteMode) string {
	switch {
	case m.Mode == directives.ModeFrontmatter && !m.Unites("tags"):
		return "properties are set; lists are replaced"
	case m.Mode == directives.ModeFrontmatter:
		return "properties are set; lists in " + strings.Join(append([]string{"tags", "aliases"}, m.Union...), ", ") + " get what they lack"
	case m.Mode != directives.ModeSection:
		return ""
	case m.Merge == directives.MergeTasks:
		return fmt.Sprintf("tasks below %q are ticked and added", m.Heading)
	case m.Merge == directives.MergeAppend:
		return fmt.Sprintf("the answer is added below %q", m.Heading)
	}
	return fmt.Sprintf("the workflow's text below %q is replaced", m.Heading)
}

// takeovers warns of new notes that links would lead to.
func (p *Previewer) takeovers(ctx context.Context, s Context) (list []string) {
	for i, out := range s.Step.Outputs {
		if out.Target.Scheme != directives.SchemeFile || s.Step.WriteMode.Mode == directives.ModeNew {
			continue
		}
		place, _, err := p.assembler.outputs.place(ctx, s, fmt.Sprintf("output:%d", i), out, s.Step.WriteMode)
		if err != nil || policy.Look(p.assembler.outputs.FS, place.Name).Exists {
			continue // assembling the prompt reports what is wrong with it
		}
		if said := p.assembler.outputs.takesOver(previewRun, place.Name, p.assembler.filing.leaves(ctx, s)); said != "" {
			list = append(list, said)
		}
	}
	return list
}

func (p *Previewer) resolve(ctx context.Context, s Context, out *Previewed) ([]engine.ResolvedInput, error) {
	found, err := p.inputs.Resolve(ctx, s, nil)
	out.Warnings, out.Missing = append(out.Warnings, found.Warnings...), found.Missing
	return found.Inputs, err
}

func (p *Previewer) prompt(ctx context.Context, s Context, resolved []engine.ResolvedInput, out *Previewed) error {
	made, err := p.assembler.make(ctx, s, resolved, out.Model)
	out.Prompt = made.prompt
	if err != nil {
		return err
	}
	out.Unmet = engine.OmissionLines(Omissions(made.prompt.Unmet))
	out.Sketch, out.key = made.sketch, previewKey(s)
	out.Schema = made.stored.Demand.Schema
	for _, t := range made.stored.Tools {
		out.Tools = append(out.Tools, t.Name)
	}
	if out.Media, out.ToolMedia = made.model.places(made.prompt.Blocks); len(out.Tools) == 0 {
		out.ToolMedia = nil
	}
	out.Warnings = append(out.Warnings, made.model.Warnings()...)
	out.Native = len(out.Schema) > 0 && made.model.Capabilities.Has(policy.StructuredOutput)
	if s.Step.Cache != nil {
		out.Cache = "miss"
		_, found, err := p.answers.lookup(ctx, s, made.key)
		if err != nil {
			return err
		}
		if found {
			out.Cache = "hit"
		}
	}
	if err := p.caps(ctx, s, made, out); err != nil {
		return err
	}
	all := made.sketch
	if m := s.Step.Model; m != nil && m.Fallback != "" && m.Fallback != out.Model {
		out.Fallback = &PreviewedSecond{Model: m.Fallback}
		second, err := p.assembler.make(ctx, s, resolved, m.Fallback)
		if out.Fallback.Prompt = second.prompt; err != nil {
			out.Fallback.Problem = err.Error()
		}
		all = withFallback(all, second.sketch)
	}
	out.Waits, err = p.approver.wouldAsk(ctx, s, all)
	return err
}

// caps finds the caps on the first call, what is left of them, and why they would refuse it. It reserves nothing.
func (p *Previewer) caps(ctx context.Context, s Context, m made, out *Previewed) error {
	request, err := p.generator.request(ctx, s, m.model, m.stored, nil)
	if err != nil {
		return err
	}
	metered, err := p.budgets.metered(s, engine.StepRef{Run: s.Facts.Run}, m.model, m.stored)
	if err != nil {
		return err
	}
	whose := metered.Reservation(request)
	if p.budgets.Ledger != nil {
		out.Caps, err = p.budgets.Ledger.CapStates(ctx, whose, p.budgets.Now())
	} else {
		out.Caps, err = whose.Caps.States(p.budgets.Now())
	}
	if err != nil {
		return err
	}
	out.MaxTokens = whose.Estimate.Tokens
	if !whose.NoPrice {
		out.MaxUSD, out.Guessed = whose.Estimate.USD, m.model.Price == nil
	}
	for _, c := range out.Caps {
		if over := c.Refuses(whose); over != nil {
			out.Refused = over.Error()
			return nil
		}
	}
	return nil
}

// Keep keeps a preview until the next one of the same step and files, for runs to be compared with.
func (p *Previewer) Keep(of Previewed) error {
	if of.Sketch.Digest == "" {
		return nil
	}
	of.Sketch.Time = p.budgets.Now()
	return p.assembler.previews.Put(of.key, of.Sketch)
}

// Thumbnails returns a loader of small versions of a prompt's pictures. It reads the vault and never the network.
func (p *Previewer) Thumbnails(side int) llm.Loader {
	return p.media.Loader(imaging.Limits{MaxSide: side, MaxBytes: 256 << 10, MaxDecodePixels: p.budgets.Budget.MaxDecodePixels})
}
