package local

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

var _ engine.Executor = (*Executor)(nil)

// Config is what an executor works with. Journal and Activities are required.
type Config struct {
	Journal    engine.Journal
	Activities engine.Activities
	MaxRuns    int                         // workflow runs at the same time; zero means 4
	MaxImports int                         // imports at the same time, besides the workflow runs; zero means 2
	Timeout    time.Duration               // of a workflow run that names none; zero means none
	Grace      time.Duration               // how long Run waits for activities after its context ended; zero means 5 s
	Location   *time.Location              // of workflows that name no time zone; nil means the machine's
	Retry      func(activity string) Retry // nil means [DefaultRetry]
	PutOff     time.Duration               // how long a run waits at first that met an error which passes; zero means 2 s
	// Renew brings the settings of an import that is tried again up to date. Nil leaves them as they were pinned.
	Renew  func(p engine.ImportPlan) json.RawMessage
	Now    func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil discards
}

// Executor runs bodies in this process. Make one with [New].
type Executor struct {
	cfg     Config
	bus     bus
	wake    chan struct{} // holds one token when the queue should be looked at
	dead    atomic.Bool   // the grace period is over: nothing more is stored
	stopped chan struct{} // closed when Run has returned

	starting sync.Mutex // makes looking at a lane and entering it one step
	waking   sync.Mutex // makes looking at a parked run and taking it onto the books, or ending it, one step

	mu    sync.Mutex
	queue []*job          // waiting, in the order of creation
	jobs  map[string]*job // waiting or at work, by run
	lanes map[string]*job // at work, by lane
	busy  map[engine.Kind]int
	work  sync.WaitGroup
}

// New makes an executor over a journal. Nothing is begun before [Executor.Run].
func New(c Config) *Executor {
	c.MaxRuns, c.MaxImports = orDefault(c.MaxRuns, 4), orDefault(c.MaxImports, 2)
	c.Grace = orDefault(c.Grace, 5*time.Second)
	c.PutOff = orDefault(c.PutOff, 2*time.Second)
	c.Location = orDefault(c.Location, time.Local)
	c.Logger = orDefault(c.Logger, slog.New(slog.DiscardHandler))
	if c.Retry == nil {
		c.Retry = DefaultRetry
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Executor{
		cfg: c, wake: make(chan struct{}, 1), stopped: make(chan struct{}),
		jobs: map[string]*job{}, lanes: map[string]*job{}, busy: map[engine.Kind]int{},
	}
}

func orDefault[T comparable](v, standard T) T {
	var zero T
	if v == zero {
		return standard
	}
	return v
}

// Run begins runs as lanes and room allow, until ctx ends. It must be called once.
func (x *Executor) Run(ctx context.Context) error {
	defer close(x.stopped)
	for {
		x.dispatch(ctx)
		select {
		case <-ctx.Done():
			x.shutdown()
			return nil
		case <-x.wake:
		}
	}
}

// shutdown waits for activities to notice that their context ended. One that does not loses its outcome: nothing is
// stored after the grace period, and the run is resumed as if the process had died.
func (x *Executor) shutdown() {
	quiet := make(chan struct{})
	go func() {
		x.work.Wait()
		close(quiet)
	}()
	grace := time.NewTimer(x.cfg.Grace)
	defer grace.Stop()
	select {
	case <-quiet:
	case <-grace.C:
		x.cfg.Logger.Warn("activities did not end in time; their runs will be resumed", "duration", x.cfg.Grace)
	}
	x.dead.Store(true)
}

// poke asks for a look at the queue.
func (x *Executor) poke() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// dispatch begins every waiting run whose lane is free and whose kind has room, oldest first.
func (x *Executor) dispatch(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	putOff := map[string]bool{} // lanes in which a run waits that was put off
	x.queue = slices.DeleteFunc(x.queue, func(j *job) bool {
		kind := j.kind()
		if putOff[j.lane] = putOff[j.lane] || j.held; putOff[j.lane] || x.lanes[j.lane] != nil || x.busy[kind]+x.places(j) > x.room(kind) || x.crowded(j) {
			return false
		}
		x.lanes[j.lane], j.took, j.woken = j, x.places(j), false
		x.busy[kind] += j.took
		x.work.Go(func() {
			defer x.poke()
			x.perform(ctx, j)
		})
		return true
	})
}

// places is how much of its kind's room a job takes: none when its parent, which waits for it, has a place. It would wait
// for ever where the parents have all of them. A parent that is parked has none.
func (x *Executor) places(j *job) int {
	if x.jobs[j.parent()] != nil {
		return 0
	}
	return 1
}

// crowded says whether a large import has to wait although there is room: the last place is for small ones, so that a
// letter does not wait for two books.
func (x *Executor) crowded(j *job) bool {
	large := 0
	for _, other := range x.lanes {
		if other.large() {
			large++
		}
	}
	return j.large() && large >= max(1, x.cfg.MaxImports-1)
}

func (x *Executor) room(k engine.Kind) int {
	if k == engine.KindImport {
		return x.cfg.MaxImports
	}
	return x.cfg.MaxRuns
}

// enqueue lets runs wait for their turn.
func (x *Executor) enqueue(jobs ...*job) {
	x.mu.Lock()
	for _, j := range jobs {
		x.jobs[j.id] = j
	}
	x.queue = append(x.queue, jobs...)
	x.mu.Unlock()
	x.poke()
}

// leave takes a run off the books, whether it finished or not, and tells those who wait.
func (x *Executor) leave(j *job, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget(j, err)
}

// forget is leave for those who hold mu.
func (x *Executor) forget(j *job, err error) {
	x.vacate(j)
	delete(x.jobs, j.id)
	j.err = err
	close(j.done)
}

// vacate gives a job's lane and place free. The executor's mu is held.
func (x *Executor) vacate(j *job) {
	if x.lanes[j.lane] == j {
		delete(x.lanes, j.lane)
		x.busy[j.kind()] -= j.took
	}
}

// take removes a run from the queue, and says whether it was there.
func (x *Executor) take(j *job) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.Index(x.queue, j)
	if i < 0 {
		return false
	}
	x.queue = slices.Delete(x.queue, i, i+1)
	return true
}

// Subscribe delivers events; see engine.Executor. A buffer of zero means 256.
func (x *Executor) Subscribe(buffer int) (<-chan engine.Event, func()) {
	return x.bus.subscribe(orDefault(buffer, 256))
}
