package step

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/tools"
)

// Approvals keeps what waits for a person's yes, and what people said.
type Approvals interface {
	// Propose keeps proposals of a work that are not kept yet, withdraws its open ones that are not in the list, and gives
	// those of the list with what was decided about them.
	Propose(ctx context.Context, ref engine.StepRef, list []engine.Proposal, now time.Time) ([]engine.Proposal, error)
}

// Approve asks people about files or calls, and parks the run until one of the files, or all of the calls, are decided.
func (w *Workflow) Approve(ctx context.Context, in engine.ApproveIn) (out engine.ApproveOut, err error) {
	s, err := w.scene(ctx, in.StepRef)
	if err != nil {
		return out, err
	}
	if w.Approvals == nil || s.step.Approve == nil {
		return out, failure.New(failure.Internal, "", "nobody can be asked here")
	}
	var list []engine.Proposal
	if in.Tools != nil {
		list, err = w.proposedCalls(ctx, s, *in.Tools)
	} else {
		list, out.Verdicts, err = w.proposedFiles(ctx, in)
	}
	if err != nil {
		return out, err
	}
	now := w.now()
	for i := range list {
		p := &list[i]
		p.Run, p.Workflow, p.Index, p.Step, p.Batch, p.Created = in.Run, in.Workflow, in.Index, in.Step, in.Batch, now
		if d := s.step.Approve.Timeout; d > 0 {
			p.Deadline = now.Add(d)
		}
	}
	held, err := w.Approvals.Propose(ctx, in.StepRef, list, now)
	if err != nil {
		return out, err
	}
	var open []engine.Proposal
	for _, p := range held {
		if p.Open() {
			open = append(open, p)
			continue
		}
		v := engine.Verdict{Name: p.Name, Before: p.Before, After: p.After, Approved: p.Decision == engine.ProposalApproved, By: p.By, Who: p.Who, Reason: p.Reason, Edited: p.Edited}
		if in.Tools != nil {
			v.Name, v.Call = "", callOf(p.Key)
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	if len(open) > 0 && (in.Tools != nil || len(out.Verdicts) == 0) {
		return out, waitFor(open)
	}
	if in.Tells {
		out.Reply, err = w.whyNot(ctx, slices.Concat(in.Declined, out.Verdicts))
	}
	return out, err
}

// whyNot is what a model is told whose files a person rejected and said why; empty when nobody said why.
func (w *Workflow) whyNot(ctx context.Context, verdicts []engine.Verdict) (string, error) {
	var lines []string
	said := false
	for _, v := range verdicts {
		if v.Approved {
			continue
		}
		said = said || v.Reason != ""
		lines = append(lines, fmt.Sprintf("- %s: %s", visible.Name(v.Name), cmp.Or(v.Reason, "no reason was given")))
	}
	if !said {
		return "", nil
	}
	text := "Your answer was not written: the person who reads it before did not agree. What this person said, in their own words:\n" +
		strings.Join(lines, "\n") + "\n\nAnswer the task again, whole, and do what the person asks. Give the result only."
	return w.putBlocks(ctx, []content.Block{content.Text{Value: text}})
}

// waitFor parks the run until somebody has decided.
func waitFor(open []engine.Proposal) error {
	more := ""
	if n := len(open) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return engine.Park("", "waits for a person's yes: %s%s", open[0].What(), more)
}

// proposedFiles are the staged contents that a person has to agree to. A file that has its new content already needs
// nobody.
func (w *Workflow) proposedFiles(ctx context.Context, in engine.ApproveIn) (list []engine.Proposal, settled []engine.Verdict, err error) {
	for _, f := range in.Files {
		if f.New == f.Base {
			settled = append(settled, engine.Verdict{Name: f.Name, Approved: true})
			continue
		}
		p := engine.Proposal{Kind: engine.ChangeCreate, Name: f.Name, Before: f.Base, After: f.New, Again: in.Again, Origins: in.Origins, NameFrom: f.NameFrom}
		if f.Base != "" {
			p.Kind = engine.ChangeWrite
		}
		p.Key = "file:" + f.Name + ":" + f.Base + ":" + f.New
		if err := w.keepShown(ctx, w.Vault, p); err != nil {
			return nil, nil, err
		}
		list = append(list, p)
	}
	return list, settled, nil
}

// keepShown makes a blob of the content before, so that people see what would change. One that has changed meanwhile, or
// is too large, is not shown.
func (w *Workflow) keepShown(ctx context.Context, from reads, p engine.Proposal) error {
	if p.Before == "" {
		return nil
	}
	data, digest, err := from.Read(p.Name, w.MaxText)
	if err != nil || digest != p.Before {
		return nil //nolint:nilerr // the write will find out what is wrong with the file
	}
	_, err = w.Blobs.Put(ctx, data)
	return err
}

// reads is a place where files are read.
type reads interface {
	Read(name string, limit int64) (data []byte, sha256 string, err error)
}

// proposedCalls are the calls of a round that a person has to agree to. Those that change a file are tried without doing
// it, so that people see the change; one that fails there needs nobody's yes, because it will fail again.
func (w *Workflow) proposedCalls(ctx context.Context, s scene, in engine.UseToolsIn) ([]engine.Proposal, error) {
	box, calls, err := w.round(ctx, s, in)
	if err != nil {
		return nil, err
	}
	box.trial = &trial{contents: map[string][]byte{}}
	var list []engine.Proposal
	for i, call := range calls {
		if !box.asks(call.Name) {
			continue
		}
		p := engine.Proposal{Kind: engine.ProposalCall, Tool: box.registry.Called(call.Name), Origins: in.Origins}
		if changesFiles(call.Name) {
			box.call = callID(in, i)
			if err := box.tries(ctx, call, &p); err != nil {
				return nil, err
			}
			if p.Kind == engine.ProposalCall {
				continue
			}
		} else if p.Input, err = w.Blobs.Put(ctx, indented(call.Input)); err != nil {
			return nil, err
		}
		p.Key = fmt.Sprintf("call:%s:%s:%s", callID(in, i), p.Before, p.After)
		list = append(list, p)
	}
	return list, nil
}

// callID is the place of a call in its step: round, number, answer.
func callID(in engine.UseToolsIn, i int) string { return fmt.Sprintf("%d/%d/%s", in.Round, i, in.Raw) }

// callOf takes it out of a proposal's key.
func callOf(key string) string {
	_, rest, _ := strings.Cut(key, ":")
	call, _, _ := strings.Cut(rest, ":")
	return call
}

func indented(input json.RawMessage) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, input, "", "  "); err != nil {
		return input
	}
	return b.Bytes()
}

