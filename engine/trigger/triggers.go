package trigger

import (
	"context"
	"io/fs"
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
	// Failures returns the failed runs that follow each other up to now, newest first.
	Failures(ctx context.Context, workflow string, limit int) ([]engine.RunRecord, error)
}

// Writers knows who wrote a content.
type Writers interface {
	// Writers returns the workflows whose runs wrote this content to this file.
	Writers(ctx context.Context, name, sha256 string) ([]engine.Writer, error)
}

// Imports lists finished imports that on_import has not seen.
type Imports interface {
	Unannounced(ctx context.Context) ([]engine.ImportRecord, error)
	Announced(ctx context.Context, id string) error
}

// Config is what triggers work with. Plans, Starter, Slots, Watches, History, Writers and Imports are required.
type Config struct {
	Plans     func() []*workflow.Plan // the valid plans now; called often
	Starter   Starter
	Slots     Slots
	Watches   Watches
	History   History
	Writers   Writers
	Imports   Imports
	Files     vault.Lister               // nil: changes made before the start go unnoticed
	FS        fs.FS                      // the vault, for watch globs of older bundles' names (see vault.Bundles); nil: names count alone
	Ours      func(name string) bool     // files that never fire anything: vaultflow keeps them itself. nil means none
	Busy      func(workflow string) bool // whether a run of it has not ended; changes wait for that. nil means never
	Importing func() bool                // whether an import has not ended; imports that are gathered wait for that. nil means never
	Location  *time.Location             // of workflows that name no time zone; nil means the machine's
	Debounce  time.Duration              // how long changes are gathered; zero means 2 s
	Now       func() time.Time           // nil means time.Now
	Logger    *slog.Logger               // nil discards
}

// failed logs an error, but none of a context that has ended: serve stops or starts over, and looks again.
func (c *Config) failed(ctx context.Context, message string, args ...any) {
	if ctx.Err() == nil {
		c.Logger.Error(message, args...)
	}
}

const (
	// lookEvery bounds how long a clock that was set, or a sleep of the machine, goes unnoticed.
	lookEvery = 30 * time.Second
)

// Triggers fire workflows. Make them with [New].
type Triggers struct {
	cfg     *Config
	wake    chan struct{}
	changes chan vault.Change
	live    atomic.Bool // the watcher of the vault is live

	// Of the goroutine of Run:
	schedules schedules
	watching  watching
	imports   announcer
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
	runs := launcher{&c}
	t := &Triggers{
		cfg: &c, wake: make(chan struct{}, 1), changes: make(chan vault.Change, 256),
		schedules: schedules{cfg: &c, runs: runs, looked: map[string]looked{}},
		watching:  watching{cfg: &c, runs: runs, watched: map[string]string{}, reported: map[string]string{}},
	}
	t.imports = announcer{&c, runs, &t.watching}
	return t
}

// Run fires until ctx ends. Slots whose run was not asked for when the process died are asked for first.
func (t *Triggers) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		t.rest(ctx, t.look(ctx).Sub(t.cfg.Now()))
	}
	t.watching.gather(context.WithoutCancel(ctx), t.pending()) // into the journal, for the next process
	return nil
}

// look does what is due and returns when to look again.
func (t *Triggers) look(ctx context.Context) time.Time {
	now, plans := t.cfg.Now(), t.cfg.Plans()
	next := now.Add(lookEvery)
	t.schedules.recover(ctx, plans)
	for _, p := range plans {
		next = earlier(next, t.schedules.schedule(ctx, p, now))
	}
	t.watching.load(ctx)
	if t.live.Load() {
		t.watching.compare(ctx, plans)
	}
	t.watching.retry(ctx)
	t.watching.save(ctx)
	if t.watching.loaded { // or an import could be announced twice
		t.imports.announce(ctx, plans)
	}
	return earlier(next, t.watching.deliver(ctx, plans, now))
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
		t.watching.gather(ctx, append([]vault.Change{c}, t.pending()...))
	}
}

// pending returns the changes that nobody has looked at yet.
func (t *Triggers) pending() []vault.Change {
	var list []vault.Change
	for range len(t.changes) {
		list = append(list, <-t.changes)
	}
	return list
}

// Watching is called once the watcher is live. Triggers then look for changes made before that. It returns at once.
func (t *Triggers) Watching() {
	t.live.Store(true)
	t.Reload()
}

// Changed reports a change. It waits while very many changes are being looked at, at most until ctx ends.
func (t *Triggers) Changed(ctx context.Context, c vault.Change) {
	select {
	case t.changes <- c:
	case <-ctx.Done():
	}
}

// Reload makes triggers look at the plans again, and at finished imports. It returns at once.
func (t *Triggers) Reload() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// earlier returns the earlier of two times; a zero time does not count.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// planOf returns the plan with a name; nil if there is none.
func planOf(plans []*workflow.Plan, name string) *workflow.Plan {
	if i := slices.IndexFunc(plans, func(p *workflow.Plan) bool { return p.Name == name }); i >= 0 {
		return plans[i]
	}
	return nil
}
