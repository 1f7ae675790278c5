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
	// importsMost is how long imports that are to start one run wait for others at work.
	importsMost = time.Hour
	// orphanFor is how long a batch waits for a workflow that is gone or has become invalid.
	orphanFor = 24 * time.Hour
)

// batch gathers the files of a workflow until they rest: changed ones, or the notes of imports. Its id is part of the key of its run.
type batch struct {
	id       string
	workflow string
	files    map[string]bool
	imports  []string // ids; empty for changed files
	causes   []string
	first    time.Time
	due      time.Time
	orphaned time.Time // since when its workflow is gone or invalid; zero if it is not
	closed   bool      // it takes no more files: its run was asked for, perhaps by a process that died then, or it is full
}

// takes reports whether a batch may take a file.
func (b *batch) takes(p *workflow.Plan, n engine.Notice) bool {
	switch {
	case b.workflow != p.Name || b.closed || (len(b.imports) > 0) != (n.Import != ""):
		return false
	case p.Meta.Each(n.Import != ""):
		return n.Import == "" && b.files[n.File.Name] // a file that changes again before its run begins
	}
	return true
}

// openFor returns the id of the batch that is to take a file: an open one, or a new one.
func (w *watching) openFor(p *workflow.Plan, n engine.Notice) string {
	i := slices.IndexFunc(w.batches, func(b *batch) bool { return b.takes(p, n) })
	if i >= 0 && len(w.batches[i].files) >= filesMost && !w.batches[i].files[n.File.Name] {
		w.cfg.Logger.Warn("more files than one run can take; the rest get a run of their own", "workflow", p.Name, "limit", filesMost)
		w.batches[i].closed = true
		i = -1
	}
	if i < 0 {
		return rand.Text()
	}
	return w.batches[i].id
}

// join adds a file to its batch, a new one if there is none with that id.
func (w *watching) join(p *workflow.Plan, n engine.Notice) {
	i := slices.IndexFunc(w.batches, func(b *batch) bool { return b.id == n.Batch })
	if i < 0 {
		w.batches = append(w.batches, &batch{id: n.Batch, workflow: p.Name, files: map[string]bool{}, first: n.Time})
		i = len(w.batches) - 1
	}
	b := w.batches[i]
	b.add(n)
	b.due = n.Time
	if n.Import == "" || !p.Meta.Each(true) {
		b.due = earlier(b.first.Add(gatherMost*w.cfg.Debounce), n.Time.Add(w.cfg.Debounce))
	}
}

// knows reports whether an import waits for a run of a workflow.
func (w *watching) knows(workflow, imported string) bool {
	return slices.ContainsFunc(w.batches, func(b *batch) bool { return b.workflow == workflow && slices.Contains(b.imports, imported) })
}

// kind is what the files of a batch wait for as a trigger.
func (b *batch) kind() engine.TriggerKind {
	if len(b.imports) > 0 {
		return engine.TriggerOnImport
	}
	return engine.TriggerWatch
}

// names are the files of a batch, sorted.
func (b *batch) names() []string { return slices.Sorted(maps.Keys(b.files)) }

func (b *batch) add(n engine.Notice) {
	b.files[n.File.Name] = true
	if n.Import != "" {
		b.imports = append(b.imports, n.Import)
	}
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
		w.cfg.failed(ctx, "changes of the process before not read", "err", err)
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
	held := map[string]bool{} // workflows whose batches wait for another look
	w.batches = slices.DeleteFunc(w.batches, func(b *batch) bool {
		if b.due.Sub(now) > gatherMost*w.cfg.Debounce {
			b.first, b.due = now, now // the clock was set back
		}
		p := planOf(plans, b.workflow)
		b.orphan(p == nil, now)
		switch {
		case p == nil && now.Sub(b.orphaned) > orphanFor, p != nil && !p.Meta.Enabled:
			w.cfg.Logger.Warn("files dropped, the workflow is gone or disabled", "workflow", b.workflow, "count", len(b.files))
			return w.delivered(ctx, b)
		case p == nil || held[b.workflow] || w.unsure && len(b.imports) > 0 && !p.Meta.Each(true):
		case b.due.After(now):
			next = earlier(b.due, next)
		case w.waits(p, b, now):
			next = earlier(now.Add(busyEvery), next)
		case w.barred(ctx, p, b):
			held[b.workflow] = true
		default:
			return w.ask(ctx, p, b, now)
		}
		return false
	})
	return next
}

// orphan notes since when the workflow of a batch is gone or invalid.
func (b *batch) orphan(gone bool, now time.Time) {
	switch {
	case !gone:
		b.orphaned = time.Time{}
	case b.orphaned.IsZero() || b.orphaned.After(now): // or the clock was set back
		b.orphaned = now
	}
}

// waits reports whether a batch keeps gathering: changes until the workflow's run has ended, and imports that start one run until no
// import is running.
func (w *watching) waits(p *workflow.Plan, b *batch, now time.Time) bool {
	if len(b.imports) > 0 {
		return w.cfg.Importing != nil && !b.closed && !p.Meta.Each(true) && now.Sub(b.first) < importsMost && w.cfg.Importing()
	}
	return w.cfg.Busy != nil && (p.Meta.Overlap != string(engine.OverlapReplace) || p.Meta.Each(false)) && w.cfg.Busy(p.Name)
}

// barred reports whether a workflow must not run now. Its files wait: for the end of a pause, or for the next day of
// max_runs_per_day. The reason is stored once, as a skipped run.
func (w *watching) barred(ctx context.Context, p *workflow.Plan, b *batch) bool {
	why, err := Barred(ctx, w.cfg.History, p, w.cfg.Now(), w.cfg.Location)
	if err != nil {
		w.cfg.failed(ctx, "limits not read, it is tried again", "workflow", p.Name, "err", err)
		return true
	}
	if why == "" {
		delete(w.reported, p.Name)
		return false
	}
	if w.reported[p.Name] != why {
		trigger := engine.Trigger{Kind: b.kind()}
		for _, other := range w.batches {
			if other.workflow == p.Name && other.kind() == trigger.Kind {
				trigger.Files = append(trigger.Files, other.names()...)
			}
		}
		if _, err := w.runs.refuse(ctx, p, trigger, why+"; its files wait"); err != nil {
			w.cfg.failed(ctx, "refused run not stored", "workflow", p.Name, "err", err)
			return true
		}
		w.reported[p.Name] = why
	}
	return true
}

// ask asks for the run of a batch and reports whether the batch is done with.
func (w *watching) ask(ctx context.Context, p *workflow.Plan, b *batch, now time.Time) bool {
	b.closed = true
	trigger, key := engine.Trigger{Kind: engine.TriggerWatch, Files: b.names(), Causes: b.causes}, "watch:"+p.Name+":"+b.id
	switch len(b.imports) {
	case 0:
	case 1:
		trigger.Kind, trigger.Import, key = engine.TriggerOnImport, b.imports[0], "on_import:"+p.Name+":"+b.imports[0]
	default:
		trigger.Kind, key = engine.TriggerOnImport, "on_import:"+p.Name+":"+b.id
	}
	if _, err := w.runs.start(ctx, p, key, trigger, now); err != nil {
		w.cfg.failed(ctx, "files start no run", "workflow", p.Name, "err", err)
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
		w.cfg.failed(ctx, "changes not forgotten", "workflow", b.workflow, "err", err)
	}
	return true
}
