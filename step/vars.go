package step

import (
	"context"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
)

// Vars reads variables of a run, and those that a workflow keeps between runs.
type Vars struct {
	Memory Memory
	Blobs  change.Blobs
}

// Get returns a variable of a scope. Its digest is empty when the variable is not set.
func (v Vars) Get(ctx context.Context, workflow, name, scope string, vars []engine.Var) (engine.Var, error) {
	if scope == "workflow" {
		found, _, err := v.Memory.Variable(ctx, workflow, name)
		return found, err
	}
	for _, one := range vars {
		if one.Name == name {
			return one, nil
		}
	}
	return engine.Var{}, nil
}

// Find returns a variable of the run, or else of the workflow.
func (v Vars) Find(ctx context.Context, workflow, name string, vars []engine.Var) (engine.Var, error) {
	for _, scope := range []string{"run", "workflow"} {
		found, err := v.Get(ctx, workflow, name, scope, vars)
		if err != nil || found.Digest != "" {
			return found, err
		}
	}
	return engine.Var{}, nil
}

// Text returns the text of a variable, and whether it is set.
func (v Vars) Text(ctx context.Context, workflow, name string, vars []engine.Var) (text string, set bool, err error) {
	found, err := v.Find(ctx, workflow, name, vars)
	if err != nil || found.Digest == "" {
		return "", false, err
	}
	data, err := v.Blobs.Get(ctx, found.Digest)
	if err != nil {
		return "", false, failure.New(failure.State, "", "read variable %s: %v", name, err)
	}
	return string(data), true, nil
}
