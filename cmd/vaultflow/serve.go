package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/vault/disk"
)

func newServe(g *globals) *cobra.Command {
	var listen string
	var noWeb, askURL bool
	cmd := &cobra.Command{
		Use: "serve", Short: "Watch the vault, import what is dropped, run what is due, show it all in the dashboard", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			g.daemon = true
			if listen != "" {
				g.overrides = map[string]string{"web.listen": listen}
			}
			if askURL {
				a, err := g.open()
				if err != nil {
					return err
				}
				defer a.close()
				return a.printURL(cmd.Context(), g)
			}
			return g.serve(cmd.Context(), !noWeb)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address of the dashboard, in place of web.listen; port 0 takes a free one")
	cmd.Flags().BoolVar(&noWeb, "no-web", false, "no dashboard")
	cmd.Flags().BoolVar(&askURL, "url", false, "print a link that signs a browser in to the dashboard of the running serve, once, within ten minutes")
	return cmd
}

// nameOther says which process works on the vault already. One that does not answer is a command, which ends by itself.
func (a *app) nameOther(ctx context.Context, locked error) error {
	r, err := ask(ctx, a.stateDir, order{Info: true})
	if err != nil || r.Process == 0 {
		return locked
	}
	return exit(exitFailed, failure.New(failure.State, fmt.Sprintf("`vaultflow serve --url` prints a link to its dashboard; to start another one, end process %d first", r.Process),
		"another vaultflow is at work on this vault: serve, process %d", r.Process))
}

// printURL asks the running serve for its dashboard.
func (a *app) printURL(ctx context.Context, g *globals) error {
	r, err := ask(ctx, a.stateDir, order{Info: true})
	if err != nil {
		return exit(exitFailed, errors.New("no serve is running on this vault"))
	}
	if r.URL == "" {
		return exit(exitFailed, errors.New("the running serve has no dashboard: it was started with --no-web"))
	}
	line := struct {
		Type    string    `json:"type"`
		URL     string    `json:"url"`
		Link    string    `json:"link"` // signs one browser in
		Expires time.Time `json:"expires"`
		Version string    `json:"version"`
	}{"serve", r.URL, r.Link, r.Expires, r.Version}
	return g.print(line, func(w io.Writer) { fmt.Fprintln(w, r.Link) })
}

// serve is the daemon, which begins anew when the vault or the state were gone and are back.
func (g *globals) serve(ctx context.Context, withWeb bool) error {
	for {
		a, err := g.open()
		if err != nil {
			return err
		}
		err = a.serve(ctx, g, withWeb)
		a.close()
		if _, renewed := errors.AsType[renewal](err); renewed && ctx.Err() == nil {
			g.stayAt(a.address)
			continue
		}
		if gone, ok := errors.AsType[goneError](err); !ok || !a.comeBack(ctx, gone) {
			return err
		}
	}
}

// stayAt keeps the dashboard's port over a new beginning, when it was a free one.
func (g *globals) stayAt(address string) {
	if host, port, err := net.SplitHostPort(g.overrides["web.listen"]); err == nil && port == "0" && address != "" {
		if _, port, err = net.SplitHostPort(address); err == nil {
			g.overrides["web.listen"] = net.JoinHostPort(host, port)
		}
	}
}

// serve is the daemon: executor, triggers, watcher, control socket and dashboard until ctx ends. It stops within seconds
// and leaves what was under way to be resumed.
func (a *app) serve(ctx context.Context, g *globals, withWeb bool) error {
	w, err := a.work(ctx)
	if isLocked(err) {
		return a.nameOther(ctx, err)
	}
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.journal.Imports.Gone(ctx, ""); err != nil { // files that were arriving are seen anew
		return err
	}
	if sandboxed := a.workerProblem(ctx); sandboxed != "" {
		a.log.Warn("imports of PDFs and pictures will wait", "err", sandboxed)
	}
	if a.trust.store.Tell("log") {
		a.log.Warn(adopted)
	}
	w.held = newHolds(w)
	if err := w.held.earlier(ctx); err != nil {
		return err
	}
	if err := w.resume(ctx); err != nil {
		return err
	}
	return w.run(ctx, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		watcher := w.newWatcher()
		triggers := w.newTriggers()
		group.Go(func() error { return triggers.Run(ctx) })
		group.Go(func() error { return w.desk.Run(ctx) })
		group.Go(func() error { return watcher.Run(ctx) })
		group.Go(func() error { return w.arrivals(ctx, watcher) })
		group.Go(func() error { return w.followOriginals(ctx, watcher) })
		group.Go(func() error { return w.held.run(ctx, watcher) })
		group.Go(func() error { return w.changes(ctx, watcher, triggers) })
		group.Go(func() error { return w.settled(ctx, triggers) })
		if withWeb {
			if err := w.startWeb(ctx, group, watcher); err != nil {
				return err
			}
		}
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		group.Go(func() error { return w.sweepArtifacts(ctx, ticker.C) })
		upkeep := time.NewTicker(sweepEvery)
		defer upkeep.Stop()
		group.Go(func() error { return w.sweepJournal(ctx, upkeep.C) })
		group.Go(func() error { return w.keepStatusNote(ctx) })
		group.Go(func() error { return serveControl(ctx, a.stateDir, w.obey) })
		group.Go(func() error { return w.guard(ctx) })
		group.Go(func() error { return w.followTrust(ctx, triggers.Reload) })
		group.Go(func() error { return w.followSettings(ctx) })
		group.Go(func() error { return w.watching(ctx, g, watcher, triggers) })
		return group.Wait()
	})
}

