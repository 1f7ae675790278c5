package local

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// queue holds the queued and running runs of an executor. A lane runs one run at a time, and each kind of run has a number
// of places. Runs get lanes and places in the order of creation; imports get them in that of [fairness].
type queue struct {
	maxRuns    int
	maxImports int
	delay      time.Duration // how long a run is postponed at first
	wake       chan struct{} // holds one token when somebody should call start

	mu      sync.Mutex
	waiting []*job          // in the order of creation
	jobs    map[string]*job // waiting or at work, by run
	lanes   map[string]*job // at work, by lane
	busy    map[engine.Kind]int
	fair    fairness
	turn    turn
}

func newQueue(c Config) *queue {
	q := &queue{
		maxRuns: c.MaxRuns, maxImports: c.MaxImports, delay: c.Postpone, wake: make(chan struct{}, 1),
		jobs: map[string]*job{}, lanes: map[string]*job{}, busy: map[engine.Kind]int{},
	}
	q.turn = turn{mu: &q.mu, line: c.Turns, poke: q.poke}
	return q
}

// start begins every waiting run whose lane is free and whose kind has room.
func (q *queue) start(begin func(*job)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := q.next(); i >= 0; i = q.next() {
		j := q.waiting[i]
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.lanes[j.lane], j.took, j.woken = j, q.places(j), false
		q.busy[j.kind()] += j.took
		switch kind := j.kind(); {
		case kind == engine.KindImport:
			q.fair.begins(j)
		case kind == engine.KindWorkflow && j.took > 0:
			j.ticket = q.turn.take()
		}
		begin(j)
	}
	if !q.turn.wanted {
		q.turn.settle()
	}
}

// poke asks for a call of start.
func (q *queue) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// places returns how many places a job takes: none if its parent is running and waits for it, since parents that hold all
// places would wait forever for children that get none. A parked parent holds no place.
func (q *queue) places(j *job) int {
	if q.jobs[j.parent()] != nil {
		return 0
	}
	return 1
}

// crowded reports whether a large import has to wait although there is room. The last place is kept for small imports, so
// that a letter does not wait for two books.
func (q *queue) crowded(j *job) bool {
	large := 0
	for _, other := range q.lanes {
		if other != j && other.large() {
			large++
		}
	}
	return j.large() && large >= max(1, q.maxImports-1)
}

// outgrows notes how many pages a running import still has to make, and reports whether it must wait for another one after all:
// a file of few bytes may be a book.
func (q *queue) outgrows(j *job, pages int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.large() || pages <= longImport {
		return false
	}
	j.long = true
	return q.crowded(j)
}

// again puts a running run back at the head of the queue.
func (q *queue) again(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.vacate(j)
	j.recalled = true
	q.waiting = slices.Insert(q.waiting, 0, j)
}

func (q *queue) room(k engine.Kind) int {
	if k == engine.KindImport {
		return q.maxImports
	}
	return q.maxRuns
}

// add appends runs to the queue.
func (q *queue) add(jobs ...*job) {
	q.mu.Lock()
	for _, j := range jobs {
		q.jobs[j.id] = j
	}
	q.waiting = append(q.waiting, jobs...)
	q.mu.Unlock()
	q.poke()
}

// takeWaiting removes the waiting runs from the queue's list and returns them.
func (q *queue) takeWaiting() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting = nil
	q.turn.settle()
	return all
}

// working returns the runs that have begun, oldest first.
func (q *queue) working() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.SortedFunc(maps.Values(q.lanes), func(a, b *job) int { return strings.Compare(a.id, b.id) })
}

// leave removes a run, whether it finished or not, and wakes those who wait for it.
func (q *queue) leave(j *job, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget(j, err)
}

// forget is leave for callers that hold mu.
func (q *queue) forget(j *job, err error) {
	q.vacate(j)
	delete(q.jobs, j.id)
	j.err = err
	close(j.done)
}

// vacate frees a job's lane and place. The caller holds mu.
func (q *queue) vacate(j *job) {
	if q.lanes[j.lane] == j {
		delete(q.lanes, j.lane)
		q.busy[j.kind()] -= j.took
		j.leaveTurn()
	}
}

// remove takes a waiting run out of the queue and reports whether it was there.
func (q *queue) remove(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, j)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// inLane returns the unfinished runs of a lane, oldest first.
func (q *queue) inLane(lane string) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []*job
	if j := q.lanes[lane]; j != nil {
		list = append(list, j)
	}
	for _, j := range q.waiting {
		if j.lane == lane {
			list = append(list, j)
		}
	}
	return list
}

// holds reports whether a run of a kind is waiting or at work.
func (q *queue) holds(k engine.Kind) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.jobs {
		if j.kind() == k {
			return true
		}
	}
	return false
}

func (q *queue) job(run string) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.jobs[run]
}

// children returns the runs that the tools of a run started.
func (q *queue) children(run string) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []*job
	for _, j := range q.jobs {
		if j.parent() == run {
			list = append(list, j)
		}
	}
	return list
}

// shelve removes a parked run. One that was woken while it was running waits for its lane again.
func (q *queue) shelve(j *job, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.woken {
		q.vacate(j)
		q.waiting = append(q.waiting, j)
		return
	}
	q.forget(j, err)
}

// book registers a run that is not in the queue yet.
func (q *queue) book(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs[j.id] = j
}

// markWoken notes that a run was woken and reports whether the run is here.
func (q *queue) markWoken(run string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := q.jobs[run]
	if j != nil {
		j.woken = true
	}
	return j != nil
}

func (q *queue) wasPostponed(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return j.delay > 0
}

// longestDelay is how long a run is postponed at most. Each time is twice as long as the one before.
const longestDelay = 5 * time.Minute

// nextDelay returns how long to postpone a run now.
func (q *queue) nextDelay(j *job) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.delay = min(max(2*j.delay, q.delay), longestDelay)
	return j.delay
}

// postpone puts a running run back at the head of its lane. It needs no goroutine meanwhile.
func (q *queue) postpone(j *job, d time.Duration, why error) {
	q.mu.Lock()
	q.vacate(j)
	j.postponed, j.recalled, j.why = true, true, why.Error()
	q.waiting = slices.Insert(q.waiting, 0, j)
	q.mu.Unlock()
	time.AfterFunc(d, func() { // harmless when Run has ended meanwhile
		q.mu.Lock()
		j.postponed = false
		q.mu.Unlock()
		q.poke()
	})
}
