package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
)

// Assemble builds the prompt and its receipt, and those of the step's fallback model. With `@model none` it gives the
// inputs' text instead.
func (w *Workflow) Assemble(ctx context.Context, in engine.AssembleIn) (engine.AssembleOut, error) {
	s, err := w.scene(ctx, in.StepRef)
	if err != nil {
		return engine.AssembleOut{}, err
	}
	var files []string
	if s.foreign, files, err = w.itemOrigins(ctx, s, in.Vars); err != nil {
		return engine.AssembleOut{}, err
	}
	shown := policy.AddOrigins(w.inputOrigins(ctx, s, in.Inputs), files...)
	alias := s.plan.Alias(s.step, w.DefaultModel)
	if alias == "" {
		out, err := w.passThrough(ctx, s, in.Inputs)
		out.Origins = policy.AddOrigins(shown, s.foreign...)
		return out, err
	}
	made, err := w.make(ctx, s, in.Inputs, alias)
	if err != nil {
		return engine.AssembleOut{}, err
	}
	out := engine.AssembleOut{Model: alias, Omitted: omissions(made.prompt.Receipt), Warnings: promptWarnings(made.prompt.Receipt), Key: made.key}
	out.Warnings = append(out.Warnings, made.model.Warnings()...)
	out.Warnings = append(out.Warnings, made.notes...)
	out.Origins = policy.AddOrigins(shown, slices.Concat(s.foreign, made.prompt.Origins, made.servers)...)
	stored := made.stored
	if m := s.step.Model; m != nil && m.Fallback != "" && m.Fallback != alias {
		warnings, servers := w.addFallback(ctx, s, in.Inputs, &stored)
		out.Warnings, out.Origins = append(out.Warnings, warnings...), policy.AddOrigins(out.Origins, servers...)
	}
	if out.Prompt, err = w.putJSON(ctx, stored); err != nil {
		return engine.AssembleOut{}, err
	}
	out.Receipt, err = w.putJSON(ctx, made.prompt.Receipt)
	return out, err
}

// addFallback builds the prompt of the fallback model. What keeps it from being used is a warning: the first model may
// well answer.
func (w *Workflow) addFallback(ctx context.Context, s scene, resolved []engine.ResolvedInput, into *storedPrompt) (warnings, servers []string) {
	alias := s.step.Model.Fallback
	made, err := w.make(ctx, s, resolved, alias)
	if err != nil {
		into.NoFallback = fmt.Sprintf("the fallback %s cannot be used: %v", alias, err)
		return []string{into.NoFallback}, nil
	}
	own := made.stored
	own.Omitted, own.Warnings = omissions(made.prompt.Receipt), append(promptWarnings(made.prompt.Receipt), made.model.Warnings()...)
	into.Fallback = &own
	return nil, made.servers
}

// made is a prompt for one model, with what is kept of it.
type made struct {
	prompt *prompt.Prompt
	model  Model
	stored storedPrompt
	key    string // for @cache; empty without
	tools  []string

	servers []string // origins of what MCP servers say of these tools
	notes   []string // about these tools
}

// make builds the prompt of a step for a model.
func (w *Workflow) make(ctx context.Context, s scene, resolved []engine.ResolvedInput, alias string) (made, error) {
	model, err := w.Models.Model(ctx, alias)
	if err != nil {
		return made{}, modelFailure(err)
	}
	budget, limits, err := w.budgetOf(s)
	if err != nil {
		return made{}, err
	}
	wanted, err := w.demand(ctx, s)
	if err != nil {
		return made{}, err
	}
	bounds := budget.Bound(model.limits())
	spec, err := w.spec(ctx, s, model, resolved, wanted)
	if err != nil {
		return made{}, err
	}
	spec.Bounds = bounds
	built, err := w.Prompt.Build(ctx, spec)
	if err != nil {
		return made{}, promptFailure(err)
	}
	blocks, err := content.MarshalBlocks(built.Blocks)
	if err != nil {
		return made{}, fmt.Errorf("encode the prompt: %w", err)
	}
	m := made{prompt: built, model: model, stored: storedPrompt{
		Format: built.Format, System: built.System, Blocks: blocks, Media: media.Limits(bounds), Tokens: built.Receipt.Totals.Tokens,
		Demand: wanted, Chunks: built.Chunks, Limits: limits,
	}}
	box := w.toolbox(s, model, m.stored, engine.UseToolsIn{})
	m.tools = box.registry.Names()
	m.servers, m.notes = box.described()
	if s.step.Cache != nil {
		m.key, err = w.cacheKey(s, model, built.Digest, m.stored)
	}
	return m, err
}

