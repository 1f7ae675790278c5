package trigger

import (
	"context"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// Watches keep changes until the run that they ask for is stored, and what watched files held when they were looked at.
type Watches interface {
	// Notice stores news of files in one transaction. The file itself is kept for workflows that Watch was called for.
	Notice(ctx context.Context, news []engine.Notice) error
	// Noticed gives the news of batches that were not delivered, oldest first.
	Noticed(ctx context.Context) ([]engine.Notice, error)
	// Delivered forgets a batch.
	Delivered(ctx context.Context, batch string) error
	// Watch keeps what files hold from now on for a workflow; Unwatch ends that.
	Watch(ctx context.Context, workflow, globs string, files []vault.File) error
	Unwatch(ctx context.Context, workflow string) error
	// Watched gives the files that are kept, by name; ok is false when they are not kept for these globs.
	Watched(ctx context.Context, workflow, globs string) (files map[string]vault.File, ok bool, err error)
	// Holds says whether a file is kept with this content.
	Holds(ctx context.Context, workflow, name, sha256 string) (bool, error)
}

// Changed tells of a change. It waits while very many changes are being looked at, at most until ctx ends.
func (t *Triggers) Changed(ctx context.Context, c vault.Change) {
	select {
	case t.changes <- c:
	case <-ctx.Done():
	}
}

// gather adds changes to the batches of the workflows that watch the files.
func (t *Triggers) gather(ctx context.Context, changes []vault.Change) {
	if len(changes) == 0 {
		return
	}
	plans := t.cfg.Plans()
	for _, c := range changes {
		if t.cfg.Ours != nil && t.cfg.Ours(c.Name) {
			continue
		}
		var watching []*workflow.Plan
		for _, p := range plans {
			if p.Meta.Enabled && p.Meta.Watches(c.Name) {
				watching = append(watching, p)
			}
		}
		if err := t.take(ctx, watching, c); err != nil {
			t.cfg.Logger.Error("change not looked at, it is tried again", "name", c.Name, "err", err)
			t.unseen = append(t.unseen, c)
		}
	}
	t.save(ctx)
}

// take adds a change to the batches of some workflows, except of those that know the file with this content.
func (t *Triggers) take(ctx context.Context, plans []*workflow.Plan, c vault.Change) error {
	if len(plans) == 0 {
		return nil
	}
	writers, err := t.cfg.Writers.Writers(ctx, c.Name, c.SHA256)
	if err != nil {
		return err
	}
	known := make([]bool, len(plans))
	for i, p := range plans {
		if c.Op == vault.OpRemove || c.SHA256 == "" {
			continue
		}
		if known[i], err = t.cfg.Watches.Holds(ctx, p.Name, c.Name, c.SHA256); err != nil {
			return err
		}
	}
	for i, p := range plans {
		n := engine.Notice{Workflow: p.Name, File: c.File, Gone: c.Op == vault.OpRemove, Time: t.cfg.Now()}
		if c.Op != vault.OpRemove && !known[i] {
			t.judge(p, &n, writers)
		}
		t.unsaved = append(t.unsaved, n)
	}
	return nil
}

// judge puts a change into the batch of a workflow, unless it is the workflow's own work, or that of a run which it has
// set off.
func (t *Triggers) judge(p *workflow.Plan, n *engine.Notice, writers []engine.Writer) {
	if slices.ContainsFunc(writers, func(w engine.Writer) bool { return w.Workflow == p.Name }) {
		return
	}
	causes := causesOf(writers)
	if slices.Contains(causes, p.Name) {
		t.loops.add(p, n.File.Name, causes, loopReason(p.Name, writers))
		return
	}
	n.Causes = causes
	n.Batch = t.batchFor(p, *n).id
}

// retry looks again at changes of which the journal could not be asked.
func (t *Triggers) retry(ctx context.Context) {
	again := t.unseen
	t.unseen = nil
	t.gather(ctx, again)
}

// save gives the journal what it has not taken yet.
func (t *Triggers) save(ctx context.Context) {
	for _, l := range t.loops {
		if _, err := t.refuse(ctx, l.plan, l.trigger, l.why); err != nil {
			t.cfg.Logger.Error("refused run not stored", "workflow", l.plan.Name, "err", err)
		}
	}
	t.loops = nil
	if len(t.unsaved) == 0 {
		return
	}
	if err := t.cfg.Watches.Notice(ctx, t.unsaved); err != nil {
		t.cfg.Logger.Error("changes not stored, it is tried again", "count", len(t.unsaved), "err", err)
		return
	}
	t.unsaved = nil
}
