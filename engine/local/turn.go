package local

import (
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/policy/turns"
)

// turnPatience is how long an executor without a workflow run waits for others. Then one begins all the same: runs of others may hang.
const turnPatience = 10 * time.Second

// turn is where an executor waits for a place among all that a process has for workflow runs. The queue's mu guards it.
type turn struct {
	mu     *sync.Mutex // the queue's
	line   *turns.Line // nil: the executor is the only one
	poke   func()      // makes the queue look again
	next   *turns.Ticket
	asked  time.Time
	wanted bool // a run could begin if there were a place
	late   *time.Timer
}

// come reports whether another run may begin. An executor that is idle does not wait for others without end.
func (t *turn) come(idle bool) bool {
	if t.line == nil {
		return true
	}
	t.wanted = true
	if t.next == nil {
		t.next, t.asked, t.late = t.line.Ask(), time.Now(), time.AfterFunc(turnPatience, t.poke)
	}
	select {
	case <-t.next.Ready():
		return true
	default:
		return idle && time.Since(t.asked) >= turnPatience
	}
}

// take returns the place of a run that begins now, after come. A run that begins beyond the limit has a place too, as soon as there is one.
func (t *turn) take() *turns.Ticket {
	ticket := t.next
	if ticket != nil {
		t.late.Stop()
		t.next = nil
	}
	return ticket
}

// settle returns a place that no run wants any more.
func (t *turn) settle() {
	if ticket := t.take(); ticket != nil {
		ticket.Leave()
	}
}

// ready returns a channel that is closed when the executor's turn has come, or nil if it waits for none. The caller does not hold mu.
func (t *turn) ready() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next == nil {
		return nil
	}
	return t.next.Ready()
}

// close returns all places, also those of runs whose activities have not ended. The caller does not hold mu.
func (t *turn) close(lanes map[string]*job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle()
	for _, j := range lanes {
		j.leaveTurn()
	}
}

// leaveTurn returns the place of a run. The caller holds the queue's mu.
func (j *job) leaveTurn() {
	if j.ticket != nil {
		j.ticket.Leave()
		j.ticket = nil
	}
}
