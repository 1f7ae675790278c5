package local

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy/turns"
)

var _ engine.Executor = (*Executor)(nil)

// Config is what an executor works with. Journal and Activities are required.
type Config struct {
	Journal    engine.Journal
	Activities engine.Activities
	MaxRuns    int                           // workflow runs at the same time; zero means 4
	Turns      *turns.Line                   // where workflow runs wait for places that several executors share; nil: none are shared
	MaxImports int                           // imports at the same time, besides the workflow runs; zero means 2
	Timeout    time.Duration                 // of a workflow run that names none; zero means none
	Grace      time.Duration                 // how long Run waits for activities after its context ended; zero means 5 s
	Location   *time.Location                // of workflows that name no time zone; nil means the machine's
	Backoff    func(activity string) Backoff // nil means [DefaultBackoff]
	Postpone   time.Duration                 // how long a run that hit a transient error waits at first; zero means 2 s
	// Renew brings the settings of an import that is tried again up to date. Nil leaves them as they were pinned.
	Renew func(p engine.ImportPlan) json.RawMessage
	// Lacks reports whether another attempt may add to the bundle of an import that is done. Nil means no.
	Lacks func(bundle string) bool
	// Outdated reports whether what runs start with has changed. Start waits then, for [Drain.Begin]. Nil means it never does.
	Outdated func() bool
	Now      func() time.Time // nil means time.Now
	Logger   *slog.Logger     // nil discards
}

// Executor runs bodies in this process. Make one with [New].
type Executor struct {
	Drain *Drain

	cfg     Config
	queue   *queue
	store   *store
	stopped chan struct{} // closed when Run has returned

	starting sync.Mutex // held from a look at a lane until the new run is in it
	waking   sync.Mutex // held from a look at a parked run until it is queued, or has ended

	work sync.WaitGroup
}

// New makes an executor over a journal. Nothing starts before [Executor.Run].
func New(c Config) *Executor {
	c.MaxRuns, c.MaxImports = orDefault(c.MaxRuns, 4), orDefault(c.MaxImports, 2)
	c.Grace = orDefault(c.Grace, 5*time.Second)
	c.Postpone = orDefault(c.Postpone, 2*time.Second)
	c.Location = orDefault(c.Location, time.Local)
	c.Logger = orDefault(c.Logger, slog.New(slog.DiscardHandler))
	if c.Backoff == nil {
		c.Backoff = DefaultBackoff
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	q, stopped := newQueue(c), make(chan struct{})
	return &Executor{
		cfg: c, queue: q, stopped: stopped, store: &store{journal: c.Journal, now: c.Now, log: c.Logger},
		Drain: &Drain{queue: q, stopped: stopped, outdated: c.Outdated, begun: make(chan struct{}), quiet: make(chan struct{})},
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
	defer x.queue.turn.close(x.queue.lanes)
	for {
		x.dispatch(ctx)
		select {
		case <-ctx.Done():
			x.shutdown()
			return nil
		case <-x.queue.wake:
		case <-x.queue.turn.ready():
		}
	}
}

// shutdown waits for activities to notice that their context ended. One that does not loses its outcome: nothing is
// stored after the grace period, and the run resumes as if the process had died.
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
	x.store.dead.Store(true)
}

// dispatch begins the runs whose turn it is.
func (x *Executor) dispatch(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	if x.Drain.is() {
		x.Drain.leaveAll()
		return
	}
	x.queue.start(func(j *job) {
		x.work.Go(func() {
			defer x.queue.poke()
			x.perform(ctx, j)
		})
	})
}

// Subscribe delivers events; see engine.Executor. A buffer of zero means 256.
func (x *Executor) Subscribe(buffer int) (<-chan engine.Event, func()) {
	return x.store.bus.subscribe(orDefault(buffer, 256))
}

// Postponed returns how many runs of an executor wait after a transient error, such as a full disk, and the error of the oldest. It asks no journal: that may be what
// cannot be written.
func Postponed(x *Executor) (runs int, why string) {
	x.queue.mu.Lock()
	defer x.queue.mu.Unlock()
	oldest := ""
	for id, j := range x.queue.jobs {
		if !j.postponed {
			continue
		}
		if runs++; oldest == "" || id < oldest {
			oldest, why = id, j.why
		}
	}
	return runs, why
}
