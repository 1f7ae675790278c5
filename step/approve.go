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

// Approvals keeps what waits for a person's yes, and what people said.
type Approvals interface {
	// Propose keeps proposals of a work that are not kept yet, withdraws its open ones that are not in the list, and gives
	// those of the list with what was decided about them.
	Propose(ctx context.Context, ref engine.StepRef, list []engine.Proposal, now time.Time) ([]engine.Proposal, error)
}

// Approver asks people.
type Approver struct {
	plans     *Plans
	stored    Stored
	changes   *change.Maker
	approvals Approvals // may be nil
	tools     Tools
	now       func() time.Time
}

// Approve asks people about files or calls, and parks the run until one of the files, or all of the calls, are decided.
func (a *Approver) Approve(ctx context.Context, in engine.ApproveIn) (out engine.ApproveOut, err error) {
	s, err := a.plans.Context(ctx, in.StepRef)
	if err != nil {
		return out, err
	}
	if a.approvals == nil || s.Step.Approve == nil {
		return out, failure.New(failure.Internal, "", "nobody can be asked here")
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
	now := a.now()
	for i := range list {
		p := &list[i]
		p.Run, p.Workflow, p.Index, p.Step, p.Batch, p.Created = in.Run, in.Workflow, in.Index, in.Step, in.Batch, now
		if d := s.Step.Approve.Timeout; d > 0 {
			p.Deadline = now.Add(d)
		}
	}
	held, err := a.approvals.Propose(ctx, in.StepRef, list, now)
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
	if in.Revise {
		out.Reply, err = a.whyNot(ctx, slices.Concat(in.Declined, out.Verdicts))
	}
	return out, err
}

// whyNot is what a model is told whose files a person rejected and said why; empty when nobody said why.
func (a *Approver) whyNot(ctx context.Context, verdicts []engine.Verdict) (string, error) {
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
	return a.stored.PutBlocks(ctx, []content.Block{content.Text{Value: text}})
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
	return list, settled, nil
}

// callOf returns the place of a call that a proposal's key names.
func callOf(key string) string {
	_, rest, _ := strings.Cut(key, ":")
	call, _, _ := strings.Cut(rest, ":")
	return call
}

// ApprovalsDir is the folder of the notes in which people approve, below the folder of the workflows. Nothing that a model
// has a hand in writes there: a box that is ticked is a yes.
const ApprovalsDir = policy.ApprovalsDir
