package daemon

import (
	"context"
	"errors"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
)

// blank is the memory of a vault on which nothing was ever run.
type blank struct{}

var errPreview = errors.New("a preview stores nothing")

// Done implements directives.Pending.
func (blank) Done(context.Context, directives.PendingKey, string, string) (bool, error) {
	return false, nil
}

// LastSeen implements step.Last.
func (blank) LastSeen(context.Context, directives.PendingKey, string) (string, error) { return "", nil }

// Writing implements step.Memory.
func (blank) Writing(context.Context, engine.StepRef, []engine.StagedFile) error { return errPreview }

// WrittenBy implements step.Memory.
func (blank) WrittenBy(context.Context, string, string) ([]string, error) { return nil, nil }

func (blank) Moved(context.Context, string, string) error          { return nil }
func (blank) Linked(context.Context, string, string, string) error { return nil }

// OwnWrite implements step.Memory.
func (blank) OwnWrite(context.Context, string, string, string) (bool, error) { return false, nil }

// EverWrote implements step.Memory.
func (blank) EverWrote(context.Context, string, string) (bool, error) { return false, nil }

// About implements step.Memory.
func (blank) About(context.Context, string, string) (string, error) { return "", nil }

// Written implements step.Memory.
func (blank) Written(context.Context, string, string) ([]engine.Change, error) { return nil, nil }

// Committed implements step.Memory.
func (blank) Committed(context.Context, engine.StepRef, []engine.Mark, []engine.Var) error {
	return errPreview
}

// Variable implements step.Memory.
func (blank) Variable(context.Context, string, string) (v engine.Var, set bool, err error) {
	return engine.Var{}, false, nil
}

// Parts implements step.Memory.
func (blank) Parts(context.Context, string, string, string) ([]engine.PartState, error) {
	return nil, nil
}

// ForgetPart implements step.Memory.
func (blank) ForgetPart(context.Context, engine.StepRef, engine.PartState) error { return errPreview }

// Put implements change.Blobs.
func (blank) Put(context.Context, []byte) (string, error) { return "", errPreview }

// Get implements change.Blobs.
func (blank) Get(context.Context, string) ([]byte, error) { return nil, engine.ErrNotFound }
