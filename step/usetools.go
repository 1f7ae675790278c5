package step

import (
	"context"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/defuse"
	"github.com/vaultflow/vaultflow/tools"
)

// UseTools carries out the calls of an answer, in order. When it is repeated after a crash, a change of the vault that was
// made already is not made again.
func (w *Workflow) UseTools(ctx context.Context, in engine.UseToolsIn) (engine.UseToolsOut, error) {
	s, err := w.scene(ctx, in.StepRef)
	if err != nil {
		return engine.UseToolsOut{}, err
	}
	box, calls, err := w.round(ctx, s, in)
	if err != nil {
		return engine.UseToolsOut{}, err
	}
	var results []content.Block
	for i, call := range calls {
		if err := ctx.Err(); err != nil {
			return engine.UseToolsOut{}, fmt.Errorf("use tools: %w", err)
		}
		box.call = callID(in, i)
		result, err := box.use(ctx, call)
		if err != nil {
			return engine.UseToolsOut{}, err
		}
		results = append(results, result)
	}
	out := engine.UseToolsOut{
		Media: box.media.Given(), Vars: box.vars.set, Results: box.results, Changes: box.changes,
		Warnings: box.blocked, NestedUSD: box.nestedUSD, NestedFiles: box.nestedFiles,
		Defused: box.defused,
	}
	if all := policy.AddOrigins(in.Origins, append(box.origins, box.vars.origins...)...); len(all) > len(in.Origins) {
		out.Origins = all[len(in.Origins):]
	}
	if len(results) == 0 {
		return out, nil
	}
	if box.chunks != nil {
		out.Shown = box.chunks.Shown()
	}
	out.Reply, err = w.putBlocks(ctx, results)
	return out, err
}

// round gives the calls of an answer, and the toolbox for them.
func (w *Workflow) round(ctx context.Context, s scene, in engine.UseToolsIn) (*toolbox, []content.ToolCall, error) {
	stored, err := w.prompt(ctx, in.Prompt)
	if err != nil {
		return nil, nil, err
	}
	if s.step.Model != nil && s.step.Model.Fallback == in.Model && stored.Fallback != nil {
		stored = *stored.Fallback
	}
	model, err := w.Models.Model(ctx, in.Model)
	if err != nil {
		return nil, nil, modelFailure(err)
	}
	blocks, _, err := w.answer(ctx, in.Raw)
	if err != nil {
		return nil, nil, err
	}
	var calls []content.ToolCall
	for _, b := range blocks {
		if call, is := b.(content.ToolCall); is {
			calls = append(calls, call)
		}
	}
	box := w.toolbox(s, model, stored, in)
	box.ctx = ctx
	return box, calls, nil
}

// use carries out one call and sends its result where the workflow wants it.
func (b *toolbox) use(ctx context.Context, call content.ToolCall) (content.ToolResult, error) {
	before := b.media.Given()
	var result content.ToolResult
	found := false
	if b.registry.Effect(call.Name) == tools.EffectWrite {
		var err error
		store := callStore{toolbox: b, tool: call.Name}
		if result, found, err = store.again(ctx); err != nil {
			return result, err
		}
	}
	if !found {
		result, found = b.denied(call.Name)
	}
	if !found {
		result, found = b.refused(ctx, call.Name)
	}
	if !found {
		inert := len(b.defused)
		result = b.edited(b.registry.Run(ctx, call))
		if n := len(b.defused) - inert; n > 0 {
			result.Blocks = append(result.Blocks, content.Text{Value: fmt.Sprintf(
				"Made inert with the mark %s, because untrusted content was read before: %d places, such as line %d, %s. Leave them so.",
				defuse.Mark, n, b.defused[inert].Line, b.defused[inert].Reason)})
		}
	}
	if b.broken != nil {
		return result, b.broken
	}
	result.CallID = call.ID
	b.origins = policy.AddOrigins(b.origins, result.Origins...)
	if err := ctx.Err(); err != nil {
		return result, fmt.Errorf("use tools: %w", err)
	}
	return b.deliver(ctx, call.Name, result, b.media.Given()-before)
}
