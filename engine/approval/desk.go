package approval

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
)

// Proposals keeps proposals and decisions.
type Proposals interface {
	// Open returns the open proposals of a run, or of all runs, in the order of their creation.
	Open(ctx context.Context, run string) ([]engine.Proposal, error)
	// Decide stores a decision about open proposals of a run. Numbers that are not open are an error.
	Decide(ctx context.Context, d engine.Decision, now time.Time) ([]engine.Proposal, error)
	// Expire rejects what is due and returns its runs and the next deadline, zero when there is none.
	Expire(ctx context.Context, now time.Time) (runs []string, next time.Time, err error)
	// Decided returns parked runs about which something was decided.
	Decided(ctx context.Context) ([]string, error)
}

// Blobs keeps large values by digest.
type Blobs interface {
	Get(ctx context.Context, digest string) ([]byte, error)
}

// Config is what a desk works with. All fields but Zone, Now and Logger are required.
type Config struct {
	Proposals Proposals
	Blobs     Blobs
	Files     vault.Files
	Wake      func(ctx context.Context, run string) error    // engine.Executor's
	Subscribe func(buffer int) (<-chan engine.Event, func()) // engine.Executor's
	Dir       string                                         // of the notes: a name of the vault
	Keys      Keys                                           // of the state directory
	Zone      *time.Location                                 // of times in notes; nil means the machine's
	Now       func() time.Time                               // nil means time.Now
	Logger    *slog.Logger                                   // nil discards
}

// Desk is where decisions arrive. Its methods are safe for concurrent use.
type Desk struct {
	cfg  Config
	poke chan struct{}
	told map[string]bool // notes that were reported as kept. Run's own
}

// New makes a desk. Notes and deadlines are looked after by [Desk.Run] alone.
func New(c Config) *Desk {
	if c.Zone == nil {
		c.Zone = time.Local
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Desk{cfg: c, poke: make(chan struct{}, 1), told: map[string]bool{}}
}

// Keys returns the keys that the desk's notes are made with.
func (d *Desk) Keys() Keys { return d.cfg.Keys }

// Decide stores a decision and continues the run. An *failure.Error is for the user.
func (d *Desk) Decide(ctx context.Context, said engine.Decision) error {
	if err := d.store(ctx, said); err != nil {
		return err
	}
	d.Look()
	return d.cfg.Wake(ctx, said.Run)
}

func (d *Desk) store(ctx context.Context, said engine.Decision) error {
	if err := said.Check(); err != nil {
		return err
	}
	list, err := d.cfg.Proposals.Decide(ctx, said, d.cfg.Now())
	for _, p := range list {
		d.cfg.Logger.InfoContext(ctx, "decided", "run", p.Run, "item", p.Item, "what", p.What(), "decision", p.Decision, "by", p.Decider(), "edited", p.Edited != "")
	}
	return err
}

// Changed handles a change of a file and reports whether the file is in the folder of the notes.
func (d *Desk) Changed(name string) bool {
	if !strings.HasPrefix(name, d.cfg.Dir+"/") {
		return false
	}
	d.Look()
	return true
}

// Look asks for a look at notes and deadlines.
func (d *Desk) Look() {
	select {
	case d.poke <- struct{}{}:
	default:
	}
}

// lookEvery is how often notes and deadlines are checked without an event: a clock may be set, a watcher may miss a change.
const lookEvery = time.Minute

// Run keeps notes and deadlines until ctx ends, and returns nil then.
func (d *Desk) Run(ctx context.Context) error {
	events, stop := d.cfg.Subscribe(0)
	defer stop()
	runs, err := d.cfg.Proposals.Decided(ctx)
	d.complain(ctx, "runs with decisions not found", err)
	d.wake(ctx, runs)
	for ctx.Err() == nil {
		timer := time.NewTimer(d.look(ctx))
		d.wait(ctx, events, timer.C)
		timer.Stop()
	}
	return nil
}

// wait returns when there may be something to do.
func (d *Desk) wait(ctx context.Context, events <-chan engine.Event, due <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-due:
			return
		case <-d.poke:
			return
		case e, open := <-events:
			if !open || e.Kind == engine.EventLost || e.Kind == engine.EventRun && (e.Status.Finished() || e.Status == engine.AwaitingApproval) {
				return
			}
		}
	}
}

// look rejects what is due, carries out what was ticked, and updates the notes. It returns when to look again.
func (d *Desk) look(ctx context.Context) time.Duration {
	now := d.cfg.Now()
	runs, next, err := d.cfg.Proposals.Expire(ctx, now)
	d.complain(ctx, "deadlines of approvals not looked at", err)
	d.wake(ctx, runs)
	d.complain(ctx, "notes of approvals not kept", d.notes(ctx))
	wait := lookEvery
	if !next.IsZero() {
		wait = min(wait, max(next.Sub(now), 0))
	}
	return max(wait, 10*time.Millisecond)
}

func (d *Desk) wake(ctx context.Context, runs []string) {
	for _, run := range runs {
		d.complain(ctx, "run not woken after a decision; the next start does it", d.cfg.Wake(ctx, run))
	}
}

