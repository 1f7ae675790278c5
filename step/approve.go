package step

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
)

// Approvals keeps proposals and the decisions about them.
type Approvals interface {
	// ApprovedPrompt returns the sketch of the prompt that was approved last under a key, and whether there is one.
	ApprovedPrompt(ctx context.Context, key string) (sketch []byte, found bool, err error)
	// KeepPrompt stores the sketch of a prompt that was approved, unless a later one was.
	KeepPrompt(ctx context.Context, ref engine.StepRef, key string, sketch []byte, approved time.Time) error
	// Propose adds the new proposals of the list, withdraws open ones that are not in it, and returns the list with all decisions.
	Propose(ctx context.Context, ref engine.StepRef, list []engine.Proposal, now time.Time) ([]engine.Proposal, error)
}

// Approver asks for approval.
type Approver struct {
	plans     *Plans
	stored    Stored
	changes   *change.Maker
	approvals Approvals // may be nil
	tools     Tools
	now       func() time.Time

	// What a prompt is made with, again.
	resolve  func(context.Context, engine.ResolveIn) (engine.ResolveOut, error)
	assemble func(context.Context, engine.AssembleIn) (engine.AssembleOut, error)
}

// Approve asks for approval of a prompt, of files or of calls, and parks the run until the prompt, one of the files, or all of the calls are
// decided.
func (a *Approver) Approve(ctx context.Context, in engine.ApproveIn) (out engine.ApproveOut, err error) {
	s, err := a.plans.Context(ctx, in.StepRef)
	if err != nil {
		return out, err
	}
	if a.approvals == nil || s.Step.Approve == nil {
		return out, failure.New(failure.Internal, "", "approvals are not available here")
	}
	if in.Prompt != nil {
		return a.prompt(ctx, s, in)
	}
	var list []engine.Proposal
	if in.Tools != nil {
		list, err = a.tools.Propose(ctx, s, *in.Tools)
	} else {
		list, out.Verdicts, err = a.proposedFiles(ctx, in)
	}
	if err != nil {
		return out, err
	}
	held, err := a.propose(ctx, s, in.StepRef, list, a.now())
	if err != nil {
		return out, err
	}
	var open []engine.Proposal
	for _, p := range held {
		if p.Open() {
			open = append(open, p)
			continue
		}
		v := engine.Verdict{Name: p.Name, To: p.To, Before: p.Before, After: p.After, Approved: p.Decision == engine.ProposalApproved, By: p.By, Who: p.Who, Reason: p.Reason, Edited: p.Edited}
		if in.Tools != nil {
			v.Name, v.To, v.Call, v.Effect = "", "", callOf(p.Key), p.What()
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	if len(open) > 0 && (in.Tools != nil || len(out.Verdicts) == 0) {
		return out, waitFor(open)
	}
	if in.Revise {
		out.Reply, err = a.whyNot(ctx, slices.Concat(in.Declined, out.Verdicts))
	}
	return out, err
}

// propose asks for approval, and returns what was decided.
func (a *Approver) propose(ctx context.Context, s Context, ref engine.StepRef, list []engine.Proposal, now time.Time) ([]engine.Proposal, error) {
	for i := range list {
		p := &list[i]
		p.Run, p.Workflow, p.Index, p.Step, p.Batch, p.Created = ref.Run, ref.Workflow, ref.Index, ref.Step, ref.Batch, now
		if d := s.Step.Approve.Timeout; d > 0 {
			p.Deadline = now.Add(d)
		}
	}
	return a.approvals.Propose(ctx, ref, list, now)
}

// whyNot stores the user's reasons for rejecting files, for the model. It returns "" if there are none.
func (a *Approver) whyNot(ctx context.Context, verdicts []engine.Verdict) (string, error) {
	var lines []string
	said := false
	for _, v := range verdicts {
		if v.Approved {
			continue
		}
		said = said || v.Reason != ""
		lines = append(lines, fmt.Sprintf("- %s: %s", visible.Name(v.What()), cmp.Or(v.Reason, "no reason")))
	}
	if !said {
		return "", nil
	}
	text := "Your answer was not written: the user rejected it, for these reasons:\n" +
		strings.Join(lines, "\n") + "\n\nAnswer the whole task again, and do what the user asks. Reply with the result only."
	return a.stored.PutBlocks(ctx, []content.Block{content.Text{Value: text}})
}

// waitFor parks the run until a decision.
func waitFor(open []engine.Proposal) error {
	more := ""
	if n := len(open) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return engine.Park("", "waits for approval: %s%s", open[0].What(), more)
}

// proposedFiles returns the staged files that need approval. A file that already has its new content needs none.
func (a *Approver) proposedFiles(ctx context.Context, in engine.ApproveIn) (list []engine.Proposal, settled []engine.Verdict, err error) {
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
		if err := a.changes.KeepShown(ctx, a.changes.Vault, p.Name, p.Before); err != nil {
			return nil, nil, err
		}
		list = append(list, p)
	}
	for _, m := range in.Moves {
		c := m.Change
		list = append(list, engine.Proposal{
			Kind: engine.ChangeMove, Name: c.Name, To: c.To, Key: "move:" + c.Name + ":" + c.To, Linked: m.Linked,
			Again: in.Again, Origins: in.Origins, NameFrom: m.NameFrom,
		})
	}
	return list, settled, nil
}

// callOf returns the call in a proposal's key.
func callOf(key string) string {
	_, rest, _ := strings.Cut(key, ":")
	call, _, _ := strings.Cut(rest, ":")
	return call
}

// ApprovalsDir is the folder of the approval notes, below the workflows folder. Nothing that a model influences is written there,
// because a ticked box is an approval.
const ApprovalsDir = policy.ApprovalsDir
