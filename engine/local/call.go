package local

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// call performs an activity once. A panic becomes an error. Reports that come after the activity has returned are lost.
func (f *flow) call(handler engine.Activity, rec *engine.Record) (out json.RawMessage, err error) {
	r := &reporter{f: f, step: f.step(rec.Step), activity: rec.Activity}
	defer r.close()
	defer func() {
		if p := recover(); p != nil {
			f.x.cfg.Logger.Error("activity panicked", "run", f.j.id, "activity", rec.Activity, "err", p, "stack", string(debug.Stack()))
			out, err = nil, engine.Fail(engine.CodePanic, "this is a fault in vaultflow; the log has its place", "activity %s panicked: %v", rec.Activity, p)
		}
	}()
	out, err = handler(engine.WithReporter(f.ctx, r.report), rec.In)
	if err == nil && !json.Valid(out) {
		return nil, fmt.Errorf("activity %s returned no JSON", rec.Activity)
	}
	return out, err
}

// reporter takes what one call of an activity reports.
type reporter struct {
	f        *flow
	step     string
	activity string

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
	switch e.Kind {
	case engine.EventPage:
		r.page(e)
	case engine.EventDelta:
		r.f.publish(e)
	default:
		r.f.tell(e)
	}
}

// page counts a finished page. The stored record follows at most twice a second; the pages themselves are the
// activity's own to keep.
func (r *reporter) page(e engine.Event) {
	count := func(entry *engine.Entry) {
		if entry.Import != nil {
			entry.Import.Page, entry.Import.Pages = max(entry.Import.Page, e.Page), max(entry.Import.Pages, e.Pages)
		}
	}
	r.f.publish(e)
	now := r.f.x.cfg.Now()
	if now.Sub(r.saved) < saveEvery && e.Page < e.Pages {
		r.f.j.change(count)
		return
	}
	r.saved = now
	if _, err := r.f.x.update(r.f.ctx, r.f.j, nil, count); err != nil {
		r.f.x.cfg.Logger.Warn("page count not stored", "run", r.f.j.id, "err", err)
	}
}