// watching says that serve watches as soon as that is so. Workflows that were written between the triggers' first look
// and the watcher's are looked at again: nobody reports them as changed.
func (w *working) watching(ctx context.Context, g *globals, watcher *disk.Watcher, triggers *trigger.Triggers) error {
	select {
	case <-ctx.Done():
		return nil
	case <-watcher.Started():
	}
	triggers.Watching()
	line := fmt.Sprintf("watching %s; drop files into %s", w.dir, w.settings.Vault.ImportDir)
	if w.url != "" {
		line += "; dashboard at " + w.signInHint(g)
	}
	if w.trust.untrusted() {
		line += "\nthis vault is not trusted yet: files are imported, and nothing else runs or is sent; `vaultflow trust --vault " + w.dir + "` shows what it asks for, and asks you"
	}
	_, err := fmt.Fprintln(g.err, line)
	return err
}

// signInHint says how to open the dashboard. A link that signs somebody in goes to a person's terminal only: standard error
// may end in a log that others read.
func (w *working) signInHint(g *globals) string {
	if !isTerminal(g.err) {
		return w.url + " (`vaultflow serve --url` prints a link that signs you in)"
	}
	link, _ := w.signInLink()
	return link
}

// obey answers an order of a command, and says which files of settings have changed since they were loaded.
func (w *working) obey(ctx context.Context, o order) reply {
	r := w.answer(ctx, o)
	r.Changed = w.loaded.changed(w.dir)
	return r
}

func (w *working) answer(ctx context.Context, o order) reply {
	var id, was string
	var err error
	w.given.add(o.Passwords...)
	switch {
	case o.Run != nil:
		id, err = w.startRun(ctx, *o.Run)
	case o.Import != nil:
		id, err = w.dropAsked(ctx, *o.Import)
	case o.Cancel != "":
		id, err = o.Cancel, w.exec.Cancel(ctx, o.Cancel)
	case o.Retry != "":
		id, err = o.Retry, w.retry(ctx, o.Retry, o.From)
	case o.Approve != nil:
		id, err = o.Approve.Run, w.decide(ctx, *o.Approve)
	case o.Undo != "":
		id, err = w.startUndo(ctx, o.Undo)
	case o.Own != "":
		err = w.clearOrigin(ctx, o.Own)
	case o.Unpause != "":
		was, err = w.unpause(ctx, o.Unpause)
	case o.Trust:
		w.renewSoon()
		return reply{Trust: fingerprint(w.trust.opened)}
	case o.Info:
		r := reply{URL: w.url, Version: version, Process: os.Getpid()}
		r.Link, r.Expires = w.signInLink()
		return r
	default:
		err = usagef("an empty order")
	}
	if err != nil {
		return reply{Failure: failure.Of(err), Exit: failureExit(err)}
	}
	return reply{Run: id, Was: was}
}

func (w *working) newWatcher() *disk.Watcher {
	v := w.settings.Vault
	return disk.NewWatcher(w.vault, disk.WatchOptions{
		Quiet: v.QuietPeriod.Std(), Stall: v.StallPeriod.Std(), Rescan: v.RescanInterval.Std(),
		Poll: v.Watch == "poll",
	})
}

// workerProblem says why no worker can be started, empty when one can.
func (a *app) workerProblem(ctx context.Context) string {
	report, err := a.workerReport(ctx)
	if err != nil {
		return err.Error()
	}
	for _, p := range report.Problems {
		return p.Message + "; " + p.Fix
	}
	return ""
}
