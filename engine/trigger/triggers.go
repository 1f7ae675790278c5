package trigger

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// Starter starts runs; an engine.Executor does.
type Starter interface {
	Start(ctx context.Context, r engine.Request) (engine.Started, error)
}

// History answers what was before.
type History interface {
	// Count counts the unattended runs of a workflow since a time.
	Count(ctx context.Context, workflow string, since time.Time) (int, error)
	// Failures gives the failed runs that follow each other up to now, newest first.
	Failures(ctx context.Context, workflow string, limit int) ([]engine.RunRecord, error)
}

// Writers knows who wrote a content.
type Writers interface {
	// Writers returns the workflows whose runs wrote this content to this file.
	Writers(ctx context.Context, name, sha256 string) ([]engine.Writer, error)
}

// Imports tells of finished imports, each once.
type Imports interface {
	Unannounced(ctx context.Context) ([]engine.ImportRecord, error)
	Announced(ctx context.Context, id string) error
}

// Config is what triggers work with. Plans, Starter, Slots, Watches, History, Writers and Imports are required.
type Config struct {
	Plans    func() []*workflow.Plan // the valid plans now; called often
	Starter  Starter
	Slots    Slots
	Watches  Watches
	History  History
	Writers  Writers
	Imports  Imports
	Files    vault.Lister               // nil: changes of the time before the start are not looked for
	Ours     func(name string) bool     // files that never fire anything: vaultflow keeps them itself. nil means none
	Busy     func(workflow string) bool // whether a run of it has not ended; changes wait for that. nil means never
	Location *time.Location             // of workflows that name no time zone; nil means the machine's
	Debounce time.Duration              // how long changes are gathered; zero means 2 s
	Now      func() time.Time           // nil means time.Now
	Logger   *slog.Logger               // nil discards
}

const (
	// lookEvery bounds how long a clock that was set, or a sleep of the machine, goes unnoticed.
	lookEvery = 30 * time.Second
)

// Triggers fire workflows. Make them with [New].
type Triggers struct {
	cfg     Config
	wake    chan struct{}
	changes chan vault.Change
	live    atomic.Bool // changes of the vault are being told

	// Of the goroutine of Run:
	looked  map[string]looked // of schedules, by workflow; zero for those that were forgotten
	watched map[string]string // globs that are followed, by workflow; empty for those that were forgotten
	batches []*batch          // in the order in which they began
	loaded  bool              // the batches of the process before are among them
	unsaved []engine.Notice   // what the journal did not take yet
	unseen  []vault.Change    // changes of which the journal could not be asked yet
	loops   loops             // refused runs that are to be stored
}

// New makes triggers; nothing fires before [Triggers.Run].
func New(c Config) *Triggers {
	if c.Location == nil {
		c.Location = time.Local
	}
	if c.Debounce <= 0 {
		c.Debounce = 2 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Triggers{
		cfg: c, wake: make(chan struct{}, 1), changes: make(chan vault.Change, 256), looked: map[string]looked{}, watched: map[string]string{},
	}
}

// Run fires until ctx ends. Slots whose run was not asked for when the process died are asked for first.
func (t *Triggers) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		t.rest(ctx, t.look(ctx).Sub(t.cfg.Now()))
	}
	t.gather(context.WithoutCancel(ctx), t.told()) // into the journal, for the next process
	return nil
}

// look does what is due, and says when to look again.
func (t *Triggers) look(ctx context.Context) time.Time {
	now, plans := t.cfg.Now(), t.cfg.Plans()
	next := now.Add(lookEvery)
	t.recover(ctx, plans)
	for _, p := range plans {
		next = earlier(next, t.schedule(ctx, p, now))
	}
	t.load(ctx)
	t.compare(ctx, plans)
	t.retry(ctx)
	t.save(ctx)
	next = earlier(next, t.deliver(ctx, plans, now))
	t.announce(ctx, plans)
	return next
}

// rest waits for something to do, at most d.
func (t *Triggers) rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(min(d, lookEvery))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-t.wake:
	case c := <-t.changes:
		t.gather(ctx, append([]vault.Change{c}, t.told()...))
	}
}

// told gives the changes that were told and not looked at yet.
func (t *Triggers) told() []vault.Change {
	var list []vault.Change
	for range len(t.changes) {
		list = append(list, <-t.changes)
	}
	return list
}

// Watching tells that changes of the vault are told from now on: what changed before is looked for. It returns at once.
func (t *Triggers) Watching() {
	t.live.Store(true)
	t.Reload()
}

// Reload makes triggers look at the plans again, and at finished imports. It returns at once.
func (t *Triggers) Reload() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// earlier is the earlier of two times; a zero time does not count.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// planOf gives the plan with a name; nil when there is none.
func planOf(plans []*workflow.Plan, name string) *workflow.Plan {
	if i := slices.IndexFunc(plans, func(p *workflow.Plan) bool { return p.Name == name }); i >= 0 {
		return plans[i]
	}
	return nil
}
