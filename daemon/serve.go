package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vaultflow/vaultflow/daemon/access"
	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/intake"
	"github.com/vaultflow/vaultflow/daemon/reload"
	"github.com/vaultflow/vaultflow/daemon/statusnote"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/web"
)

// ServeOptions say how the daemon is served.
type ServeOptions struct {
	Web   bool             // the dashboard
	Front *Front           // that shows it, if it has no address of its own
	Gone  func(why error)  // called when the vault or its state is gone; serve waits until they are back. It may be nil
	Look  <-chan os.Signal // makes serve look for changed settings now
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
// settings or the trust in the vault have changed. Settings with which it cannot start do not end it: it goes back to those it had.
func Serve(ctx context.Context, o Options, so ServeOptions) error {
	var former *Workspace // that serve has worked with
	for {
		a, files, err := open(ctx, o)
		var s served
		if err == nil {
			s, err = serveOnce(ctx, a, so)
			a.Close()
		}
		gone, isGone := errors.AsType[goneError](err)
		if isGone && so.Gone != nil {
			so.Gone(gone)
		}
		switch {
		case ctx.Err() != nil:
			return err
		case errors.Is(err, reload.ErrChanged):
			former, o.former, o.unusable = a, nil, reload.Unusable{}
			o.Overrides = stayAt(o.Overrides, s.address)
		case isGone && comeBack(ctx, a, gone):
		case former != nil && !s.ready && errors.Is(err, journal.ErrLocked):
			time.Sleep(lockedFor) // a command was faster, and ends by itself
		case former != nil && !s.ready && o.former == nil && !files.Same(former.input.From):
			if _, faults := errors.AsType[*settings.Error](err); !faults { // which the watch reports
				former.Log.Error("serve cannot start with the changed settings; it goes back to the former ones", "err", err)
			}
			o.former, o.unusable = former.input.From, reload.Unusable{Files: files, Err: err}
		default:
			return err
		}
	}
}

// lockedFor is how long a serve that starts over waits to try again while a command holds the vault.
const lockedFor = 100 * time.Millisecond

// served is how far a serve came.
type served struct {
	ready   bool   // it watched the vault
	address string // of the dashboard
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
func serveOnce(ctx context.Context, a *Workspace, o ServeOptions) (s served, err error) {
	dash := newDashboard(a, o.Front)
	var listener net.Listener
	if o.Web && o.Front == nil { // first: nothing has begun yet if its address is taken
		if listener, err = listenWeb(ctx, a); err != nil {
			return s, nameOther(ctx, a.StateDir, err)
		}
		defer listener.Close()
		dash.url, s.address = access.URLOf(listener.Addr()), listener.Addr().String()
	}
	w, err := work(ctx, a, true)
	if errors.Is(err, journal.ErrLocked) {
		return s, nameOther(ctx, a.StateDir, err)
	}
	if err != nil {
		return s, err
	}
	defer w.Close()
	if err := w.Journal.Imports.Gone(ctx, ""); err != nil { // files that were arriving are seen again
		return s, err
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
		return s, err
	}
	if err := w.resume(ctx); err != nil {
		return s, err
	}
	answering := &orders{w: w, dash: dash}
	var server *web.Server
	if o.Web {
		if server, err = newWeb(w, watcher, dash); err != nil {
			return s, err
		}
	}
	err = w.Run(ctx, func(ctx context.Context) error {
		group, ctx := newParts(ctx)
		triggers := newTriggers(w)
		firing, stop := context.WithCancel(ctx)
		defer stop()
		var fires sync.WaitGroup // what starts work by itself
		for _, run := range []func(context.Context) error{
			triggers.Run, watcher.Run, arriving.Run,
			func(ctx context.Context) error { return followChanges(ctx, w, watcher, triggers) },
		} {
			fires.Add(1)
			group.Go(func() error {
				defer fires.Done()
				return run(firing)
			})
		}
		group.Go(func() error { return w.desk.Run(ctx) })
		group.Go(func() error { return followEnded(ctx, w, triggers) })
		if server != nil {
			group.Go(func() error {
				if o.Front != nil {
					return o.Front.serve(ctx, server, w.trouble)
				}
				return server.Serve(ctx, listener)
			})
		}
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		group.Go(func() error { return w.artifacts.Sweep(ctx, ticker.C) })
		upkeep := time.NewTicker(sweepEvery)
		defer upkeep.Stop()
		group.Go(func() error { return sweepJournal(ctx, w, upkeep.C) })
		group.Go(func() error { return newStatusNote(w, dash).Run(ctx) })
		group.Go(func() error { return control.Serve(ctx, a.StateDir, answering.obey) })
		group.Go(func() error { return guard(ctx, w) })
		group.Go(func() error { return lookAgain(ctx, w, o.Look) })
		group.Go(func() error {
			err := w.changes.Run(ctx, triggers.Reload)
			if err != nil {
				w.changes.Draining()
				stop()
				fires.Wait()
				w.Exec.Drain.Begin(ctx)
				answering.finish()
			}
			return err
		})
		group.Go(func() error { return announce(ctx, w, dash, o.Ready, watcher, triggers, &s.ready) })
		return group.Wait()
	})
	return s, err
}

// parts run at the same time. One that panics ends this serve, and not those of other vaults in the process.
type parts struct{ *errgroup.Group }

func newParts(ctx context.Context) (parts, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return parts{group}, ctx
}

// Go runs a part.
func (g parts) Go(part func() error) {
	g.Group.Go(func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		return part()
	})
}

// lookAgain looks for changed settings whenever somebody asks for it.
func lookAgain(ctx context.Context, w *Process, asked <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-asked:
			w.changes.Retry()
		}
	}
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
func announce(ctx context.Context, w *Process, dash *dashboard, ready func(Ready) error, watcher *disk.Watcher, triggers *trigger.Triggers, announced *bool) error {
	select {
	case <-ctx.Done():
		return nil
	case <-watcher.Started():
	}
	triggers.Watching()
	*announced = true
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
