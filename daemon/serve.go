package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/intake"
	"github.com/vaultflow/vaultflow/daemon/statusnote"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
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
// trust in the vault has changed. Settings that have faults by then do not end it: it works on with those it had.
func Serve(ctx context.Context, o Options, so ServeOptions) error {
	var before *Workspace
	for {
		a, err := Open(ctx, o)
		if before != nil && err != nil && control.ClassOf(err) == control.Invalid {
			before.Log.Error("the settings have faults; serve continues with the former ones and the present trust", "err", err)
			former := o
			former.former = before.loaded
			a, err = Open(ctx, former)
		}
		if err != nil {
			return err
		}
		before = a
		address, err := serveOnce(ctx, a, so)
		a.Close()
		if errors.Is(err, consent.ErrChanged) && ctx.Err() == nil {
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

// sweepEvery is how often a serve removes artifacts and records beyond their limits, which are days.
const sweepEvery = time.Hour

// serveOnce is the daemon: executor, triggers, watcher, control socket and dashboard until ctx ends. It stops within seconds
// and leaves what was under way to be resumed.
func serveOnce(ctx context.Context, a *Workspace, o ServeOptions) (address string, err error) {
	w, err := work(ctx, a, true)
	if errors.Is(err, journal.ErrLocked) {
		return "", nameOther(ctx, a.StateDir, err)
	}
	if err != nil {
		return "", err
	}
	defer w.Close()
	if err := w.Journal.Imports.Gone(ctx, ""); err != nil { // files that were arriving are seen again
		return "", err
	}
	if sandboxed := a.Workers.Problem(ctx); sandboxed != "" {
		a.Log.Warn("imports of PDFs and pictures will wait", "err", sandboxed)
	}
	if a.Trust.Announce("log") {
		a.Log.Warn(consent.Adopted)
	}
	watcher := newWatcher(a)
	arriving := intake.NewArrivals(watcher, w.Imports, w.importers, a.Writing(policy.ByImport))
	if err := arriving.Resume(ctx); err != nil {
		return "", err
	}
	if err := w.resume(ctx); err != nil {
		return "", err
	}
	dash := &dashboard{settings: a.Settings.Web}
	answering := &orders{w, dash}
	err = w.Run(ctx, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		triggers := newTriggers(w)
		group.Go(func() error { return triggers.Run(ctx) })
		group.Go(func() error { return w.desk.Run(ctx) })
		group.Go(func() error { return watcher.Run(ctx) })
		group.Go(func() error { return arriving.Run(ctx) })
		group.Go(func() error { return followChanges(ctx, w, watcher, triggers) })
		group.Go(func() error { return followEnded(ctx, w, triggers) })
		if o.Web {
			if err := startWeb(ctx, group, w, watcher, dash); err != nil {
				return err
			}
		}
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		group.Go(func() error { return w.artifacts.sweep(ctx, ticker.C) })
		upkeep := time.NewTicker(sweepEvery)
		defer upkeep.Stop()
		group.Go(func() error { return sweepJournal(ctx, w, upkeep.C) })
		group.Go(func() error { return newStatusNote(w, dash).Run(ctx) })
		group.Go(func() error { return control.Serve(ctx, a.StateDir, answering.obey) })
		group.Go(func() error { return guard(ctx, w) })
		group.Go(func() error { return w.renewals.Run(ctx, triggers.Reload) })
		group.Go(func() error { return followSettings(ctx, w) })
		group.Go(func() error { return announce(ctx, w, dash, o.Ready, watcher, triggers) })
		return group.Wait()
	})
	return dash.address, err
}

// nameOther names the process that already works on the vault. One that does not answer is a command, which ends by itself.
func nameOther(ctx context.Context, stateDir string, locked error) error {
	r, err := control.Ask(ctx, stateDir, control.Order{Info: true})
	if err != nil || r.Process == 0 {
		return locked
	}
	return failure.New(failure.State, fmt.Sprintf("`vaultflow serve --url` prints a link to its dashboard; to start another one, end process %d first", r.Process),
		"another vaultflow serve already uses this vault: process %d", r.Process)
}

// announce reports that serve watches as soon as that is so. Workflows that were written between the triggers' first look
// and the watcher's are looked at again: nobody reports them as changed.
func announce(ctx context.Context, w *Process, dash *dashboard, ready func(Ready) error, watcher *disk.Watcher, triggers *trigger.Triggers) error {
	select {
	case <-ctx.Done():
		return nil
	case <-watcher.Started():
	}
	triggers.Watching()
	return ready(Ready{
		Dir: w.Workspace.Dir, ImportDir: w.Workspace.Settings.Vault.ImportDir, URL: dash.url, Trusted: !w.Workspace.Trust.Untrusted(),
		Link: func() string { link, _ := dash.link(); return link },
	})
}

func newWatcher(a *Workspace) *disk.Watcher {
	v := a.Settings.Vault
	return disk.NewWatcher(a.Vault, disk.WatchOptions{
		Quiet: v.QuietPeriod.Std(), Stall: v.StallPeriod.Std(), Rescan: v.RescanInterval.Std(), Poll: v.Watch == "poll",
	})
}

func newStatusNote(w *Process, dash *dashboard) *statusnote.Note {
	a := w.Workspace
	return &statusnote.Note{
		Settings: a.Settings, Vault: a.Vault, Files: a.Writing(policy.ByStatus), Subscribe: w.Exec.Subscribe, Zone: a.Zone, Log: a.Log,
		Overview: func(ctx context.Context) (engine.Overview, error) { return serving(ctx, w, dash.url) },
	}
}