// trial takes down what calls would change.
type trial struct {
	contents map[string][]byte // that earlier calls of the round would leave
	change   *tools.Change     // of the call at work
}

// tries carries a call out without changing anything, and puts what it would change into its proposal.
func (b *toolbox) tries(ctx context.Context, call content.ToolCall, p *engine.Proposal) error {
	b.ctx, b.trial.change = ctx, nil
	b.registry.Run(ctx, call)
	c := b.trial.change
	if c == nil {
		return ctx.Err()
	}
	p.Kind, p.Name, p.To, p.Before = c.Kind, c.Name, c.To, c.Base
	if err := b.w.keepShown(ctx, guardedStore{&callStore{toolbox: b}}, *p); err != nil {
		return err
	}
	var err error
	switch c.Kind {
	case tools.ChangeCreate, tools.ChangeWrite:
		b.trial.contents[c.Name] = c.Data
		p.After, err = b.w.Blobs.Put(ctx, c.Data)
	case tools.ChangeMove:
		p.After = c.Base
	}
	return err
}

// guardedStore is the vault to a call that needs a person's yes, or is only tried. It implements tools.Store.
type guardedStore struct{ *callStore }

// Read implements tools.Store: of calls that are tried a later one sees what an earlier one would leave.
func (g guardedStore) Read(name string, limit int64) ([]byte, string, error) {
	if g.trial != nil {
		if data, ok := g.trial.contents[name]; ok {
			return data, digestOf(data), nil
		}
	}
	return g.callStore.Read(name, limit)
}

