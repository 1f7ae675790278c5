package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/directives/moment"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/previewed"
)

// Assembler builds prompts.
type Assembler struct {
	plans   *Plans
	models  Models
	stored  Stored
	sources Sources
	inputs  Inputs
	outputs Outputs
	budgets Budgets
	demands Demands
	prompt  prompt.Builder
	tools   Tools
	library Library
	filing  Filing

	previews previewed.Store

	defaultModel string // alias
	vaultName    string
	strictLinks  bool
}

// Assemble builds the prompt and its receipt, and those of the step's fallback model. With `@model none` it returns the inputs'
// text instead.
func (a *Assembler) Assemble(ctx context.Context, in engine.AssembleIn) (engine.AssembleOut, error) {
	s, err := a.plans.Context(ctx, in.StepRef)
	if err != nil {
		return engine.AssembleOut{}, err
	}
	files, err := a.sources.setItems(ctx, &s, in.Vars)
	if err != nil {
		return engine.AssembleOut{}, err
	}
	shown := policy.AddOrigins(a.sources.ofInputs(ctx, s, in.Inputs), files...)
	alias := s.Plan.Alias(s.Step, a.defaultModel)
	if alias != "" || directives.MentionsTrigger(s.Step.Prompt) { // the model learns what the run is about
		shown = policy.AddOrigins(shown, a.sources.ofSubject(ctx, s)...)
	}
	if alias == "" {
		out, err := a.passThrough(ctx, s, in.Inputs)
		out.Origins = policy.AddOrigins(shown, s.foreign...)
		return out, err
	}
	if err := a.sources.NameItems(ctx, &s, in.Vars); err != nil {
		return engine.AssembleOut{}, err
	}
	shownBefore(&s, shown)
	if err := a.outputs.check(ctx, s); err != nil {
		return engine.AssembleOut{}, err
	}
	if err := a.filing.check(ctx, s); err != nil {
		return engine.AssembleOut{}, err
	}
	made, err := a.make(ctx, s, in.Inputs, alias)
	if err != nil {
		return engine.AssembleOut{}, err
	}
	out := engine.AssembleOut{Model: alias, Omissions: Omissions(made.prompt.Receipt.Left()), Unmet: Omissions(made.prompt.Unmet), Warnings: promptWarnings(made.prompt.Receipt), Key: made.key, Sent: a.compared(s, made.sketch)}
	out.Warnings = append(out.Warnings, made.model.Warnings()...)
	out.Warnings = append(out.Warnings, made.notes...)
	out.Origins = policy.AddOrigins(shown, slices.Concat(s.foreign, made.prompt.Origins, made.servers)...)
	stored, all := made.stored, made.sketch
	if m := s.Step.Model; m != nil && m.Fallback != "" && m.Fallback != alias {
		second, warnings := a.addFallback(ctx, s, in.Inputs, &stored)
		out.Warnings, out.Origins = append(out.Warnings, warnings...), policy.AddOrigins(out.Origins, second.servers...)
		all = withFallback(all, second.sketch)
	}
	if s.Step.Approve.AsksPrompt() {
		if out.Sketch, err = a.stored.putJSON(ctx, all); err != nil {
			return engine.AssembleOut{}, err
		}
	}
	if out.Prompt, err = a.stored.putJSON(ctx, stored); err != nil {
		return engine.AssembleOut{}, err
	}
	out.Receipt, err = a.stored.putJSON(ctx, made.prompt.Receipt)
	return out, err
}

// addFallback builds the prompt of the fallback model. A failure is only a warning, because the first model may answer.
func (a *Assembler) addFallback(ctx context.Context, s Context, resolved []engine.ResolvedInput, into *Prompt) (second made, warnings []string) {
	alias := s.Step.Model.Fallback
	second, err := a.make(ctx, s, resolved, alias)
	if err != nil {
		into.NoFallback = fmt.Sprintf("the fallback %s cannot be used: %v", alias, err)
		return made{}, []string{into.NoFallback}
	}
	own := second.stored
	own.Omissions, own.Warnings = Omissions(second.prompt.Receipt.Left()), append(promptWarnings(second.prompt.Receipt), second.model.Warnings()...)
	if own.Receipt, err = a.stored.putJSON(ctx, second.prompt.Receipt); err != nil {
		return made{}, []string{fmt.Sprintf("the receipt for the fallback %s is not kept: %v", alias, err)}
	}
	into.Fallback = &own
	return second, nil
}

