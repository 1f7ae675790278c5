package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/workflow"
)

// nested lets models run workflows of the vault. It implements step.Runs. The zero value is for previews, which name the tool and
// start nothing.
type nested struct {
	workflows *Workflows
	trust     *consent.Trust
	journal   *journal.Journal
	zone      *time.Location
	exec      func() *local.Executor
}

// Plan implements step.Runs: a workflow without triggers, or one whose triggers may fire now.
func (n nested) Plan(ctx context.Context, name string) (*workflow.Plan, error) {
	plan, err := n.workflows.Named(name)
	if err != nil {
		return nil, err
	}
	if plan.Meta.Triggered() && !plan.Meta.Enabled {
		return nil, errors.New("it has a trigger and is switched off: only the user can run it (enabled: true changes that)")
	}
	if err := n.trust.MayNest(plan); err != nil {
		return nil, err
	}
	why, err := trigger.Barred(ctx, n.journal.Runs, plan, time.Now(), n.zone)
	if err != nil {
		return nil, fmt.Errorf("look at its runs: %w", err)
	}
	if why != "" {
		return nil, errors.New(why)
	}
	return plan, nil
}

// Asked implements step.Runs.
func (n nested) Asked(ctx context.Context, key string) (engine.RunRecord, error) {
	return n.journal.Runs.Asked(ctx, key)
}

// Run implements step.Runs.
func (n nested) Run(ctx context.Context, id string) (engine.RunRecord, error) {
	return n.journal.Runs.Run(ctx, id)
}

// Start implements step.Runs.
func (n nested) Start(ctx context.Context, r engine.Request) (engine.Started, error) {
	return n.exec().Start(ctx, r)
}

// Wait implements step.Runs.
func (n nested) Wait(ctx context.Context, run string) (engine.RunRecord, error) {
	return n.exec().Wait(ctx, run)
}
