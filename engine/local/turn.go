package local

import (
	"time"

	"github.com/vaultflow/vaultflow/policy/turns"
)

// turnPatience is how long an executor without a workflow run waits for others. Then one begins all the same: runs of others may hang.
const turnPatience = time.Minute

// turn is where an executor waits for a place among all that a process has for workflow runs. The queue's mu guards it.
type turn struct {
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

// settle gives back a place that no run wants any more.
func (t *turn) settle() {
	if ticket := t.take(); ticket != nil {
		ticket.Leave()
	}
}

// ready returns a channel that is closed when the executor's turn has come, or nil if it waits for none.
func (q *queue) ready() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turn.next == nil {
		return nil
	}
	return q.turn.next.Ready()
}

// close gives back all places, also those of runs whose activities have not ended.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.turn.settle()
	for _, j := range q.lanes {
		j.leaveTurn()
	}
}

// leaveTurn gives back the place of a run. The caller holds the queue's mu.
func (j *job) leaveTurn() {
	if j.ticket != nil {
		j.ticket.Leave()
		j.ticket = nil
	}
}
