package activity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
)

// Assemble builds the prompt and its receipt. With `@model none` it gives the inputs' text instead.
func (w *Workflow) Assemble(ctx context.Context, in engine.AssembleIn) (engine.AssembleOut, error) {
	s, err := w.scene(ctx, in.StepRef)
	if err != nil {
		return engine.AssembleOut{}, err
	}
	alias := s.plan.Alias(s.step, w.DefaultModel)
	if alias == "" {
		return w.passThrough(ctx, s, in.Inputs)
	}
	built, bounds, err := w.build(ctx, s, in.Inputs, alias)
	if err != nil {
		return engine.AssembleOut{}, err
	}
	out := engine.AssembleOut{Model: alias, Omitted: omissions(built.Receipt)}
	for _, warning := range built.Receipt.Warnings {
		out.Warnings = append(out.Warnings, warningText(warning))
	}
	blocks, err := content.MarshalBlocks(built.Blocks)
	if err != nil {
		return engine.AssembleOut{}, fmt.Errorf("encode the prompt: %w", err)
	}
	stored := storedPrompt{Format: built.Format, System: built.System, Blocks: blocks, Media: mediaLimits(bounds)}
	if out.Prompt, err = w.putJSON(ctx, stored); err != nil {
		return engine.AssembleOut{}, err
	}
	out.Receipt, err = w.putJSON(ctx, built.Receipt)
	return out, err
}

// build makes the prompt of a step for a model.
func (w *Workflow) build(ctx context.Context, s scene, resolved []engine.ResolvedInput, alias string) (*prompt.Prompt, policy.Bounds, error) {
	model, err := w.Models.Model(ctx, alias)
	if err != nil {
		return nil, policy.Bounds{}, modelFailure(err)
	}
	budget, err := w.Budget.Merge(policy.Overlay{From: "workflow", Limits: s.plan.Meta.Budget.Limits, WhenExceeded: s.plan.Meta.Budget.WhenExceeded})
	if err != nil {
		return nil, policy.Bounds{}, engine.Fail(engine.CodeInvalidWorkflow, "", "%s: budget: %v", s.plan.File, err)
	}
	bounds := budget.Bound(policy.Limits(model.Kind, model.ID).WithWindow(model.ContextWindow))
	inputs, err := w.promptInputs(ctx, s, resolved)
	if err != nil {
		return nil, bounds, err
	}
	spec := prompt.Spec{
		Workflow: s.plan.Name, Step: s.step.Name, Model: alias, Facts: w.runFacts(s), Prompt: s.step.Prompt, Inputs: inputs,
		Caps: model.Capabilities, Bounds: bounds, StrictLinks: w.StrictLinks,
	}
	if s.plan.Instructions != "" {
		spec.System = []string{s.plan.Instructions}
	}
	if model.Price != nil {
		spec.InputPrice = model.Price.Input
	}
	built, err := w.Prompt.Build(ctx, spec)
	if err != nil {
		return nil, bounds, promptFailure(err)
	}
	return built, bounds, nil
}

// runFacts tell the model when and where it works, and that nobody answers questions.
func (w *Workflow) runFacts(s scene) []string {
	return []string{
		"Date: " + directives.FormatDate(s.facts.Now, "dddd, D MMMM YYYY"),
		"Vault: " + w.VaultName,
		"The run is unattended: nobody can answer questions. Give the result only.",
	}
}

// promptInputs gives the builder what was resolved; routed inputs go elsewhere.
func (w *Workflow) promptInputs(ctx context.Context, s scene, resolved []engine.ResolvedInput) ([]prompt.Input, error) {
	var inputs []prompt.Input
	for _, directive := range s.step.Inputs {
		if directive.Route != nil && directive.Route.To != directives.RouteInline {
			continue
		}
		input := prompt.Input{Directive: directive}
		i := slices.IndexFunc(resolved, func(r engine.ResolvedInput) bool { return r.Directive == directive.Index })
		if i >= 0 {
			for _, file := range resolved[i].Files {
				input.Names = append(input.Names, file.Name)
			}
		}
		if directive.Target.Scheme == directives.SchemeVariable {
			input.Unset = i < 0 || resolved[i].Digest == ""
			if !input.Unset {
				data, err := w.Blobs.Get(ctx, resolved[i].Digest)
				if err != nil {
					return nil, engine.Fail(engine.CodeState, "", "read variable %s: %v", directive.Target.Path, err)
				}
				input.Text = string(data)
			}
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

// passThrough is the step without a model: what was read is what will be written.
func (w *Workflow) passThrough(ctx context.Context, s scene, resolved []engine.ResolvedInput) (engine.AssembleOut, error) {
	var parts []string
	if s.step.Prompt != "" {
		parts = append(parts, s.step.Prompt)
	}
	for _, directive := range s.step.Inputs {
		i := slices.IndexFunc(resolved, func(r engine.ResolvedInput) bool { return r.Directive == directive.Index })
		if i < 0 || directive.Route != nil && directive.Route.To != directives.RouteInline {
			continue
		}
		text, err := w.plainText(ctx, resolved[i])
		if err != nil {
			return engine.AssembleOut{}, err
		}
		parts = append(parts, text)
	}
	digest, err := w.Blobs.Put(ctx, []byte(strings.Join(parts, "\n\n")))
	return engine.AssembleOut{Text: digest}, err
}

func (w *Workflow) putJSON(ctx context.Context, value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode for the journal: %w", err)
	}
	return w.Blobs.Put(ctx, data)
}

// mediaLimits are what pictures are made to fit when they are sent.
func mediaLimits(b policy.Bounds) imaging.Limits {
	l := imaging.Limits{MaxSide: b.MaxSide, MaxBytes: b.MaxImageBytes, MaxPixels: b.MaxPixels, MaxDecodePixels: b.MaxDecodePixels}
	for _, mediaType := range b.Accept {
		if !strings.Contains(mediaType, "/") {
			mediaType = "image/" + mediaType
		}
		l.Accept = append(l.Accept, mediaType)
	}
	return l
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

func warningText(warning prompt.Warning) string {
	text := warning.Message
	if len(warning.Near) > 0 && !strings.Contains(text, warning.Near[0]) {
		text += "; similar: " + strings.Join(warning.Near, ", ")
	}
	if warning.Note == "" {
		return text
	}
	if warning.Line == 0 {
		return warning.Note + ": " + text
	}
	return fmt.Sprintf("%s:%d: %s", warning.Note, warning.Line, text)
}

// promptFailure gives the builder's errors their codes.
func promptFailure(err error) error {
	failure := engine.FailureOf(err)
	if _, ok := errors.AsType[*policy.CapabilityError](err); ok {
		failure.Code = engine.CodeModelNotSuitable
	} else if _, ok := errors.AsType[*policy.ExceededError](err); ok {
		failure.Code = engine.CodeBudget
	} else if failure.Code == engine.CodeInternal {
		failure.Code = engine.CodeInput
	}
	return failure
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
