package trigger

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// announcer fires on_import.
type announcer struct {
	cfg   *Config
	runs  launcher
	waits *watching // gathers the notes of imports as it does changed files
}

// announce passes finished imports on, once for each, also across restarts: an import counts as announced when the journal has its
// notices.
func (a announcer) announce(ctx context.Context, plans []*workflow.Plan) {
	finished, err := a.cfg.Imports.Unannounced(ctx)
	a.waits.unsure = err != nil
	if err != nil {
		if ctx.Err() == nil {
			a.cfg.failed(ctx, "finished imports not read", "err", err)
		}
		return
	}
	for _, r := range finished {
		err := a.imported(ctx, plans, r)
		if err == nil {
			err = a.cfg.Imports.Announced(ctx, r.ID)
		}
		if err != nil {
			a.waits.unsure = true
			a.cfg.failed(ctx, "import not announced", "name", r.Source, "err", err)
		}
	}
}

// fires reports whether an import fires a workflow. A note that arrived with its pictures was packed with them, and is still a note.
func fires(on *workflow.OnImport, r engine.ImportRecord) bool {
	packed := r.Kind == string(filetype.KindArchive) && r.Pages == 1
	return on.Fires(r.Source) || packed && on.Fires(strings.TrimSuffix(r.Source, path.Ext(r.Source))+".md")
}

// imported adds an import to the batches of the workflows that it fires. The loop guard also holds for files that a run has put
// into the import folder.
func (a announcer) imported(ctx context.Context, plans []*workflow.Plan, r engine.ImportRecord) error {
	writers, err := a.cfg.Writers.Writers(ctx, r.Source, r.SHA256)
	if err != nil {
		return err
	}
	causes := causesOf(writers)
	var news []engine.Notice
	for _, p := range plans {
		if !p.Meta.Enabled || !fires(p.Meta.OnImport, r) || a.waits.knows(p.Name, r.ID) {
			continue
		}
		if slices.Contains(causes, p.Name) {
			trigger := engine.Trigger{Kind: engine.TriggerOnImport, Files: []string{r.Note}, Import: r.ID, Causes: causes}
			if _, err := a.runs.refuse(ctx, p, trigger, loopReason(p.Name, writers)); err != nil {
				if transient(err) {
					return err
				}
				a.cfg.failed(ctx, "refused run not stored", "workflow", p.Name, "name", r.Source, "err", err)
			}
			continue
		}
		n := engine.Notice{Workflow: p.Name, File: vault.File{Name: r.Note}, Import: r.ID, Causes: causes, Time: a.cfg.Now()}
		n.Batch = a.waits.openFor(p, n)
		news = append(news, n)
	}
	if len(news) == 0 {
		return nil
	}
	if err := a.cfg.Watches.Notice(ctx, news); err != nil {
		return err
	}
	for _, n := range news {
		a.waits.join(planOf(plans, n.Workflow), n)
	}
	return nil
}
