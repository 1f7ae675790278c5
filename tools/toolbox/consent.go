package toolbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools"
)

// NeedsYes reports whether `@approve tools` asks before calls of a tool, by the name that workflows use. Tools of MCP servers count
// as changing something, because their servers are not asked.
func NeedsYes(tool string) bool {
	return changesFiles(tool) || tool == tools.RunWorkflow || !slices.Contains(Names(), tool)
}

// asks reports whether calls with an effect need approval in a step.
func asks(s step.Context) bool { return s.Step.Approve != nil && s.Step.Approve.Tools }

// Propose implements step.Tools. It tries calls that change a file without making the change, to show it. A call that fails there
// needs no approval, because it will fail again.
func (b *Box) Propose(ctx context.Context, s step.Context, in engine.UseToolsIn) ([]engine.Proposal, error) {
	t, calls, err := b.round(ctx, s, in)
	if err != nil {
		return nil, err
	}
	t.trial = &trial{contents: map[string][]byte{}}
	c := consent{t}
	var list []engine.Proposal
	for i, call := range calls {
		if !c.needed(call.Name) {
			continue
		}
		p := engine.Proposal{Kind: engine.ProposalCall, Tool: t.registry.Called(call.Name), Origins: in.Origins}
		if changesFiles(call.Name) {
			t.call = callID(in, i)
			if err := c.try(ctx, call, &p); err != nil {
				return nil, err
			}
			if p.Kind == engine.ProposalCall {
				continue
			}
		} else if p.Input, err = b.stored.Blobs.Put(ctx, indented(call.Input)); err != nil {
			return nil, err
		}
		p.Key = fmt.Sprintf("call:%s:%s:%s", callID(in, i), p.Before, p.After)
		list = append(list, p)
	}
	return list, nil
}

func indented(input json.RawMessage) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, input, "", "  "); err != nil {
		return input
	}
	return b.Bytes()
}

// trial records what calls would change, instead of changing it.
type trial struct {
	contents map[string][]byte // after earlier calls of the round
	change   *tools.Change     // of the current call
}

// consent is what was decided about the calls of a turn.
type consent struct{ t *turn }

// try makes a call without changing anything, and adds what it would change to its proposal.
func (c consent) try(ctx context.Context, call content.ToolCall, p *engine.Proposal) error {
	t := c.t
	t.ctx, t.trial.change = ctx, nil
	t.registry.Run(ctx, call)
	wanted := t.trial.change
	if wanted == nil {
		return ctx.Err()
	}
	p.Kind, p.Name, p.To, p.Before = wanted.Kind, wanted.Name, wanted.To, wanted.Base
	if err := t.box.changes.KeepShown(ctx, guardedStore{&callStore{t: t}}, p.Name, p.Before); err != nil {
		return err
	}
	var err error
	switch wanted.Kind {
	case tools.ChangeCreate, tools.ChangeWrite:
		t.trial.contents[wanted.Name] = wanted.Data
		p.After, err = t.box.stored.Blobs.Put(ctx, wanted.Data)
	case tools.ChangeMove:
		p.After = wanted.Base
		var move engine.Change
		if move, err = t.box.mover.Identified(wanted.Name, wanted.To); err == nil {
			p.Name, p.Linked = move.Name, t.box.mover.Linked(move)
		}
	}
	return err
}

// needed reports whether calls of a tool need approval.
func (c consent) needed(tool string) bool { return asks(c.t.s) && c.t.registry.NeedsYes(tool) }

// verdict returns the decision about the current call.
func (c consent) verdict() (engine.Verdict, bool) {
	i := slices.IndexFunc(c.t.in.Verdicts, func(v engine.Verdict) bool { return v.Call == c.t.call })
	if i < 0 {
		return engine.Verdict{}, false
	}
	return c.t.in.Verdicts[i], true
}

// editedWords end the result of a call whose content the user edited.
const editedWords = ". The user edited the content before approving it: the file has the edited content"

// edited adds to a result that the user edited the content.
func (c consent) edited(result content.ToolResult) content.ToolResult {
	if v, asked := c.verdict(); asked && v.Edited != "" && result.Success {
		result.Output += editedWords
	}
	return result
}

// note records an approved call that failed: the person who approved it expects its effect.
func (c consent) note(tool string, result content.ToolResult) {
	if v, asked := c.verdict(); asked && v.Approved && !result.Success {
		c.t.undone = append(c.t.undone, fmt.Sprintf("%s: %s", cmp.Or(v.Effect, tool), result.Error))
	}
}

// denied returns the result of a call that was not approved, if it was not.
func (c consent) denied(tool string) (content.ToolResult, bool) {
	if !c.needed(tool) {
		return content.ToolResult{}, false
	}
	switch v, asked := c.verdict(); {
	case asked && v.Approved || !asked && changesFiles(tool): // its store checks these
		return content.ToolResult{}, false
	case !asked:
		return tools.Failed("this call was not submitted for approval: call again"), true
	case v.By == engine.DecidedTimeout:
		return tools.Failed("this call was not approved in time, and nothing was done. Continue without it"), true
	case v.Reason != "":
		return tools.Failed("the user rejected this call, and nothing was done. The reason: %s", v.Reason), true
	}
	return tools.Failed("the user rejected this call, and nothing was done. Continue without it"), true
}
