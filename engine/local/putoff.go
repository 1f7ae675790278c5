package local

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// A run that met an error which passes (see failure.IsTransient) is put off: it keeps its place before the others of its lane,
// and is taken up again after a while from its last recorded outcome, as after a restart. It has no worker meanwhile.

// longestPutOff is how long a run is put off at most. Each time is twice as long as the one before.
const longestPutOff = 5 * time.Minute

func (x *Executor) putOff(j *job, err error) {
	x.mu.Lock()
	j.putOff = min(max(2*j.putOff, x.cfg.PutOff), longestPutOff)
	wait := j.putOff
	x.mu.Unlock()
	x.cfg.Logger.Warn("run put off; it goes on by itself", "run", j.id, "duration", wait, "err", err)
	if _, stored := x.update(context.Background(), j, nil, func(e *engine.Entry) { //nolint:contextcheck // stored although the run's context has ended
		e.Run.Reason, e.Run.Activity = fmt.Sprintf("waits, and goes on by itself: %v", err), ""
	}); stored != nil {
		x.cfg.Logger.Debug("reason not stored", "run", j.id, "err", stored)
	}
	x.mu.Lock()
	x.vacate(j)
	j.held, j.recalled = true, true
	x.queue = slices.Insert(x.queue, 0, j)
	x.mu.Unlock()
	time.AfterFunc(wait, func() { // harmless when Run has ended meanwhile
		x.mu.Lock()
		j.held = false
		x.mu.Unlock()
		x.poke()
	})
}

func (x *Executor) wasPutOff(j *job) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return j.putOff > 0
}

// reload takes back what the journal did not store when the run was put off. A cancellation that it knows nothing of is
// kept.
func (j *job) reload(e engine.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Cancelled = e.Cancelled || j.entry.Cancelled
	j.entry = e
}
