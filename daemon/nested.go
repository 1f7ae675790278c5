package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/workflow"
)

// nested lets models run workflows of the vault; see activity.Runs. The zero value is for previews, which name the tool and
// start nothing.
type nested struct{ w *Process }

// Plan implements activity.Runs: a workflow without triggers, or one whose triggers may fire now.
func (n nested) Plan(ctx context.Context, name string) (*workflow.Plan, error) {
	plan, err := n.w.Workflows.Named(name)
	if err != nil {
		return nil, err
	}
	if plan.Meta.Triggered() && !plan.Meta.Enabled {
		return nil, errors.New("it has a trigger and is switched off: only a person runs it (enabled: true would change that)")
	}
	if err := n.w.Trust.mayNest(plan); err != nil {
		return nil, err
	}
	why, err := trigger.Barred(ctx, n.w.Journal.Runs, plan, time.Now(), n.w.Zone)
	if err != nil {
		return nil, fmt.Errorf("look at its runs: %w", err)
	}
	if why != "" {
		return nil, errors.New(why)
	}
	return plan, nil
}

// Asked implements activity.Runs.
func (n nested) Asked(ctx context.Context, key string) (engine.RunRecord, error) {
	return n.w.Journal.Runs.Asked(ctx, key)
}

// Run implements activity.Runs.
func (n nested) Run(ctx context.Context, id string) (engine.RunRecord, error) {
	return n.w.Journal.Runs.Run(ctx, id)
}

// Start implements activity.Runs.
func (n nested) Start(ctx context.Context, r engine.Request) (engine.Started, error) {
	return n.w.Exec.Start(ctx, r)
}

// Wait implements activity.Runs.
func (n nested) Wait(ctx context.Context, run string) (engine.RunRecord, error) {
	return n.w.Exec.Wait(ctx, run)
}