// spec is what the prompt is made of.
func (w *Workflow) spec(ctx context.Context, s scene, model Model, resolved []engine.ResolvedInput, wanted demand) (prompt.Spec, error) {
	inputs, err := w.promptInputs(ctx, s, resolved)
	spec := prompt.Spec{
		Workflow: s.plan.Name, Step: s.step.Name, Model: model.Alias, Facts: w.runFacts(s), Prompt: s.step.Prompt, Inputs: inputs,
		Caps: model.Capabilities, StrictLinks: w.StrictLinks, MayRead: s.plan.Meta.Permissions.MayRead,
		MayLink: s.plan.Meta.Permissions.MayLink,
	}
	if s.plan.Instructions != "" {
		spec.System = append(spec.System, s.plan.Instructions)
	}
	if form := wanted.instruction(model.Capabilities.Has(policy.StructuredOutput)); form != "" {
		spec.System = append(spec.System, form)
	}
	if guide := toolGuide(w.toolbox(s, model, storedPrompt{}, engine.UseToolsIn{}).registry.Names()); guide != "" {
		spec.System = append(spec.System, guide)
	}
	if model.Price != nil {
		spec.InputPrice = model.Price.Input
	}
	return spec, err
}

// budgetOf is the step's budget: the settings', the workflow's and its own, one on top of the other. The caps that bound a
// step elsewhere bound the run in the frontmatter.
func (w *Workflow) budgetOf(s scene) (policy.Budget, callLimits, error) {
	limits := maps.Clone(s.plan.Meta.Budget.Limits)
	for _, key := range []string{"max_cost_usd", "max_total_tokens"} {
		if v, set := limits[key]; set {
			limits[key+"_per_run"] = v
			delete(limits, key)
		}
	}
	budget, err := w.Budget.Merge(policy.Overlay{From: "workflow", Limits: limits, WhenExceeded: s.plan.Meta.Budget.WhenExceeded})
	if own := s.step.Budget; own != nil && err == nil {
		budget, err = budget.Merge(policy.Overlay{From: "step", Limits: own.Limits, WhenExceeded: own.WhenExceeded})
	}
	if err != nil {
		return budget, callLimits{}, failure.New(failure.InvalidWorkflow, "", "%s: budget: %v", s.plan.File, err)
	}
	return budget, callLimits{ToolImages: budget.MaxToolImages, StepImages: budget.MaxStepImages}, nil
}

func promptWarnings(r prompt.Receipt) []string {
	var lines []string
	for _, warning := range r.Warnings {
		lines = append(lines, warning.String())
	}
	return lines
}

// runFacts tell the model when and where it works, and that nobody answers questions.
func (w *Workflow) runFacts(s scene) []string {
	facts := []string{"Vault: " + w.VaultName, "The run is unattended: nobody can answer questions. Give the result only."}
	if dated(s.step.Cache) {
		facts = append([]string{"Date: " + directives.FormatDate(s.facts.Now, "dddd, D MMMM YYYY")}, facts...)
	}
	return facts
}

// promptInputs gives the builder what was resolved; routed inputs go elsewhere.
func (w *Workflow) promptInputs(ctx context.Context, s scene, resolved []engine.ResolvedInput) ([]prompt.Input, error) {
	inputs := s.itemInputs()
	for _, directive := range s.step.Inputs {
		if directive.Route != nil && directive.Route.To != directives.RouteInline {
			continue
		}
		input := prompt.Input{Directive: directive}
		i := slices.IndexFunc(resolved, func(r engine.ResolvedInput) bool { return r.Directive == directive.Index })
		if i >= 0 {
			input.Origins = resolved[i].Origins
			for _, file := range resolved[i].Files {
				input.Names = append(input.Names, file.Name)
			}
		}
		if directive.Target.Scheme == directives.SchemeVariable {
			input.Unset = i < 0 || resolved[i].Digest == ""
			if !input.Unset {
				data, err := w.Blobs.Get(ctx, resolved[i].Digest)
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

// itemInputs show the items of the batch at the place that `as=` of @for_each names.
func (s scene) itemInputs() []prompt.Input {
	each := s.step.ForEach
	if each == nil || each.As == "" {
		return nil
	}
	var inputs []prompt.Input
	for _, it := range s.items {
		input := prompt.Input{Directive: each.Input(), Names: []string{it.Name}}
		if it.Value {
			input.Names, input.Text, input.Origins = nil, it.text, s.foreign
		}
		inputs = append(inputs, input)
	}
	return inputs
}

func (w *Workflow) putJSON(ctx context.Context, value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode for the journal: %w", err)
	}
	return w.Blobs.Put(ctx, data)
}

// omissions lists the references that the model does not get to see.
func omissions(r prompt.Receipt) []string {
	var out []string
	for _, line := range r.Left() {
		name := line.Name
		if name == "" {
			name = line.Target
		}
		text := fmt.Sprintf("%s %s (%s)", line.ID, name, line.Fate)
		if line.Reason != "" {
			text += ": " + line.Reason
		}
		out = append(out, text)
	}
	return out
}

// promptFailure gives the builder's errors their codes.
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

// PageText is the recognised text of an imported page's picture, empty when the picture is no such page: the page
// `…/pages/page_0003.png` has its text in `…/text/page_0003.md`.
func (w *Workflow) PageText(name string) string {
	dir, file := path.Split(name)
	dir = path.Clean(dir)
	if path.Base(dir) != "pages" {
		return ""
	}
	text := path.Join(path.Dir(dir), "text", strings.TrimSuffix(file, path.Ext(file))+".md")
	data, _, err := w.Vault.Read(text, w.MaxText)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
