package trigger

import (
	"context"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

// announcer fires on_import.
type announcer struct {
	cfg  *Config
	runs launcher
}

// announce fires on_import for finished imports, once for each, also across restarts: the key names the import.
func (a announcer) announce(ctx context.Context, plans []*workflow.Plan) {
	finished, err := a.cfg.Imports.Unannounced(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.cfg.Logger.Error("finished imports not read", "err", err)
		}
		return
	}
	for _, r := range finished {
		if err := a.imported(ctx, plans, r); err != nil {
			a.cfg.Logger.Error("import not announced", "name", r.Source, "err", err)
			continue
		}
		if err := a.cfg.Imports.Announced(ctx, r.ID); err != nil {
			a.cfg.Logger.Error("import not announced", "name", r.Source, "err", err)
		}
	}
}

// imported asks for the runs of an import. The loop guard holds for files too that a run has dropped into the import folder.
func (a announcer) imported(ctx context.Context, plans []*workflow.Plan, r engine.ImportRecord) error {
	writers, err := a.cfg.Writers.Writers(ctx, r.Source, r.SHA256)
	if err != nil {
		return err
	}
	trigger := engine.Trigger{Kind: engine.TriggerOnImport, Files: []string{r.Note}, Import: r.ID, Causes: causesOf(writers)}
	for _, p := range plans {
		if !p.Meta.Enabled || !p.Meta.OnImport.Fires(r.Source) {
			continue
		}
		if slices.Contains(trigger.Causes, p.Name) {
			_, err = a.runs.refuse(ctx, p, trigger, loopReason(p.Name, writers))
		} else {
			_, err = a.runs.start(ctx, p, fmt.Sprintf("on_import:%s:%s", p.Name, r.ID), trigger, a.cfg.Now())
		}
		if err != nil && transient(err) {
			return err
		}
		if err != nil {
			a.cfg.Logger.Error("import starts no run", "workflow", p.Name, "name", r.Source, "err", err)
		}
	}
	return nil
}
