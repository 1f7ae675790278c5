package activity

import (
	"context"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
)

// trust tells what is data from outside.
func (w *Workflow) trust() policy.Trust { return policy.Trust{ImportedDir: w.ImportedDir} }

// inputOrigins are the untrusted things among a step's inputs, those that are routed elsewhere too: their variables and
// files are as untrusted as an answer.
func (w *Workflow) inputOrigins(s scene, resolved []engine.ResolvedInput) []string {
	var reads []policy.Read
	for _, r := range resolved {
		trust := ""
		for _, in := range s.step.Inputs {
			if in.Index == r.Directive {
				trust = in.Trust
			}
		}
		if r.Variable != "" {
			reads = append(reads, policy.Read{Kind: policy.ReadVariable, Name: r.Variable, Trust: trust, Origins: r.Origins})
		}
		for _, f := range r.Files {
			reads = append(reads, policy.Read{Kind: policy.ReadFile, Name: f.Name, Trust: trust, Origins: r.Origins})
		}
	}
	return w.trust().Origins(reads)
}

// itemOrigins are the untrusted things that the list of an @for_each was made from.
func (w *Workflow) itemOrigins(ctx context.Context, s scene, vars []engine.Var) ([]string, error) {
	each := s.step.ForEach
	if each == nil || each.Target.Scheme != directives.SchemeVariable {
		return nil, nil
	}
	for _, scope := range []string{"run", "workflow"} {
		v, err := w.variable(ctx, s.plan.Name, each.Target.Path, scope, vars)
		if err != nil || v.Digest != "" {
			return v.Origins, err
		}
	}
	return nil, nil
}
