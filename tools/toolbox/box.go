// Package toolbox lets the models of steps call tools: it decides which tools a step offers, makes the calls of an answer, asks for
// approval where needed, and refuses calls that untrusted content must not cause. The tools themselves are in package tools.
package toolbox

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/vault"
)

// Names returns the tools that this version offers to models.
func Names() []string {
	return []string{
		tools.ReadFile, tools.ListFiles, tools.SearchFiles, tools.WriteFile, tools.AppendFile, tools.EditFile, tools.MoveFile,
		tools.DeleteFile, tools.ReadChunks, tools.ReadPages, tools.ReadVariable, tools.ReadArtifact, tools.WebFetch, tools.WebSearch,
		tools.RunWorkflow,
	}
}

// Config has what a Box needs besides the dependencies of steps.
type Config struct {
	AutoBuffer int          // a longer text of a tool, in tokens, goes to a variable; 0: DefaultAutoBuffer
	Outside    *Outside     // nil: tools stay inside the vault
	Runs       Runs         // nil: run_workflow is not offered
	Log        *slog.Logger // nil: nothing is logged
}

// Box makes the calls of models. It is safe for concurrent use.
type Box struct {
	Config

	plans   *step.Plans
	models  step.Models
	stored  step.Stored
	inputs  step.Inputs
	outputs step.Outputs
	sources step.Sources
	vars    step.Vars
	budgets step.Budgets
	library step.Library
	changes *change.Maker
	mover   step.Mover
	prompt  prompt.Builder
	links   vault.Links
	foreign media.Foreign

	strictLinks bool
}

var _ step.Tools = (*Box)(nil)

// New returns a box for steps with these dependencies.
func New(d *step.Deps, c Config) *Box {
	return &Box{
		Config: c, plans: d.Plans, models: d.Models, stored: d.Stored, inputs: d.Inputs, outputs: d.Outputs, sources: d.Sources,
		vars: d.Vars, budgets: d.Budgets, library: d.Library, changes: d.Changes, mover: d.Filing.Mover, prompt: d.Prompt, links: d.Links, foreign: d.Foreign(), strictLinks: d.StrictLinks,
	}
}

// Activities returns the box's activities by name.
func (b *Box) Activities() engine.Activities {
	return engine.Activities{engine.ActivityUseTools: engine.Handle(b.Use)}
}

// Offer implements step.Tools.
func (b *Box) Offer(s step.Context, model step.Model) step.Offer {
	t := b.turn(s, model, step.Prompt{}, engine.UseToolsIn{})
	o := step.Offer{Tools: t.registry.Offered(), Guide: guide(t.registry.Names())}
	if t.mayCall() {
		chunks := (&tools.ChunkReader{}).Tool()
		o.Chunks = &llm.Tool{Name: chunks.Name, Description: chunks.Description, Parameters: chunks.Parameters}
		if !offers(s, tools.ReadPages) {
			pages := (&tools.FileReader{}).PagesTool()
			o.Pages = &llm.Tool{Name: pages.Name, Description: pages.Description, Parameters: pages.Parameters}
		}
	}
	for _, tool := range t.registry {
		if server, _, dotted := strings.Cut(tool.Called, "."); dotted {
			o.Origins = policy.AddOrigins(o.Origins, policy.MCPOrigin(server))
		}
		if tool.Note != "" && !slices.Contains(o.Notes, tool.Note) {
			o.Notes = append(o.Notes, tool.Note)
		}
	}
	return o
}

// guide returns the system prompt's part about tools.
func guide(names []string) string {
	var lines []string
	for _, name := range names {
		if name != tools.ReadChunks && name != tools.ReadVariable {
			lines = append(lines, "How to use tools:", "- Name files from the vault's root, with /. Results that are cut end with how to read on.")
			break
		}
	}
	writes := func(name string) bool {
		return name == tools.WriteFile || name == tools.AppendFile || name == tools.EditFile
	}
	if len(lines) > 0 && slices.ContainsFunc(names, writes) {
		lines = append(lines, "- Tools write to the vault at once. The workflow writes your answer: do not write it with a tool.")
	}
	return strings.Join(lines, "\n")
}

// Use is the activity that makes the calls of an answer, in order. Repeated after a crash, it does not repeat changes of the vault.
func (b *Box) Use(ctx context.Context, in engine.UseToolsIn) (engine.UseToolsOut, error) {
	s, err := b.plans.Context(ctx, in.StepRef)
	if err != nil {
		return engine.UseToolsOut{}, err
	}
	t, calls, err := b.round(ctx, s, in)
	if err != nil {
		return engine.UseToolsOut{}, err
	}
	var results []content.Block
	for i, call := range calls {
		if err := ctx.Err(); err != nil {
			return engine.UseToolsOut{}, fmt.Errorf("use tools: %w", err)
		}
		t.call = callID(in, i)
		result, err := t.use(ctx, call)
		if err != nil {
			return engine.UseToolsOut{}, err
		}
		results = append(results, result)
	}
	out := t.left()
	if len(results) == 0 {
		return out, nil
	}
	out.Reply, err = b.stored.PutBlocks(ctx, results)
	return out, err
}

// round returns the calls of an answer, and their turn.
func (b *Box) round(ctx context.Context, s step.Context, in engine.UseToolsIn) (*turn, []content.ToolCall, error) {
	stored, err := b.stored.Prompt(ctx, in.Prompt)
	if err != nil {
		return nil, nil, err
	}
	if s.Step.Model != nil && s.Step.Model.Fallback == in.Model && stored.Fallback != nil {
		stored = *stored.Fallback
	}
	model, err := b.models.Model(ctx, in.Model)
	if err != nil {
		return nil, nil, failure.WithCode(err, failure.UnknownModel)
	}
	blocks, _, err := b.stored.Answer(ctx, in.Raw)
	if err != nil {
		return nil, nil, err
	}
	var calls []content.ToolCall
	for _, block := range blocks {
		if call, is := block.(content.ToolCall); is {
			calls = append(calls, call)
		}
	}
	t := b.turn(s, model, stored, in)
	t.ctx = ctx
	return t, calls, nil
}

// callID identifies a call in its step: round, number, answer.
func callID(in engine.UseToolsIn, i int) string { return fmt.Sprintf("%d/%d/%s", in.Round, i, in.Raw) }
