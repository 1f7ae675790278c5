package trigger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

// Change is a file of the vault that was created or changed, with the digest of what it holds now.
type Change struct {
	Name   string
	SHA256 string
}

// batch gathers the changed files of a workflow until they rest.
type batch struct {
	files map[string]string // digest by name
	first time.Time
	due   time.Time
}

// gatherMost is how many times the debounce changes that keep coming may put a run off.
const gatherMost = 10

// Changed tells of a change. It waits while very many changes are being looked at, at most until ctx ends.
func (t *Triggers) Changed(ctx context.Context, c Change) {
	select {
	case t.changes <- c:
	case <-ctx.Done():
	}
}

// gather adds a change to the batch of every workflow that watches the file, but for what that workflow wrote itself.
func (t *Triggers) gather(ctx context.Context, c Change) {
	for _, p := range t.cfg.Plans() {
		if !p.Meta.Enabled || !p.Meta.Watches(c.Name) {
			continue
		}
		own, err := t.cfg.History.OwnWrite(ctx, p.Name, c.Name, c.SHA256)
		if err != nil {
			t.cfg.Logger.Error("change not looked at", "workflow", p.Name, "name", c.Name, "err", err)
		}
		if own || err != nil {
			continue
		}
		now := t.cfg.Now()
		b := t.batches[p.Name]
		if b == nil {
			b = &batch{files: map[string]string{}, first: now}
			t.batches[p.Name] = b
		}
		b.files[c.Name] = c.SHA256
		b.due = earlier(b.first.Add(gatherMost*t.cfg.Debounce), now.Add(t.cfg.Debounce))
	}
}

// deliver asks for the runs of batches that rest, and says when the next one will.
func (t *Triggers) deliver(ctx context.Context, now time.Time) time.Time {
	if len(t.batches) == 0 {
		return time.Time{}
	}
	var next time.Time
	for _, p := range t.cfg.Plans() {
		b := t.batches[p.Name]
		if b == nil {
			continue
		}
		if b.due.After(now) {
			next = earlier(b.due, next)
			continue
		}
		if t.waits(p) {
			next = earlier(now.Add(busyEvery), next)
			continue
		}
		delete(t.batches, p.Name)
		t.changed(ctx, p, b, now)
	}
	t.sweep()
	return next
}

// busyEvery is how often a batch asks whether the run before it has ended.
const busyEvery = time.Second

// waits says whether a batch is held back, and goes on gathering, until the workflow's run has ended.
func (t *Triggers) waits(p *workflow.Plan) bool {
	return t.cfg.Busy != nil && p.Meta.Overlap != string(engine.OverlapReplace) && t.cfg.Busy(p.Name)
}

// sweep forgets the batches of workflows that are gone.
func (t *Triggers) sweep() {
	plans := t.cfg.Plans()
	maps.DeleteFunc(t.batches, func(name string, _ *batch) bool {
		return !slices.ContainsFunc(plans, func(p *workflow.Plan) bool { return p.Name == name })
	})
}

func (t *Triggers) changed(ctx context.Context, p *workflow.Plan, b *batch, now time.Time) {
	if !p.Meta.Enabled {
		return
	}
	names := slices.Sorted(maps.Keys(b.files))
	key := fmt.Sprintf("watch:%s:%d", p.Name, now.UnixNano())
	if _, err := t.start(ctx, p, key, engine.Trigger{Kind: engine.TriggerWatch, Files: names}, now); err != nil {
		t.cfg.Logger.Error("watched change not run", "workflow", p.Name, "err", err)
	}
}

// announce fires on_import for finished imports, each once also across restarts: the key holds the import.
func (t *Triggers) announce(ctx context.Context) {
	finished, err := t.cfg.Imports.Unannounced(ctx)
	if err != nil {
		if ctx.Err() == nil {
			t.cfg.Logger.Error("finished imports not read", "err", err)
		}
		return
	}
	for _, r := range finished {
		if err := t.imported(ctx, r); err != nil {
			t.cfg.Logger.Error("import not announced", "name", r.Source, "err", err)
			continue
		}
		if err := t.cfg.Imports.Announced(ctx, r.ID); err != nil {
			t.cfg.Logger.Error("import not announced", "name", r.Source, "err", err)
		}
	}
}

func (t *Triggers) imported(ctx context.Context, r engine.ImportRecord) error {
	for _, p := range t.cfg.Plans() {
		if !p.Meta.Enabled || !p.Meta.OnImport.Fires(r.Source) {
			continue
		}
		trigger := engine.Trigger{Kind: engine.TriggerOnImport, Files: []string{r.Note}, Import: r.ID}
		if _, err := t.start(ctx, p, fmt.Sprintf("on_import:%s:%s", p.Name, r.ID), trigger, t.cfg.Now()); err != nil {
			return err
		}
	}
	return nil
}
