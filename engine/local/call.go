package local

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// call performs an activity once. A panic becomes an error. Reports that come after the activity has returned are lost.
func (f *flow) call(handler engine.Activity, d *activity) (out json.RawMessage, err error) {
	rec := d.rec
	r := &reporter{attempt: f.attempt, step: f.step(rec.Step), batch: d.batch}
	defer r.close()
	defer func() {
		if p := recover(); p != nil {
			f.x.cfg.Logger.Error("activity panicked", "run", f.j.id, "activity", rec.Activity, "err", p, "stack", string(debug.Stack()))
			out, err = nil, failure.New(failure.Panic, "this is a bug in vaultflow; see the log", "activity %s panicked: %v", rec.Activity, p)
		}
	}()
	out, err = handler(engine.WithReporter(d.ctx, r.report), rec.In)
	if err == nil && !json.Valid(out) {
		return nil, fmt.Errorf("activity %s returned invalid JSON", rec.Activity)
	}
	return out, err
}

// reporter takes what one call of an activity reports.
type reporter struct {
	attempt *attempt
	step    string
	batch   int

	mu     sync.Mutex // guards what follows
	closed bool
	saved  time.Time
}

func (r *reporter) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

func (r *reporter) report(e engine.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if e.Step == "" {
		e.Step = r.step
	}
	e.Batch = r.batch
	switch e.Kind {
	case engine.EventPage:
		r.page(e)
	case engine.EventDelta:
		r.attempt.publish(e)
	default:
		r.attempt.tell(e)
	}
}

// page counts a finished page. The stored record follows at most twice a second; the pages themselves are the
// activity's own to keep.
func (r *reporter) page(e engine.Event) {
	count := func(entry *engine.Entry) {
		if entry.Import != nil {
			entry.Import.Page, entry.Import.Pages = max(entry.Import.Page, e.Page), max(entry.Import.Pages, e.Pages)
			entry.Import.SecondsLeft = e.Left
		}
	}
	r.attempt.publish(e)
	if x := r.attempt.x; x.queue.outgrows(r.attempt.j, e.Pages-e.Page) {
		r.attempt.j.change(count)
		_ = r.attempt.halt(errOutgrown) // the next activity says so
		return
	}
	now := r.attempt.x.cfg.Now()
	if now.Sub(r.saved) < saveEvery && e.Page < e.Pages {
		r.attempt.j.change(count)
		return
	}
	r.saved = now
	if _, err := r.attempt.x.store.update(r.attempt.ctx, r.attempt.j, nil, count); err != nil {
		r.attempt.x.cfg.Logger.Warn("page count not stored", "run", r.attempt.j.id, "err", err)
	}
}

// saveEvery is how often the page count of a running import is stored.
const saveEvery = 500 * time.Millisecond