// Change implements tools.Store: what is done is what the person saw, and nothing else.
func (g guardedStore) Change(ctx context.Context, c tools.Change) error {
	shown, _, err := g.inert(ctx, c, g)
	if err != nil {
		return g.unlessPassing(stateFailure(err))
	}
	if g.trial != nil {
		g.trial.change = &shown
		return nil
	}
	after := ""
	switch c.Kind {
	case tools.ChangeCreate, tools.ChangeWrite:
		after = digestOf(shown.Data)
	case tools.ChangeMove:
		after = c.Base
	}
	v, asked := g.verdict()
	switch {
	case !asked:
		return errors.New("nobody was asked about this change: call again, and a person is")
	case v.Before != c.Base || v.After != after:
		return errors.New("it is not as it was when a person was asked: call again, and the person is asked about what would be changed now")
	}
	if v.Edited != "" {
		edited, err := g.w.Blobs.Get(ctx, v.Edited)
		if err != nil {
			return err
		}
		c.Data, c.Said = edited, c.Said+editedWords
		return g.put(ctx, c, nil) // a person's own words
	}
	return g.callStore.Change(ctx, c)
}

// editedWords tell the model that what it proposed is not what was written.
const editedWords = ". A person changed the content before agreeing to it: the file holds what the person wrote"

// edited adds to the result of a call that a person had changed its content.
func (b *toolbox) edited(result content.ToolResult) content.ToolResult {
	if v, asked := b.verdict(); asked && v.Edited != "" && result.Success {
		result.Output += editedWords
	}
	return result
}

// NeedsYes says of a tool, by the name that workflows have for it, whether `@approve tools` asks before it is called. Of one
// of another server that is not known before the server was asked: it is taken to change something.
func NeedsYes(tool string) bool {
	return changesFiles(tool) || tool == tools.RunWorkflow || !slices.Contains(ToolNames(), tool)
}

// store is the vault to a tool that changes files.
func (b *toolbox) store(tool string) tools.Store {
	c := &callStore{toolbox: b, tool: tool}
	if b.s.asks() {
		return guardedStore{c}
	}
	return c
}

// asks says whether a step's calls with an effect wait for a person.
func (s scene) asks() bool { return s.step.Approve != nil && s.step.Approve.Tools }

// asks says whether calls of a tool wait for a person.
func (b *toolbox) asks(tool string) bool { return b.s.asks() && b.registry.NeedsYes(tool) }

// verdict is what people said to the call at work.
func (b *toolbox) verdict() (engine.Verdict, bool) {
	i := slices.IndexFunc(b.in.Verdicts, func(v engine.Verdict) bool { return v.Call == b.call })
	if i < 0 {
		return engine.Verdict{}, false
	}
	return b.in.Verdicts[i], true
}

// denied is the result of a call that nobody agreed to, when it is one.
func (b *toolbox) denied(tool string) (content.ToolResult, bool) {
	if !b.asks(tool) {
		return content.ToolResult{}, false
	}
	switch v, asked := b.verdict(); {
	case asked && v.Approved || !asked && changesFiles(tool): // which its store looks at
		return content.ToolResult{}, false
	case !asked:
		return tools.Failed("nobody was asked about this call: call again, and a person is"), true
	case v.By == engine.DecidedTimeout:
		return tools.Failed("nobody approved this call in time: nothing was done. Go on without it"), true
	}
	if v, _ := b.verdict(); v.Reason != "" {
		return tools.Failed("a person rejected this call: nothing was done. The person's reason: %s", v.Reason), true
	}
	return tools.Failed("a person rejected this call: nothing was done. Go on without it"), true
}

// ApprovalsDir is the folder of the notes in which people approve, below the folder of the workflows. Nothing that a model
// has a hand in writes there: a box that is ticked is a yes.
const ApprovalsDir = policy.ApprovalsDir
