package daemon

import (
	"testing"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/workflow"
)

// --model chooses the model of the steps that call one. A step with `@model none` still calls none, in runs and previews.
func TestUseModel(t *testing.T) {
	t.Parallel()
	plan := &workflow.Plan{Steps: []workflow.Step{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	plan.Steps[1].Model, plan.Steps[2].Model = &directives.Model{Alias: "cloud"}, &directives.Model{None: true}
	UseModel(plan, "lab")
	if plan.Alias(plan.Steps[0], "") != "lab" || plan.Alias(plan.Steps[1], "") != "lab" {
		t.Errorf("the steps call %q and %q", plan.Alias(plan.Steps[0], ""), plan.Alias(plan.Steps[1], ""))
	}
	if m := plan.Steps[2].Model; m == nil || !m.None {
		t.Errorf("the step without a model calls %+v", m)
	}
}
