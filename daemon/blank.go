package daemon

import (
	"context"
	"errors"

	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/step"
)

// previewer makes the workflow's activities over the journal as a reader, or over nothing where nothing was run yet. What
// would be stored is refused: previewing has no side effect.
func (a *Workspace) Previewer(ctx context.Context) (*step.Workflow, func(), error) {
	done := func() {}
	kept := stores{Blobs: blank{}, Memory: blank{}}
	j, err := journal.OpenReader(ctx, a.StateDir)
	if err == nil {
		kept, done = storesOf(j), func() { j.Close() }
	}
	flow, err := a.Flow(kept)
	if flow != nil {
		flow.Models, flow.Origin.ReadOnly = modelset.Unasked{Set: a.Models}, true
	}
	if flow != nil && j != nil {
		flow.Cache = j.Answers
	}
	return flow, done, err
}

// blank is the memory of a vault on which nothing was ever run.
type blank struct{}

var errPreview = errors.New("a preview stores nothing")

// Done implements directives.Pending.
func (blank) Done(context.Context, directives.PendingKey, string, string) (bool, error) {
	return false, nil
}

// Writing implements step.Memory.
func (blank) Writing(context.Context, engine.StepRef, []engine.StagedFile) error { return errPreview }

// OwnWrite implements step.Memory.
func (blank) OwnWrite(context.Context, string, string, string) (bool, error) { return false, nil }

// Committed implements step.Memory.
func (blank) Committed(context.Context, engine.StepRef, []engine.Mark, []engine.Var) error {
	return errPreview
}

// Variable implements step.Memory.
func (blank) Variable(context.Context, string, string) (v engine.Var, set bool, err error) {
	return engine.Var{}, false, nil
}

// Put implements step.Blobs.
func (blank) Put(context.Context, []byte) (string, error) { return "", errPreview }

// Get implements step.Blobs.
func (blank) Get(context.Context, string) ([]byte, error) { return nil, engine.ErrNotFound }
