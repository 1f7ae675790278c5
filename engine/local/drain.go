package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/drain"
)

// Drain ends an executor's work without cutting it, before its process starts over. It is safe for concurrent use.
type Drain struct {
	queue    *queue
	stopped  <-chan struct{} // closed when the executor has stopped
	outdated func() bool     // see Config

	begun chan struct{} // closed by the first Begin
	once  sync.Once
	quiet chan struct{} // closed once no run is left
	ended sync.Once
}

// Begin lets the work end, and returns once it has, or ctx or the executor ends. Activities of workflows under way end and are recorded;
// imports stop, but for calls that may cost money, which end and are kept. Nothing else begins, and nothing waits to be repeated. Runs that
// have not ended are left to the next executor's Resume. Cancel still works.
func (d *Drain) Begin(ctx context.Context) {
	d.once.Do(func() { close(d.begun) })
	d.queue.poke()
	select {
	case <-ctx.Done():
	case <-d.stopped:
	case <-d.quiet:
	}
}

// Working describes the runs that have begun.
func (d *Drain) Working() []string {
	var list []string
	for _, j := range d.queue.working() {
		list = append(list, fmt.Sprintf("run %s of %s", j.id, j.snapshot().Run.Workflow))
	}
	return list
}

// is reports whether Begin was called.
func (d *Drain) is() bool {
	select {
	case <-d.begun:
		return true
	default:
		return false
	}
}

// leaveAll sends the waiting runs away, and lets Begin return once no other is left.
func (d *Drain) leaveAll() {
	for _, j := range d.queue.takeWaiting() {
		d.queue.leave(j, interrupted{j.id, engine.ErrStopped})
	}
	if len(d.queue.working()) == 0 {
		d.ended.Do(func() { close(d.quiet) })
	}
}

// admit waits while what runs start with is outdated: who fires by itself is ended meanwhile. What starts afterwards is left to the next
// executor.
func (d *Drain) admit(ctx context.Context) error {
	for d.outdated != nil && !d.is() && d.outdated() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.stopped:
			return engine.ErrStopped
		case <-d.begun:
		case <-time.After(outdatedEvery):
		}
	}
	return nil
}

// outdatedEvery is how often a start that waits looks again: the change may be undone.
const outdatedEvery = 100 * time.Millisecond

// over returns why no further activity may begin; see [attempt.ended].
func (f *flow) over(ctx context.Context) error {
	if err := f.ended(ctx); err != nil {
		return err
	}
	return f.drained()
}

// drained makes a flow return if the executor drains. Other branches end their present activities.
func (f *flow) drained() error {
	if !f.x.Drain.is() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.halted == nil {
		f.halted = engine.ErrStopped
	}
	return engine.ErrStopped
}

// watchDrain ends an import when the executor drains: it has its pages, and continues after them.
func (a *attempt) watchDrain() (stop func()) {
	if a.j.kind() != engine.KindImport {
		return func() {}
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
		case <-a.x.Drain.begun:
			a.quit(drain.Err)
		}
	}()
	return func() { close(ended) }
}