// made is a prompt for one model.
type made struct {
	prompt *prompt.Prompt
	model  Model
	stored Prompt
	key    string // for @cache, or ""
	cites  bool   // the answer cites passages of documents
	sketch previewed.Sketch

	servers []string // origins of tool descriptions from MCP servers
	notes   []string // about these tools
}

// make builds the prompt of a step for a model.
func (a *Assembler) make(ctx context.Context, s Context, resolved []engine.ResolvedInput, alias string) (made, error) {
	model, err := a.models.Model(ctx, alias)
	if err != nil {
		return made{}, failure.WithCode(err, failure.UnknownModel)
	}
	budget, calls, err := a.budgets.Of(s)
	if err != nil {
		return made{}, err
	}
	wanted, err := a.demands.of(ctx, s)
	if err != nil {
		return made{}, err
	}
	bounds, offer := budget.Bound(model.RequestLimits()), a.tools.Offer(s, model)
	spec, err := a.spec(ctx, s, model, resolved, wanted, offer.Guide)
	if err != nil {
		return made{}, err
	}
	spec.Bounds = bounds
	built, err := a.prompt.Build(ctx, spec)
	if err != nil {
		return made{}, promptFailure(err)
	}
	limits := media.Limits(bounds)
	if built.FitSide > 0 {
		limits.MaxSide = built.FitSide
	}
	blocks, err := content.MarshalBlocks(built.Blocks)
	if err != nil {
		return made{}, fmt.Errorf("encode the prompt: %w", err)
	}
	m := made{prompt: built, model: model, stored: Prompt{
		Format: built.Format, Nonce: built.Nonce, System: built.System, Blocks: blocks, Media: limits, Tokens: built.Receipt.Totals.Tokens,
		Demand: wanted, Chunks: built.Chunks, Limits: calls, Tools: offer.with(built), Paged: built.Paged, Call: callSketch(s, model),
	}}
	m.servers, m.notes = offer.Origins, offer.Notes
	if Cites(s) {
		m.stored.Pages = a.library.PagesShown(ctx, built.Receipt.Chunks)
	}
	m.cites = a.outputs.cite(s, model, wanted)
	if s.Step.Cache != nil {
		if m.key, err = cacheKey(s, model, built.Digest, m.stored, m.cites); err != nil {
			return made{}, err
		}
	}
	m.stored.Named = built.Named
	m.sketch, err = sketch(s, m, spec, budget)
	return m, err
}

// spec returns what the prompt is built from.
func (a *Assembler) spec(ctx context.Context, s Context, model Model, resolved []engine.ResolvedInput, wanted demand, guide string) (prompt.Spec, error) {
	inputs, err := a.promptInputs(ctx, s, resolved)
	if err != nil {
		return prompt.Spec{}, err
	}
	from := a.sources.ofSubject(ctx, s)
	text, named, err := s.promptText(from, s.itemFrom)
	about, subject := a.subject(s, resolved, from)
	inputs = append(append(inputs, named...), subject...)
	spec := prompt.Spec{
		Workflow: s.Plan.Name, File: s.Plan.File, Step: s.Step.Name, Model: model.Alias, Facts: append(a.runFacts(s), about...), Prompt: text, Inputs: inputs,
		Caps: model.Capabilities, StrictLinks: a.strictLinks, MayRead: s.Plan.Meta.Permissions.MayRead,
		MayLink: s.Plan.Meta.Permissions.MayLink,
	}
	if t := s.Step.Tools; t != nil && t.None {
		spec.Caps = spec.Caps.Without(policy.Tools)
	}
	if s.Plan.Instructions != "" {
		spec.System = append(spec.System, s.Plan.Instructions)
	}
	if form := wanted.instruction(model.Capabilities.Has(policy.StructuredOutput)); form != "" {
		spec.System = append(spec.System, form)
	}
	for _, part := range []string{citeGuide(s.Step.Cite), guide} {
		if part != "" {
			spec.System = append(spec.System, part)
		}
	}
	if model.Price != nil {
		spec.InputPrice = model.Price.Input
	}
	return spec, err
}

