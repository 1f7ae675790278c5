package steptest

import (
	"context"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// People are asked, and say what a test wants: yes, no or nothing, by what is proposed.
type People struct {
	Says  map[string]string // "append a.md" and so on: a decision
	By    string
	Asked []engine.Proposal

	Reason string
	Edited map[string]string // blobs, by what is proposed

	first  map[string]time.Time // when it was proposed first, by key
	agreed map[string][]byte    // sketches of prompts, by key
}

// ApprovedPrompt implements step.Approvals.
func (p *People) ApprovedPrompt(_ context.Context, key string) ([]byte, bool, error) {
	sketch, found := p.agreed[key]
	return sketch, found, nil
}

// KeepPrompt implements step.Approvals.
func (p *People) KeepPrompt(_ context.Context, _ engine.StepRef, key string, sketch []byte, _ time.Time) error {
	if p.agreed == nil {
		p.agreed = map[string][]byte{}
	}
	p.agreed[key] = sketch
	return nil
}

// Propose implements step.Approvals.
func (p *People) Propose(_ context.Context, _ engine.StepRef, list []engine.Proposal, _ time.Time) ([]engine.Proposal, error) {
	p.Asked = list
	var held []engine.Proposal
	if p.first == nil {
		p.first = map[string]time.Time{}
	}
	for _, q := range list {
		if at, known := p.first[q.Key]; known {
			q.Created = at
		}
		p.first[q.Key] = q.Created
		q.Decision, q.By = p.Says[q.String()], p.By
		if q.Edited = p.Edited[q.String()]; q.Decision == engine.ProposalRejected {
			q.Reason = p.Reason
		}
		held = append(held, q)
	}
	return held, nil
}

// Decide decides about proposals.
func (p *People) Decide(decision string, what ...string) {
	for _, w := range what {
		p.Says[w] = decision
	}
}
