package daemon

import (
	"context"
	"path"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/approval"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings/state"
	"github.com/vaultflow/vaultflow/step"
)

// Decide carries out what a person decided with a command.
func (w *Process) Decide(ctx context.Context, o control.ApproveOrder) error {
	d := engine.Decision{Run: o.Run, Items: o.Items, Approve: !o.Reject, By: engine.DecidedCommand, Reason: o.Reason}
	if o.Edited != nil {
		var err error
		if d.Edited, err = w.Journal.Blobs.Put(ctx, *o.Edited); err != nil {
			return err
		}
	}
	return w.desk.Decide(ctx, d)
}

// newDesk makes the place where decisions about runs arrive.
func newDesk(w *Process) (*approval.Desk, error) {
	secret, err := state.Secret(w.StateDir)
	if err != nil {
		return nil, err
	}
	return approval.New(approval.Config{
		Keys:      approval.NewKeys(secret),
		Proposals: w.Journal.Approvals, Blobs: w.Journal.Blobs, Files: w.Writing(policy.ByApprovals), Wake: w.Exec.Wake, Subscribe: w.Exec.Subscribe,
		Dir: path.Join(w.Settings.Vault.WorkflowsDir, step.ApprovalsDir), Zone: w.Zone, Logger: w.Log,
	}), nil
}