func (d *Desk) complain(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		d.cfg.Logger.WarnContext(ctx, what, "err", err)
	}
}

// notes reads the boxes of all notes, and writes and removes those that are ours.
func (d *Desk) notes(ctx context.Context) error {
	open, err := d.cfg.Proposals.Open(ctx, "")
	if err != nil {
		return err
	}
	byRun := map[string][]engine.Proposal{}
	var order []string
	for _, p := range open {
		if byRun[p.Run] == nil {
			order = append(order, p.Run)
		}
		byRun[p.Run] = append(byRun[p.Run], p)
	}
	var errs []error
	entries, err := fs.ReadDir(d.cfg.Files.FS(), d.cfg.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		run, isNote := strings.CutSuffix(e.Name(), ".md")
		if isNote && byRun[run] == nil {
			errs = append(errs, d.clear(ctx, run))
		}
	}
	for _, run := range order {
		errs = append(errs, d.keep(ctx, run, byRun[run]))
	}
	return errors.Join(errs...)
}

func (d *Desk) name(run string) string { return path.Join(d.cfg.Dir, run+".md") }

// maxNote bounds what is read of a note, in bytes.
const maxNote = 16 << 20

// clear removes the note of a run without open proposals, unless the user has edited it.
func (d *Desk) clear(ctx context.Context, run string) error {
	data, sha, err := d.cfg.Files.Read(d.name(run), maxNote)
	if err != nil || head.Find(data) == nil && oldHead.Find(data) == nil {
		return nil //nolint:nilerr // gone, or no note of ours
	}
	if who, edited := d.cfg.Keys.judge(data, run); who == others || edited {
		d.say(run)
		return nil
	}
	return d.cfg.Files.Remove(ctx, d.name(run), sha)
}

// keep carries out what was ticked in the note of a run, or else updates the note.
func (d *Desk) keep(ctx context.Context, run string, open []engine.Proposal) error {
	data, sha, err := d.cfg.Files.Read(d.name(run), maxNote)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	texts, err := showAll(ctx, open, d.cfg.Blobs.Get)
	if err != nil {
		return err
	}
	n := note{keys: d.cfg.Keys, run: run, open: open, text: texts, zone: d.cfg.Zone}
	who, edited := d.cfg.Keys.judge(data, run)
	switch {
	case sha == "":
	case who == stale:
		if n.voided = true; edited {
			if err := d.setAside(ctx, run, data); err != nil {
				return err
			}
		}
	default:
		said := n.read(data)
		if decided, err := d.obey(ctx, n, said); decided || err != nil {
			return err // an event follows when the run waits again or has ended
		}
		if who == others {
			d.say(run)
			return nil
		}
		n.reasons = said.typed
		if m := head.FindSubmatch(data); m != nil {
			n.voided = len(m[4]) > 0
		}
	}
	next := n.render()
	if string(next) == string(data) {
		return nil
	}
	return d.unlessEdited(d.cfg.Files.Write(ctx, d.name(run), next, sha))
}

// setAside keeps an edited note that is replaced, in a file beside it.
func (d *Desk) setAside(ctx context.Context, run string, data []byte) error {
	err := d.cfg.Files.Write(ctx, path.Join(d.cfg.Dir, run+" (before the update).md"), data, "")
	if errors.Is(err, vault.ErrConflict) {
		return nil // it is there already
	}
	return err
}

// unlessEdited drops the error of a write that lost to an edit: a box was ticked at this moment.
func (d *Desk) unlessEdited(err error) error {
	if !errors.Is(err, vault.ErrConflict) {
		return err
	}
	d.Look()
	return nil
}

// obey carries out the ticked boxes. An item with both boxes ticked is rejected.
func (d *Desk) obey(ctx context.Context, n note, said answers) (decided bool, err error) {
	var yes, no []int
	var list []engine.Decision
	shown := n.isShown()
	for i, p := range n.open {
		switch {
		case said.no[p.Item]:
			list = append(list, engine.Decision{Items: []int{p.Item}, Reason: said.reasons[p.Item]})
		case said.yes[p.Item]:
			yes = append(yes, p.Item)
		case said.rest && shown[i]:
			no = append(no, p.Item)
		}
	}
	if len(no) > 0 {
		list = append(list, engine.Decision{Items: no})
	}
	if len(yes) > 0 {
		list = append([]engine.Decision{{Items: yes, Approve: true}}, list...)
	}
	for _, one := range list {
		one.Run, one.By = n.run, engine.DecidedNote
		if err := d.store(ctx, one); err != nil {
			return true, err
		}
	}
	if len(list) > 0 {
		err = d.cfg.Wake(ctx, n.run)
	}
	return len(list) > 0, err
}

// say logs once that an edited note is kept as it is.
func (d *Desk) say(run string) {
	if d.told[run] {
		return
	}
	d.told[run] = true
	d.cfg.Logger.Warn("an approval note was edited: its boxes still work, but it is neither updated nor removed; remove it to get a new one", "name", d.name(run))
}
