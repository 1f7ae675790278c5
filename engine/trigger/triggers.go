package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

// Starter starts runs; an engine.Executor does.
type Starter interface {
	Start(ctx context.Context, r engine.Request) (engine.Started, error)
}

// Ledger keeps the slots. journal.Journal is one; so it is for History and Imports.
type Ledger interface {
	// Until is the time up to which slots were looked at with this schedule; ok is false for a new one.
	Until(ctx context.Context, workflow, spec string) (until time.Time, ok bool, err error)
	// Plan stores slots and the new Until in one transaction. A slot that is there stays as it is.
	Plan(ctx context.Context, workflow, spec string, until time.Time, slots []engine.SlotRecord) error
	// Settle stores what became of a slot.
	Settle(ctx context.Context, s engine.SlotRecord) error
	// Due gives the slots that were stored and never settled.
	Due(ctx context.Context) ([]engine.SlotRecord, error)
	// Forget makes a workflow's schedule a new one.
	Forget(ctx context.Context, workflow string) error
}

// History answers what was before.
type History interface {
	// Count counts the unattended runs of a workflow since a time.
	Count(ctx context.Context, workflow string, since time.Time) (int, error)
	// Failures gives the failed runs that follow each other up to now, newest first.
	Failures(ctx context.Context, workflow string, limit int) ([]engine.RunRecord, error)
	// OwnWrite says whether the workflow wrote this content to this file.
	OwnWrite(ctx context.Context, workflow, name, sha256 string) (bool, error)
}

// Imports tells of finished imports, each once.
type Imports interface {
	Unannounced(ctx context.Context) ([]engine.ImportRecord, error)
	Announced(ctx context.Context, id string) error
}

// Config is what triggers work with. Plans, Starter, Ledger, History and Imports are required.
type Config struct {
	Plans    func() []*workflow.Plan // the valid plans now; called often
	Starter  Starter
	Ledger   Ledger
	History  History
	Imports  Imports
	Busy     func(workflow string) bool // whether a run of it has not ended; changes wait for that. nil means never
	Location *time.Location             // of workflows that name no time zone; nil means the machine's
	Debounce time.Duration              // how long changes are gathered; zero means 2 s
	Now      func() time.Time           // nil means time.Now
	Logger   *slog.Logger               // nil discards
}

const (
	// lookEvery bounds how long a clock that was set, or a sleep of the machine, goes unnoticed.
	lookEvery = 30 * time.Second
	// lateAfter is how old a slot may be and still count as on time.
	lateAfter = time.Minute
	// failuresInARow pause a workflow.
	failuresInARow = 3
)

// Triggers fire workflows. Make them with [New].
type Triggers struct {
	cfg     Config
	wake    chan struct{}
	changes chan Change

	// Of the goroutine of Run:
	batches map[string]*batch
	off     map[string]bool // workflows whose schedule was forgotten already
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
		cfg: c, wake: make(chan struct{}, 1), changes: make(chan Change, 256), batches: map[string]*batch{}, off: map[string]bool{},
	}
}

// Run fires until ctx ends. Slots whose run was not asked for when the process died are asked for first.
func (t *Triggers) Run(ctx context.Context) error {
	t.recover(ctx)
	for ctx.Err() == nil {
		now := t.cfg.Now()
		next := now.Add(lookEvery)
		for _, p := range t.cfg.Plans() {
			next = earlier(next, t.schedule(ctx, p, now))
		}
		next = earlier(next, t.deliver(ctx, now))
		t.announce(ctx)
		t.rest(ctx, next.Sub(t.cfg.Now()))
	}
	return nil
}

// rest waits for something to do, at most d.
func (t *Triggers) rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-t.wake:
	case c := <-t.changes:
		t.gather(ctx, c)
		for range len(t.changes) {
			t.gather(ctx, <-t.changes)
		}
	}
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

// request is what all triggers ask for.
func request(p *workflow.Plan, key string, trigger engine.Trigger, at time.Time) (engine.Request, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return engine.Request{}, fmt.Errorf("pin workflow %q: %w", p.Name, err)
	}
	return engine.Request{
		Key: key, Kind: engine.KindWorkflow, Subject: p.Name, Trigger: trigger, At: at, Overlap: engine.Overlap(p.Meta.Overlap), Plan: raw,
	}, nil
}

// start asks for a run, unless the workflow may not fire now; then the answer says why.
//
// Overlap is for plans that repeat by the clock. Changes and imports are each about something else: they are never
// skipped because of another run, but wait for it.
func (t *Triggers) start(ctx context.Context, p *workflow.Plan, key string, trigger engine.Trigger, at time.Time) (engine.Started, error) {
	why, err := t.barred(ctx, p)
	if err != nil {
		return engine.Started{}, err
	}
	if why != "" {
		t.cfg.Logger.Warn("workflow not started", "workflow", p.Name, "trigger", trigger.Kind, "reason", why)
		return engine.Started{Status: engine.Skipped, Reason: why}, nil
	}
	r, err := request(p, key, trigger, at)
	if err != nil {
		return engine.Started{}, err
	}
	if trigger.Slot.IsZero() && (r.Overlap != engine.OverlapReplace || trigger.Import != "") {
		r.Overlap = engine.OverlapQueue
	}
	return t.cfg.Starter.Start(ctx, r)
}

// barred says why a workflow may not fire by itself now; empty when it may.
func (t *Triggers) barred(ctx context.Context, p *workflow.Plan) (string, error) {
	return Barred(ctx, t.cfg.History, p, t.cfg.Now(), t.cfg.Location)
}

// Barred says why no run of a workflow may begin now that no person asks for: it failed too often in a row, or has run
// max_runs_per_day times on the day of now in its zone. Empty when one may.
func Barred(ctx context.Context, h History, p *workflow.Plan, now time.Time, zone *time.Location) (string, error) {
	if why, err := paused(ctx, h, p.Name); err != nil || why != "" {
		return why, err
	}
	limit := p.Meta.MaxRunsPerDay
	if limit <= 0 {
		return "", nil
	}
	zone = p.Meta.Location(zone)
	y, m, d := now.In(zone).Date()
	n, err := h.Count(ctx, p.Name, time.Date(y, m, d, 0, 0, 0, 0, zone))
	if err != nil || n < limit {
		return "", err
	}
	return fmt.Sprintf("max_runs_per_day: %d runs today", n), nil
}

// Paused says why a workflow does not fire by itself for now: it failed three times in a row. Empty when it does fire.
// A run that succeeds ends the pause, and so does journal.Journal.Unpause.
func (t *Triggers) Paused(ctx context.Context, name string) (string, error) {
	return paused(ctx, t.cfg.History, name)
}

func paused(ctx context.Context, h History, name string) (string, error) {
	failed, err := h.Failures(ctx, name, failuresInARow)
	if err != nil || len(failed) < failuresInARow {
		return "", err
	}
	return fmt.Sprintf("paused after %d failures in a row (last: %s); a successful run by hand ends the pause", len(failed), failed[0].Reason), nil
}
