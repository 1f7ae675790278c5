package activity

import (
	"context"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/workflow"
)

// ToolNames are the tools that this version offers to models.
func ToolNames() []string { return []string{tools.ReadChunks} }

// toolSet is what a step offers to its model.
type toolSet struct {
	chunks *tools.ChunkReader // nil: nothing was deferred
}

// registry is what a model is offered: read_chunks when there is something to read, unless the step says `@tools none`.
// used is how many pictures tools have given in the step before.
func (w *Workflow) registry(step workflow.Step, model Model, stored storedPrompt, used int) toolSet {
	if len(stored.Chunks) == 0 || !model.Capabilities.Has(policy.Tools) || step.Tools != nil && step.Tools.None {
		return toolSet{}
	}
	reader := &tools.ChunkReader{Media: &tools.Allowance{Result: stored.Limits.ToolImages, Step: max(stored.Limits.StepImages-used, 0)}}
	for _, c := range stored.Chunks {
		reader.Chunks = append(reader.Chunks, tools.Chunk{ID: c.ID, Blocks: c.Blocks})
	}
	return toolSet{chunks: reader}
}

func (t toolSet) tools() tools.Registry {
	if t.chunks == nil {
		return nil
	}
	return tools.Registry{t.chunks.Tool()}
}

// UseTools carries out the calls of an answer, in order.
func (w *Workflow) UseTools(ctx context.Context, in engine.UseToolsIn) (engine.UseToolsOut, error) {
	s, err := w.scene(ctx, in.StepRef)
	if err != nil {
		return engine.UseToolsOut{}, err
	}
	stored, err := w.prompt(ctx, in.Prompt)
	if err != nil {
		return engine.UseToolsOut{}, err
	}
	if s.step.Model != nil && s.step.Model.Fallback == in.Model && stored.Fallback != nil {
		stored = *stored.Fallback
	}
	model, err := w.Models.Model(ctx, in.Model)
	if err != nil {
		return engine.UseToolsOut{}, modelFailure(err)
	}
	blocks, _, err := w.answer(ctx, in.Raw)
	if err != nil {
		return engine.UseToolsOut{}, err
	}
	set := w.registry(s.step, model, stored, in.Media)
	registry := set.tools()
	var results []content.Block
	for _, b := range blocks {
		call, isCall := b.(content.ToolCall)
		if !isCall {
			continue
		}
		if err := ctx.Err(); err != nil {
			return engine.UseToolsOut{}, fmt.Errorf("use tools: %w", err)
		}
		results = append(results, registry.Run(ctx, call))
	}
	var out engine.UseToolsOut
	if len(results) == 0 {
		return out, nil
	}
	if set.chunks != nil {
		out.Media, out.Shown = set.chunks.Media.Given(), set.chunks.Shown()
	}
	out.Reply, err = w.putBlocks(ctx, results)
	return out, err
}
