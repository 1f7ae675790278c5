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
	// filesMost is how many files one run is told of; more are several runs.
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
func (t *Triggers) batchFor(p *workflow.Plan, n engine.Notice) *batch {
	i := slices.IndexFunc(t.batches, func(b *batch) bool { return b.workflow == p.Name && !b.closed })
	if i >= 0 && len(t.batches[i].files) >= filesMost && !t.batches[i].files[n.File.Name] {
		t.cfg.Logger.Warn("more changes than one run is told of, the others get a run of their own", "workflow", p.Name, "limit", filesMost)
		t.batches[i].closed = true
		i = -1
	}
	if i < 0 {
		t.batches = append(t.batches, &batch{id: rand.Text(), workflow: p.Name, files: map[string]bool{}, first: n.Time})
		i = len(t.batches) - 1
	}
	b := t.batches[i]
	b.add(n)
	b.due = earlier(b.first.Add(gatherMost*t.cfg.Debounce), n.Time.Add(t.cfg.Debounce))
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

// load takes up the batches that the process before has gathered, once. Their runs may have been asked for, so that they
// stay as they are: their ids make asking again harmless.
func (t *Triggers) load(ctx context.Context) {
	if t.loaded {
		return
	}
	news, err := t.cfg.Watches.Noticed(ctx)
	if err != nil {
		t.cfg.Logger.Error("changes of the process before not read", "err", err)
		return
	}
	t.loaded = true
	var before []*batch
	for _, n := range news {
		i := slices.IndexFunc(before, func(b *batch) bool { return b.id == n.Batch })
		if i < 0 {
			i = len(before)
			before = append(before, &batch{id: n.Batch, workflow: n.Workflow, files: map[string]bool{}, first: n.Time, due: n.Time, closed: true})
		}
		before[i].add(n)
	}
	t.batches = append(before, t.batches...)
}

// deliver asks for the runs of batches that rest, and says when the next one will.
func (t *Triggers) deliver(ctx context.Context, plans []*workflow.Plan, now time.Time) time.Time {
	var next time.Time
	t.batches = slices.DeleteFunc(t.batches, func(b *batch) bool {
		if b.due.Sub(now) > gatherMost*t.cfg.Debounce {
			b.first, b.due = now, now // the clock was set back
		}
		p := planOf(plans, b.workflow)
		switch {
		case p == nil && now.Sub(b.first) > orphanFor, p != nil && !p.Meta.Enabled:
			t.cfg.Logger.Warn("changes dropped, the workflow is gone or disabled", "workflow", b.workflow, "count", len(b.files))
			return t.delivered(ctx, b)
		case p == nil:
		case b.due.After(now):
			next = earlier(b.due, next)
		case t.waits(p):
			next = earlier(now.Add(busyEvery), next)
		default:
			return t.ask(ctx, p, b, now)
		}
		return false
	})
	return next
}

// waits says whether a batch is held back, and goes on gathering, until the workflow's run has ended.
func (t *Triggers) waits(p *workflow.Plan) bool {
	return t.cfg.Busy != nil && p.Meta.Overlap != string(engine.OverlapReplace) && t.cfg.Busy(p.Name)
}

// ask asks for the run of a batch, and says whether the batch is done with.
func (t *Triggers) ask(ctx context.Context, p *workflow.Plan, b *batch, now time.Time) bool {
	b.closed = true
	trigger := engine.Trigger{Kind: engine.TriggerWatch, Files: b.names(), Causes: b.causes}
	if _, err := t.start(ctx, p, "watch:"+p.Name+":"+b.id, trigger, now); err != nil {
		t.cfg.Logger.Error("watched change not run", "workflow", p.Name, "err", err)
		if transient(err) {
			return false
		}
	}
	return t.delivered(ctx, b)
}

// delivered forgets a batch whose run is stored. If the journal does not, the next process asks for the same run again.
func (t *Triggers) delivered(ctx context.Context, b *batch) bool {
	t.unsaved = slices.DeleteFunc(t.unsaved, func(n engine.Notice) bool { return n.Batch == b.id })
	if err := t.cfg.Watches.Delivered(ctx, b.id); err != nil {
		t.cfg.Logger.Error("changes not forgotten", "workflow", b.workflow, "err", err)
	}
	return true
}
