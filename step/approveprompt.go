package step

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/previewed"
)

// prompt asks for approval of a prompt that differs from the one that was approved last for the step and its files. One that waited is
// made again before it may be sent: the inputs can have changed meanwhile.
func (a *Approver) prompt(ctx context.Context, s Context, in engine.ApproveIn) (out engine.ApproveOut, err error) {
	key, verdict := previewKey(s), engine.Verdict{Name: "the prompt", Approved: true}
	sketch, err := a.sketch(ctx, in.Prompt.Sketch)
	if err != nil {
		return out, err
	}
	last, err := a.lastApproved(ctx, key)
	if err != nil {
		return out, err
	}
	if last.Digest == sketch.Digest {
		_, err := a.propose(ctx, s, in.StepRef, nil, a.now()) // withdraws what was asked for before
		return engine.ApproveOut{Verdicts: []engine.Verdict{verdict}}, err
	}
	p, err := a.proposedPrompt(ctx, s, in, sketch, last)
	if err != nil {
		return out, err
	}
	now := a.now()
	held, err := a.propose(ctx, s, in.StepRef, []engine.Proposal{p}, now)
	if err != nil {
		return out, err
	}
	p = held[0]
	verdict.Approved, verdict.By, verdict.Who, verdict.Reason = p.Decision == engine.ProposalApproved, p.By, p.Who, p.Reason
	out.Verdicts = []engine.Verdict{verdict}
	if p.Decision == engine.ProposalRejected {
		return out, nil
	}
	if !p.Created.Equal(now) {
		changed, err := a.outdated(ctx, in, sketch)
		if err != nil || len(changed) > 0 {
			return engine.ApproveOut{Outdated: changed}, err
		}
	}
	if p.Open() {
		return engine.ApproveOut{}, waitFor(held)
	}
	data, err := json.Marshal(sketch)
	if err != nil {
		return out, fmt.Errorf("encode what was approved: %w", err)
	}
	return out, a.approvals.KeepPrompt(ctx, in.StepRef, key, data, p.Decided)
}

// sketch reads the sketch of a prompt.
func (a *Approver) sketch(ctx context.Context, digest string) (sketch previewed.Sketch, err error) {
	data, err := a.stored.Blobs.Get(ctx, digest)
	if err != nil {
		return sketch, failure.New(failure.State, "start the workflow again", "read the parts of the prompt: %v", err)
	}
	if err := json.Unmarshal(data, &sketch); err != nil {
		return sketch, fmt.Errorf("read the parts of the prompt: %w", err)
	}
	return sketch, nil
}

// lastApproved returns the sketch of the prompt that was approved last; empty when none was.
func (a *Approver) lastApproved(ctx context.Context, key string) (last previewed.Sketch, err error) {
	data, found, err := a.approvals.ApprovedPrompt(ctx, key)
	if err != nil || !found {
		return last, err
	}
	if err := json.Unmarshal(data, &last); err != nil {
		return last, fmt.Errorf("read the approved prompt: %w", err)
	}
	return last, nil
}

// wouldAsk returns why a prompt would wait; nothing if it would not.
func (a *Approver) wouldAsk(ctx context.Context, s Context, now previewed.Sketch) ([]string, error) {
	if !s.Step.Approve.AsksPrompt() {
		return nil, nil
	}
	p := engine.Proposal{Kind: engine.ProposalPrompt}
	if a.approvals == nil {
		return p.Why(), nil
	}
	last, err := a.lastApproved(ctx, previewKey(s))
	if err != nil || last.Digest == now.Digest {
		return nil, err
	}
	if last.Digest != "" {
		p.Differences = previewed.Differences(last, now)
	}
	return p.Why(), nil
}

// outdated makes the prompt again, and returns how it differs from the one that waited.
func (a *Approver) outdated(ctx context.Context, in engine.ApproveIn, waited previewed.Sketch) ([]string, error) {
	found, err := a.resolve(ctx, engine.ResolveIn{StepRef: in.StepRef, Vars: in.Prompt.Vars, Trigger: in.Prompt.Trigger})
	if err != nil {
		return nil, err
	}
	if len(found.Missing) > 0 {
		return []string{"required input not found: " + strings.Join(found.Missing, ", ")}, nil
	}
	built, err := a.assemble(ctx, engine.AssembleIn{StepRef: in.StepRef, Inputs: found.Inputs, Vars: in.Prompt.Vars})
	if err != nil {
		return nil, err
	}
	now, err := a.sketch(ctx, built.Sketch)
	if err != nil {
		return nil, err
	}
	return previewed.Differences(waited, now), nil
}

// proposedPrompt returns the proposal to send a prompt, with the text that people read.
func (a *Approver) proposedPrompt(ctx context.Context, s Context, in engine.ApproveIn, now, last previewed.Sketch) (p engine.Proposal, err error) {
	p = engine.Proposal{Kind: engine.ProposalPrompt, Name: now.Model, Key: "prompt:" + now.Digest}
	if names := about(s); len(names) > 0 {
		p.Name += ", about " + engine.FileList(names)
	}
	if last.Digest != "" {
		p.Differences = previewed.Differences(last, now)
	}
	stored, err := a.stored.Prompt(ctx, in.Prompt.Prompt)
	if err != nil {
		return p, err
	}
	text, err := stored.readable()
	if err != nil {
		return p, err
	}
	if stored.Fallback != nil {
		second, err := stored.Fallback.readable()
		if err != nil {
			return p, err
		}
		text += "\n--- instead, if the call fails, to the fallback ---\n\n" + second
	}
	p.Input, err = a.stored.Blobs.Put(ctx, []byte("digest: "+now.Digest+"\n\n"+text))
	return p, err
}

// readable returns all of a prompt as people read it, without the code of its frames.
func (p Prompt) readable() (string, error) {
	blocks, err := content.UnmarshalBlocks(p.Blocks)
	if err != nil {
		return "", fmt.Errorf("read the prompt's blocks: %w", err)
	}
	var b strings.Builder
	b.WriteString(prompt.Text(&prompt.Prompt{System: p.System, Blocks: blocks}))
	for _, t := range p.Tools {
		fmt.Fprintf(&b, "\n--- tool %s ---\n%s\n%s\n", t.Name, t.Description, t.Parameters)
	}
	if len(p.Demand.Schema) > 0 {
		fmt.Fprintf(&b, "\n--- schema of the answer ---\n%s\n", p.Demand.Schema)
	}
	return prompt.WithoutNonce(b.String(), p.Nonce), nil
}
