package trigger

import (
	"context"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// Watches keep changes until the run that they ask for is stored, and what watched files held when they were looked at.
type Watches interface {
	// Notice stores news of files in one transaction. The file itself is kept for workflows that Watch was called for.
	Notice(ctx context.Context, news []engine.Notice) error
	// Noticed returns the news of batches that were not delivered, oldest first.
	Noticed(ctx context.Context) ([]engine.Notice, error)
	// Delivered forgets a batch.
	Delivered(ctx context.Context, batch string) error
	// Watch keeps what files hold from now on for a workflow; Unwatch ends that.
	Watch(ctx context.Context, workflow, globs string, files []vault.File) error
	Unwatch(ctx context.Context, workflow string) error
	// Watched returns the files that are kept, by name; ok is false when they are not kept for these globs.
	Watched(ctx context.Context, workflow, globs string) (files map[string]vault.File, ok bool, err error)
	// Holds reports whether a file is kept with this content.
	Holds(ctx context.Context, workflow, name, sha256 string) (bool, error)
}

// watching gathers changed files into batches and asks for their runs. It belongs to the goroutine of Triggers.Run.
type watching struct {
	cfg  *Config
	runs launcher

	watched  map[string]string // globs that are followed, by workflow; empty for those that were forgotten
	batches  []*batch          // in the order in which they began
	loaded   bool              // the batches of the process before are among them
	unsure   bool              // an import may be announced again, and only its batch shows that a run about several has it: such runs wait
	reported map[string]string // why workflows may not run now, as it was stored; by name
	unsaved  []engine.Notice   // what the journal did not take yet
	unseen   []vault.Change    // changes of which the journal could not be asked yet
	loops    loops             // refused runs that are to be stored
}

// gather adds changes to the batches of the workflows that watch the files.
func (w *watching) gather(ctx context.Context, changes []vault.Change) {
	if len(changes) == 0 {
		return
	}
	plans := w.cfg.Plans()
	for _, c := range changes {
		if w.cfg.Ours != nil && w.cfg.Ours(c.Name) {
			continue
		}
		var watching []*workflow.Plan
		for _, p := range plans {
			if p.Meta.Enabled && w.watches(p, c.Name) {
				watching = append(watching, p)
			}
		}
		if err := w.take(ctx, watching, c); err != nil {
			w.cfg.failed(ctx, "change not looked at, it is tried again", "name", c.Name, "err", err)
			w.unseen = append(w.unseen, c)
		}
	}
	w.save(ctx)
}

// watches reports whether a workflow watches a file, under its name or the one in older bundles. A document whose note it watches is
// one file to it, not also the notes of its chapters: an import writes all of them. A version of a bundle that an import sets aside
// is no new file.
func (w *watching) watches(p *workflow.Plan, name string) bool {
	if w.cfg.FS == nil {
		return p.Meta.Watches(name)
	}
	bundles := vault.NewBundles(w.cfg.FS)
	if document := bundles.ChapterOf(name); document != "" && p.Meta.Watches(document) || vault.IsFormerVersion(w.cfg.FS, name) {
		return false
	}
	return bundles.Fits(p.Meta.Watches, name)
}

// take adds a change to the batches of some workflows, except of those that know the file with this content.
func (w *watching) take(ctx context.Context, plans []*workflow.Plan, c vault.Change) error {
	if len(plans) == 0 {
		return nil
	}
	writers, err := w.cfg.Writers.Writers(ctx, c.Name, c.SHA256)
	if err != nil {
		return err
	}
	known := make([]bool, len(plans))
	for i, p := range plans {
		if c.Op == vault.OpRemove || c.SHA256 == "" {
			continue
		}
		if known[i], err = w.cfg.Watches.Holds(ctx, p.Name, c.Name, c.SHA256); err != nil {
			return err
		}
	}
	for i, p := range plans {
		n := engine.Notice{Workflow: p.Name, File: c.File, Gone: c.Op == vault.OpRemove, Time: w.cfg.Now()}
		if c.Op != vault.OpRemove && !known[i] {
			w.judge(p, &n, writers)
		}
		w.unsaved = append(w.unsaved, n)
	}
	return nil
}

// judge adds a change to the batch of a workflow, unless the workflow wrote it, or a run that goes back to it did.
func (w *watching) judge(p *workflow.Plan, n *engine.Notice, writers []engine.Writer) {
	if slices.ContainsFunc(writers, func(by engine.Writer) bool { return by.Workflow == p.Name }) {
		return
	}
	causes := causesOf(writers)
	if slices.Contains(causes, p.Name) {
		w.loops.add(p, n.File.Name, causes, loopReason(p.Name, writers))
		return
	}
	n.Causes = causes
	n.Batch = w.openFor(p, *n)
	w.join(p, *n)
}

// retry looks again at changes for which the journal could not be read.
func (w *watching) retry(ctx context.Context) {
	again := w.unseen
	w.unseen = nil
	w.gather(ctx, again)
}

// save stores what the journal has not taken yet.
func (w *watching) save(ctx context.Context) {
	for _, l := range w.loops {
		if _, err := w.runs.refuse(ctx, l.plan, l.trigger, l.why); err != nil {
			w.cfg.failed(ctx, "refused run not stored", "workflow", l.plan.Name, "err", err)
		}
	}
	w.loops = nil
	if len(w.unsaved) == 0 {
		return
	}
	if err := w.cfg.Watches.Notice(ctx, w.unsaved); err != nil {
		w.cfg.failed(ctx, "changes not stored, it is tried again", "count", len(w.unsaved), "err", err)
		return
	}
	w.unsaved = nil
}

// The loop guard compares content. A workflow is never started by content that it wrote, or by content of a run that it caused:
// it wrote what started that run, and so on. So a circle of workflows of any length ends after one round.

// causesOf returns the workflows that caused a content.
func causesOf(writers []engine.Writer) []string {
	var causes []string
	for _, w := range writers {
		causes = append(append(causes, w.Workflow), w.Causes...)
	}
	slices.Sort(causes)
	return slices.Compact(causes)
}

func loopReason(name string, writers []engine.Writer) string {
	for _, w := range writers {
		if slices.Contains(w.Causes, name) {
			return fmt.Sprintf("loop guard: a run of %s wrote it, which a run of this workflow caused", w.Workflow)
		}
	}
	return "loop guard: a run of this workflow wrote it"
}

// loop is a run that the guard refuses.
type loop struct {
	plan    *workflow.Plan
	trigger engine.Trigger
	why     string
}

type loops []loop

// add joins what is refused of a workflow for the same reason.
func (l *loops) add(p *workflow.Plan, name string, causes []string, why string) {
	i := slices.IndexFunc(*l, func(o loop) bool { return o.plan.Name == p.Name && o.why == why })
	if i < 0 {
		*l = append(*l, loop{p, engine.Trigger{Kind: engine.TriggerWatch, Causes: causes}, why})
		i = len(*l) - 1
	}
	if files := &(*l)[i].trigger.Files; len(*files) < filesMost && !slices.Contains(*files, name) {
		*files = append(*files, name)
	}
}
