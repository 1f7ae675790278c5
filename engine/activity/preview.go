package activity

import (
	"context"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/workflow"
)

// Previewed is what a step would send now.
type Previewed struct {
	Missing  []string       // required inputs that were not found: the step would be skipped
	Model    string         // alias; empty for @model none
	Prompt   *prompt.Prompt // nil when nothing would be sent
	Warnings []string       // of resolving; the prompt's own stand in its receipt
}

// Preview does what a run does up to the model call: it resolves a step's inputs and builds its prompt. It reads, and
// has no side effect. Variables that earlier steps would set are not set.
func (w *Workflow) Preview(ctx context.Context, plan workflow.Plan, index int, at time.Time) (Previewed, error) {
	if index < 0 || index >= len(plan.Steps) {
		return Previewed{}, fmt.Errorf("the workflow has no step %d", index)
	}
	step := plan.Steps[index]
	s := scene{plan: plan, step: step, facts: FactsOf(plan, step.Name, "preview", at)}
	var out Previewed
	var resolved []engine.ResolvedInput
	for _, input := range step.Inputs {
		found, warnings, err := w.resolveInput(ctx, s, input, nil)
		if err != nil {
			return out, err
		}
		for _, warning := range warnings {
			out.Warnings = append(out.Warnings, warning.String())
		}
		if input.Required && len(found.Files) == 0 && found.Digest == "" {
			out.Missing = append(out.Missing, input.Target.String())
		}
		resolved = append(resolved, found)
	}
	out.Model = plan.Alias(step, w.DefaultModel)
	if out.Model == "" {
		return out, nil
	}
	built, _, err := w.build(ctx, s, resolved, out.Model)
	out.Prompt = built
	return out, err
}
