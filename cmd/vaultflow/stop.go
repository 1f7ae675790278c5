package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// stopping is what signals ask of a command that waits for runs. The first Ctrl-C asks them to end. A second one, SIGTERM, or a terminal
// that was closed (SIGHUP), says nothing about the runs, and ends the command alone.
type stopping struct {
	asked context.Context // ends with the first Ctrl-C
	leave context.Context // ends when the command is to end at once
}

// patiently returns what signals ask from now on, in place of ctx, which the first signal ends. If that has come, it is [errNotBegun].
func patiently(ctx context.Context) (stopping, func(), error) {
	leave, end := context.WithCancel(context.WithoutCancel(ctx))
	asked, ask := context.WithCancel(context.WithoutCancel(ctx))
	s, over := stopping{asked, leave}, func() { ask(); end() }
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, heeded(os.Interrupt, syscall.SIGHUP)...)
	if ctx.Err() != nil {
		signal.Stop(signals)
		return s, over, exit(exitCancelled, errNotBegun)
	}
	go func() {
		defer signal.Stop(signals)
		defer end()
		for {
			select {
			case <-leave.Done():
				return
			case got := <-signals:
				if got != os.Interrupt || s.stopped() {
					return
				}
				ask()
			}
		}
	}()
	return s, over, nil
}

// heeded returns SIGTERM and those of other signals that are not to be ignored: `nohup` ignores SIGHUP, and scripts SIGINT for their
// background jobs.
func heeded(others ...os.Signal) []os.Signal {
	return append(slices.DeleteFunc(others, signal.Ignored), syscall.SIGTERM)
}

// stopped reports whether the user asked for an end.
func (s stopping) stopped() bool { return s.asked.Err() != nil }

// errNotBegun is for what a command was asked to stop before.
var errNotBegun = errors.New("stopped before it began")

// errLeft means that the user left a run before its end. [left] explains what becomes of it.
var errLeft = exit(exitCancelled, errors.New("left before the end"))

// left prints what becomes of runs that a command leaves, and what they have cost. here means that they were running in this process,
// which has stopped them.
func left(ctx context.Context, g *globals, j *journal.Journal, here bool, runs ...string) error {
	ctx = context.WithoutCancel(ctx)
	code := exitCancelled
	for _, run := range runs {
		r, err := j.Runs.Run(ctx, run)
		if err != nil {
			return err
		}
		shown := showSpent
		if r.Status.Finished() {
			shown = showSpending
			err = g.print(r, func(w io.Writer) { writeRun(w, r) })
			if len(runs) == 1 {
				code = runExit(r)
			}
		} else if fate, failed := fateOf(ctx, j, run, !here && j.Held()); failed == nil {
			fmt.Fprintln(g.err, fate)
		} else {
			err = failed
		}
		if err = cmp.Or(err, shown(ctx, g, j, run)); err != nil {
			return err
		}
	}
	if code == exitDone {
		return nil
	}
	return exit(code, nil)
}

// also appends an error to one that may have been printed, or be none; its exit code is that of the command.
func also(err, next error) error {
	if err == nil || err.Error() == "" {
		return next
	}
	return exit(exitCode(next), fmt.Errorf("%w\n%w", err, next))
}

// fateOf returns what becomes of a run that has not ended. served means that a serve works on it.
func fateOf(ctx context.Context, j *journal.Journal, id string, served bool) (string, error) {
	e, _, err := j.Runs.Load(ctx, id)
	if err != nil {
		return "", err
	}
	again := "vaultflow retry " + id
	if e.Run.Kind == engine.KindImport {
		again = "vaultflow import --retry " + id
	}
	switch {
	case served && e.Cancelled:
		return fmt.Sprintf("run %s is being cancelled by the running serve; `vaultflow show %s` shows how it ended", id, id), nil
	case e.Run.Status == engine.AwaitingApproval:
		return fmt.Sprintf("run %s waits for approval; `vaultflow cancel %s` ends it", id, id), nil
	case served:
		return fmt.Sprintf("run %s continues in the running serve; `vaultflow cancel %s` ends it", id, id), nil
	case e.Cancelled:
		return fmt.Sprintf("run %s has not ended yet; the next serve cancels it, and `%s` continues it", id, again), nil
	}
	return fmt.Sprintf("run %s is interrupted; `%s`, or the next serve, continues it", id, again), nil
}

// showStopped prints what had happened when a run ended that was asked to.
func showStopped(ctx context.Context, g *globals, j *journal.Journal, r engine.RunRecord) error {
	if r.Status != engine.Cancelled {
		fmt.Fprintf(g.err, "run %s had ended before it could be stopped\n", r.ID)
	}
	s, err := j.Spending.Of(ctx, r.ID)
	switch {
	case err != nil:
		return err
	case s.Cost == (cost.Amount{}):
		fmt.Fprintln(g.err, "nothing was paid")
		return nil
	}
	return showSpending(ctx, g, j, r.ID)
}

// detachable adds the flag of commands that need not wait.
func detachable(g *globals, cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&g.detach, "detach", false, "return once the running serve has begun, and leave the work to it")
	return cmd
}

// errDetached refuses --detach without a serve.
var errDetached = usagef("--detach leaves the work to a running `vaultflow serve`, and none works on this vault; start one, or leave --detach out")

// begun prints a run that continues without the command.
func begun(ctx context.Context, g *globals, j *journal.Journal, run string) error {
	r, err := j.Runs.Run(ctx, run)
	if err != nil {
		return err
	}
	return g.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s  continues in the running serve; `vaultflow show %s` shows it\n", r.ID, r.Title(), r.ID)
	})
}