func promptWarnings(r prompt.Receipt) []string {
	var lines []string
	for _, warning := range r.Warnings {
		lines = append(lines, warning.String())
	}
	return lines
}

// runFacts returns the vault and the date, and that no user is present, for the model.
func (a *Assembler) runFacts(s Context) []string {
	facts := []string{"Vault: " + a.vaultName, "The run is unattended: nobody can answer questions. Reply with the result only."}
	if dated(s.Step) {
		facts = append([]string{"Date: " + moment.Format(s.Facts.Now, "dddd, D MMMM YYYY")}, facts...)
	}
	return facts
}

// promptInputs returns the resolved inputs for the builder, without routed ones.
func (a *Assembler) promptInputs(ctx context.Context, s Context, resolved []engine.ResolvedInput) ([]prompt.Input, error) {
	inputs, err := s.itemInputs()
	if err != nil {
		return nil, err
	}
	for _, directive := range s.Step.Inputs {
		if directive.Route != nil && directive.Route.To != directives.RouteInline {
			continue
		}
		aimed, err := s.aimed(directive)
		if err != nil {
			return nil, err
		}
		input := prompt.Input{Directive: aimed}
		i := slices.IndexFunc(resolved, func(r engine.ResolvedInput) bool { return r.Directive == directive.Index })
		if i >= 0 {
			input.Origins = resolved[i].Origins
			for _, file := range resolved[i].Files {
				input.Names = append(input.Names, file.Name)
			}
			var err error
			if input.Changes, err = a.inputs.changes(ctx, resolved[i].Files); err != nil {
				return nil, err
			}
		}
		if directive.Target.Scheme == directives.SchemeVariable {
			input.Unset = i < 0 || resolved[i].Digest == ""
			if !input.Unset {
				data, err := a.stored.Blobs.Get(ctx, resolved[i].Digest)
				if err != nil {
					return nil, failure.New(failure.State, "", "read variable %s: %v", directive.Target.Path, err)
				}
				input.Text = string(data)
			}
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

// itemInputs returns the items of the batch as inputs, if `as=` of @for_each names their place.
func (s Context) itemInputs() ([]prompt.Input, error) {
	each := s.Step.ForEach
	if each == nil || each.As == "" {
		return nil, nil
	}
	var inputs []prompt.Input
	for _, it := range s.items {
		directive, err := s.aimed(each.Input())
		if err != nil {
			return nil, err
		}
		input := prompt.Input{Directive: directive, Names: []string{it.Name}}
		if it.Value {
			input.Names, input.Text, input.Origins = nil, it.text, s.foreign
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

// Omissions returns lines of a receipt, whose causes they have, as omissions of a run.
func Omissions(left []prompt.Line) []engine.Omission {
	var out []engine.Omission
	for _, line := range left {
		o := engine.Omit(line.Name, line.Why, string(line.Step), line.Reason)
		o.ID = line.ID
		at := line.Place()
		o.Note, o.Line = at.File, at.Line
		switch {
		case line.Kind == prompt.KindPage, line.Page > 0, line.Kind == prompt.KindText:
			o.File, o.Page = cmp.Or(line.Document, line.Source.Note, line.Source.Variable), max(line.Source.Page, line.Page)
		case o.File == "":
			o.File = line.Target
		}
		switch {
		case o.Step != "":
		case line.Fate == policy.Deferred:
			o.Step = string(policy.StepRange)
		default:
			o.Step = string(line.Fate)
		}
		out = append(out, o)
	}
	return out
}

// promptFailure adds failure codes to the builder's errors.
func promptFailure(err error) error {
	cause := failure.Of(err)
	if _, ok := errors.AsType[*policy.CapabilityError](err); ok {
		cause.Code = failure.ModelNotSuitable
	} else if _, ok := errors.AsType[*policy.ExceededError](err); ok {
		cause.Code = failure.Budget
	} else if cause.Code == failure.Internal {
		cause.Code = failure.Input
	}
	return cause
}
