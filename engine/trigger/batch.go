package trigger

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

const (
	// gatherMost is how many times the debounce changes that keep coming may put a run off.
	gatherMost = 10
	// filesMost is how many files one run gets; more files start more runs.
	filesMost = 2000
	// busyEvery is how often a batch asks whether the run before it has ended.
	busyEvery = time.Second
	// orphanFor is how long a batch waits for a workflow that is gone or has become invalid.
	orphanFor = 24 * time.Hour
)

// batch gathers the changed files of a workflow until they rest. Its id is the key of its run.
type batch struct {
	id       string
	workflow string
	files    map[string]bool
	causes   []string
	first    time.Time
	due      time.Time
	closed   bool // it takes no more files: its run was asked for, perhaps by a process that died then, or it is full
}

// batchFor adds a change to the open batch of a workflow.
func (w *watching) batchFor(p *workflow.Plan, n engine.Notice) *batch {
	i := slices.IndexFunc(w.batches, func(b *batch) bool { return b.workflow == p.Name && !b.closed })
	if i >= 0 && len(w.batches[i].files) >= filesMost && !w.batches[i].files[n.File.Name] {
		w.cfg.Logger.Warn("more changes than one run can take; the rest get a run of their own", "workflow", p.Name, "limit", filesMost)
		w.batches[i].closed = true
		i = -1
	}
	if i < 0 {
		w.batches = append(w.batches, &batch{id: rand.Text(), workflow: p.Name, files: map[string]bool{}, first: n.Time})
		i = len(w.batches) - 1
	}
	b := w.batches[i]
	b.add(n)
	b.due = earlier(b.first.Add(gatherMost*w.cfg.Debounce), n.Time.Add(w.cfg.Debounce))
	return b
}

// names are the files of a batch, sorted.
func (b *batch) names() []string { return slices.Sorted(maps.Keys(b.files)) }

func (b *batch) add(n engine.Notice) {
	b.files[n.File.Name] = true
	b.causes = append(b.causes, n.Causes...)
	slices.Sort(b.causes)
	b.causes = slices.Compact(b.causes)
}

// load reads the batches that the process before has gathered, once. Their runs may have been asked for, so that they
// stay as they are: their ids make asking again harmless.
func (w *watching) load(ctx context.Context) {
	if w.loaded {
		return
	}
	news, err := w.cfg.Watches.Noticed(ctx)
	if err != nil {
		w.cfg.Logger.Error("changes of the process before not read", "err", err)
		return
	}
	w.loaded = true
	var before []*batch
	for _, n := range news {
		i := slices.IndexFunc(before, func(b *batch) bool { return b.id == n.Batch })
		if i < 0 {
			i = len(before)
			before = append(before, &batch{id: n.Batch, workflow: n.Workflow, files: map[string]bool{}, first: n.Time, due: n.Time, closed: true})
		}
		before[i].add(n)
	}
	w.batches = append(before, w.batches...)
}

// deliver asks for the runs of batches that are quiet and returns when the next one is.
func (w *watching) deliver(ctx context.Context, plans []*workflow.Plan, now time.Time) time.Time {
	var next time.Time
	w.batches = slices.DeleteFunc(w.batches, func(b *batch) bool {
		if b.due.Sub(now) > gatherMost*w.cfg.Debounce {
			b.first, b.due = now, now // the clock was set back
		}
		p := planOf(plans, b.workflow)
		switch {
		case p == nil && now.Sub(b.first) > orphanFor, p != nil && !p.Meta.Enabled:
			w.cfg.Logger.Warn("changes dropped, the workflow is gone or disabled", "workflow", b.workflow, "count", len(b.files))
			return w.delivered(ctx, b)
		case p == nil:
		case b.due.After(now):
			next = earlier(b.due, next)
		case w.waits(p):
			next = earlier(now.Add(busyEvery), next)
		default:
			return w.ask(ctx, p, b, now)
		}
		return false
	})
	return next
}

// waits reports whether a batch keeps gathering until the workflow's run has ended.
func (w *watching) waits(p *workflow.Plan) bool {
	return w.cfg.Busy != nil && p.Meta.Overlap != string(engine.OverlapReplace) && w.cfg.Busy(p.Name)
}

// ask asks for the run of a batch and reports whether the batch is done with.
func (w *watching) ask(ctx context.Context, p *workflow.Plan, b *batch, now time.Time) bool {
	b.closed = true
	trigger := engine.Trigger{Kind: engine.TriggerWatch, Files: b.names(), Causes: b.causes}
	if _, err := w.runs.start(ctx, p, "watch:"+p.Name+":"+b.id, trigger, now); err != nil {
		w.cfg.Logger.Error("watched change not run", "workflow", p.Name, "err", err)
		if transient(err) {
			return false
		}
	}
	return w.delivered(ctx, b)
}

// delivered forgets a batch whose run is stored. If that fails, the next process asks for the same run again.
func (w *watching) delivered(ctx context.Context, b *batch) bool {
	w.unsaved = slices.DeleteFunc(w.unsaved, func(n engine.Notice) bool { return n.Batch == b.id })
	if err := w.cfg.Watches.Delivered(ctx, b.id); err != nil {
		w.cfg.Logger.Error("changes not forgotten", "workflow", b.workflow, "err", err)
	}
	return true
}
