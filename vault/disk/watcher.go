package disk

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

// Defaults of WatchOptions.
const (
	DefaultQuiet     = 2 * time.Second
	DefaultStall     = time.Minute
	DefaultRescan    = time.Minute
	DefaultDebounce  = 500 * time.Millisecond
	DefaultPollEvery = 5 * time.Second
)

// WatchOptions say how a Watcher waits. The zero value is useful.
type WatchOptions struct {
	Quiet     time.Duration // how long a file of the import folder must be still
	Stall     time.Duration // how long an incomplete or empty one must be still to be tried anyway
	Rescan    time.Duration // between full scans; events are only hints
	Debounce  time.Duration // how long a note must rest before its change is reported
	Poll      bool          // never use the system's events; network file systems are polled without it
	PollEvery time.Duration // between scans when polling; stretched when a scan takes over a tenth of it

	// Report receives what the user should know about watching itself. It is called by the goroutine of Run and must
	// not block; nil is fine, reports are logged as well.
	Report func(Report)

	deaf      bool          // tests: events never come
	deafAfter time.Duration // tests: another one
}

// Report is news of the watching itself.
type Report struct {
	Code    string // polling, deaf, watch_limit, unreadable, conflict_copy, renamed, watch_error
	Name    string // vault name, if it is about one
	Message string // in words
	Hint    string // what to do, if anything
}

// Status is what a Watcher does now.
type Status struct {
	Mode    string    // events or poll
	Why     string    // why it polls, in words
	Waiting []Arrival // files of the import folder that are not done, by name
}

// Watcher reports changed notes and files that arrive in the import folder. It keeps the vault's name index current
// while it runs. Both channels must be read; what is not read yet is kept, the latest news of a file only.
type Watcher struct {
	v   *Vault
	opt WatchOptions

	changes  chan vault.Change
	arrivals chan Arrival
	started  chan struct{}
	wake     chan struct{}

	mu       sync.Mutex // guards what follows
	returned []returned
	toFollow []pursued
	mode     string
	why      string
	waiting  map[string]Arrival
}

type returned struct {
	name string
	done bool
}

// NewWatcher makes a watcher; Run starts it.
func NewWatcher(v *Vault, opt WatchOptions) *Watcher {
	opt.Quiet = cmp.Or(opt.Quiet, DefaultQuiet)
	opt.Stall = cmp.Or(opt.Stall, DefaultStall)
	opt.Rescan = cmp.Or(opt.Rescan, DefaultRescan)
	opt.Debounce = cmp.Or(opt.Debounce, DefaultDebounce)
	opt.PollEvery = cmp.Or(opt.PollEvery, DefaultPollEvery)
	opt.deafAfter = cmp.Or(opt.deafAfter, deafAfter)
	return &Watcher{
		v: v, opt: opt,
		changes:  make(chan vault.Change),
		arrivals: make(chan Arrival),
		started:  make(chan struct{}),
		wake:     make(chan struct{}, 1),
		waiting:  map[string]Arrival{},
	}
}

// Run watches until ctx ends, then returns nil. Files that are in the import folder at the start are judged by the same
// rule as those that come later; notes that are there are not reported. Run may be called once. The channels stay open.
func (w *Watcher) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newSession(w)
	defer func() { s.events.close() }() // those of the end: the session may stop listening
	s.open()
	if err := s.scan(true); err != nil {
		return err
	}
	w.v.index.setLive(true)
	defer w.v.index.setLive(false)
	close(w.started)
	return s.run(ctx)
}

// Changes returns changed notes, a file at most once at a time.
func (w *Watcher) Changes() <-chan vault.Change { return w.changes }

// Arrivals returns news of the import folder. A file with StateReady is in flight: it is not reported again, whatever
// happens to it, until Done or Release is called with its name.
func (w *Watcher) Arrivals() <-chan Arrival { return w.arrivals }

// Started is closed when watching has begun: what changes after it will be noticed.
func (w *Watcher) Started() <-chan struct{} { return w.started }

// Done is called when a ready file has been handled, whether it succeeded or failed. When it is still there it is left alone
// until its content changes. It never blocks.
func (w *Watcher) Done(name string) { w.giveBack(returned{name, true}) }

// Release hands a file back that was ready and could not be dealt with now: it becomes ready again after the quiet
// period, the next times after pauses that double up to ten minutes. It never blocks.
func (w *Watcher) Release(name string) { w.giveBack(returned{name, false}) }

func (w *Watcher) giveBack(r returned) {
	w.mu.Lock()
	w.returned = append(w.returned, r)
	w.mu.Unlock()
	w.rouse()
}

// rouse wakes the goroutine of Run.
func (w *Watcher) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Watcher) takeReturned() []returned {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.returned
	w.returned = nil
	return out
}

// Status returns how the watcher watches, and what waits in the import folder and why.
func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := Status{Mode: w.mode, Why: w.why}
	for _, a := range w.waiting {
		out.Waiting = append(out.Waiting, a)
	}
	slices.SortFunc(out.Waiting, func(a, b Arrival) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (w *Watcher) setMode(mode, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode, w.why = mode, why
}

// remember keeps Status current.
func (w *Watcher) remember(a Arrival) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.State == StateGone {
		delete(w.waiting, a.Name)
		return
	}
	w.waiting[a.Name] = a
}

func (w *Watcher) forget(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, name)
}

func (w *Watcher) report(r Report) {
	w.v.log.Warn("watching", "code", r.Code, "name", r.Name, "reason", r.Message)
	if w.opt.Report != nil {
		w.opt.Report(r)
	}
}
