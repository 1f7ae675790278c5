package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// ServeOptions say how the daemon is served.
type ServeOptions struct {
	Web bool // the dashboard
	// Ready is called once the vault is watched. It may be called again when the daemon has started over.
	Ready func(Ready) error
}

// Ready is a daemon that watches its vault.
type Ready struct {
	Dir       string
	ImportDir string
	URL       string        // of the dashboard, or ""
	Link      func() string // returns an address that signs one browser in
	Trusted   bool
}

// Serve runs the daemon until ctx ends. It starts over when the vault or the state were gone and are back, and when the
// trust in the vault has changed.
func Serve(ctx context.Context, o Options, so ServeOptions) error {
	for {
		a, err := Open(ctx, o)
		if err != nil {
			return err
		}
		address, err := a.serve(ctx, so)
		a.Close()
		if _, renewed := errors.AsType[renewal](err); renewed && ctx.Err() == nil {
			o.Overrides = stayAt(o.Overrides, address)
			continue
		}
		if gone, ok := errors.AsType[goneError](err); !ok || !comeBack(ctx, a, gone) {
			return err
		}
	}
}

// stayAt keeps the dashboard's port when the daemon starts over and the system had chosen it.
func stayAt(overrides map[string]string, address string) map[string]string {
	host, port, err := net.SplitHostPort(overrides["web.listen"])
	if err != nil || port != "0" || address == "" {
		return overrides
	}
	if _, port, err = net.SplitHostPort(address); err != nil {
		return overrides
	}
	kept := maps.Clone(overrides)
	kept["web.listen"] = net.JoinHostPort(host, port)
	return kept
}

// serve is the daemon: executor, triggers, watcher, control socket and dashboard until ctx ends. It stops within seconds
// and leaves what was under way to be resumed.
func (a *Workspace) serve(ctx context.Context, o ServeOptions) (address string, err error) {
	w, err := a.work(ctx, true)
	if errors.Is(err, journal.ErrLocked) {
		return "", a.nameOther(ctx, err)
	}
	if err != nil {
		return "", err
	}
	defer w.Close()
	if err := w.Journal.Imports.Gone(ctx, ""); err != nil { // files that were arriving are seen anew
		return "", err
	}
	if sandboxed := a.Workers.Problem(ctx); sandboxed != "" {
		a.Log.Warn("imports of PDFs and pictures will wait", "err", sandboxed)
	}
	if a.Trust.Tell("log") {
		a.Log.Warn(Adopted)
	}
	watcher := w.newWatcher()
	arriving := newArrivals(w, watcher)
	if err := arriving.held.earlier(ctx); err != nil {
		return "", err
	}
	if err := w.resume(ctx); err != nil {
		return "", err
	}
	err = w.Run(ctx, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		triggers := newTriggers(w)
		group.Go(func() error { return triggers.Run(ctx) })
		group.Go(func() error { return w.desk.Run(ctx) })
		group.Go(func() error { return watcher.Run(ctx) })
		group.Go(func() error { return arriving.run(ctx) })
		group.Go(func() error { return arriving.originals.run(ctx) })
		group.Go(func() error { return arriving.held.run(ctx) })
		group.Go(func() error { return w.changes(ctx, watcher, triggers) })
		group.Go(func() error { return w.settled(ctx, triggers) })
		if o.Web {
			if err := w.startWeb(ctx, group, watcher); err != nil {
				return err
			}
		}
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		group.Go(func() error { return w.sweepArtifacts(ctx, ticker.C) })
		upkeep := time.NewTicker(sweepEvery)
		defer upkeep.Stop()
		group.Go(func() error { return sweepJournal(ctx, w, upkeep.C) })
		group.Go(func() error { return newStatusNote(w).run(ctx) })
		group.Go(func() error { return serveControl(ctx, a.StateDir, w.obey) })
		group.Go(func() error { return guard(ctx, w) })
		group.Go(func() error { return w.renewals.run(ctx, triggers.Reload) })
		group.Go(func() error { return followSettings(ctx, w) })
		group.Go(func() error { return w.watching(ctx, o.Ready, watcher, triggers) })
		return group.Wait()
	})
	return w.address, err
}

// nameOther names the process that already works on the vault. One that does not answer is a command, which ends by itself.
func (a *Workspace) nameOther(ctx context.Context, locked error) error {
	r, err := Ask(ctx, a.StateDir, Order{Info: true})
	if err != nil || r.Process == 0 {
		return locked
	}
	return failure.New(failure.State, fmt.Sprintf("`vaultflow serve --url` prints a link to its dashboard; to start another one, end process %d first", r.Process),
		"another vaultflow is at work on this vault: serve, process %d", r.Process)
}

// watching says that serve watches as soon as that is so. Workflows that were written between the triggers' first look
// and the watcher's are looked at again: nobody reports them as changed.
func (w *Process) watching(ctx context.Context, ready func(Ready) error, watcher *disk.Watcher, triggers *trigger.Triggers) error {
	select {
	case <-ctx.Done():
		return nil
	case <-watcher.Started():
	}
	triggers.Watching()
	return ready(Ready{
		Dir: w.Dir, ImportDir: w.Settings.Vault.ImportDir, URL: w.url, Trusted: !w.Trust.Untrusted(),
		Link: func() string { link, _ := w.signInLink(); return link },
	})
}

// obey answers an order of a command, and says which files of settings have changed since they were loaded.
func (w *Process) obey(ctx context.Context, o Order) Reply {
	r := w.answer(ctx, o)
	r.Changed = w.loaded.changed(w.Dir)
	return r
}

func (w *Process) answer(ctx context.Context, o Order) Reply {
	var id, was string
	var err error
	w.Passwords.Add(o.Passwords...)
	switch {
	case o.Run != nil:
		id, err = w.Runs.Start(ctx, *o.Run)
	case o.Import != nil:
		id, err = w.Imports.Drop(ctx, *o.Import)
	case o.Cancel != "":
		id, err = o.Cancel, w.Runs.Cancel(ctx, o.Cancel)
	case o.Retry != "":
		id, err = o.Retry, w.Runs.Retry(ctx, o.Retry, o.From)
	case o.Approve != nil:
		id, err = o.Approve.Run, w.Decide(ctx, *o.Approve)
	case o.Undo != "":
		id, err = w.Runs.Undo(ctx, o.Undo)
	case o.Own != "":
		err = w.ClearOrigin(ctx, o.Own)
	case o.Unpause != "":
		was, err = w.Runs.Unpause(ctx, o.Unpause)
	case o.Trust:
		w.renewals.soon()
		return Reply{Trust: Fingerprint(w.Trust.opened)}
	case o.Info:
		r := Reply{URL: w.url, Version: w.options.Version, Process: os.Getpid()}
		r.Link, r.Expires = w.signInLink()
		return r
	default:
		err = usagef("an empty order")
	}
	if err != nil {
		return Reply{Failure: failure.Of(err), Class: ClassOf(err)}
	}
	return Reply{Run: id, Was: was}
}

func (w *Process) newWatcher() *disk.Watcher {
	v := w.Settings.Vault
	return disk.NewWatcher(w.Vault, disk.WatchOptions{
		Quiet: v.QuietPeriod.Std(), Stall: v.StallPeriod.Std(), Rescan: v.RescanInterval.Std(),
		Poll: v.Watch == "poll",
	})
}
