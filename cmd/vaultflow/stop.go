package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// stopping is what signals ask of a command that waits for runs. Ctrl-C asks the run to end. A second one, or SIGTERM, which says nothing
// about the run, ends the command alone.
type stopping struct {
	asked chan struct{}   // closed by the first Ctrl-C
	leave context.Context // ends when the command is to end at once
}

// patiently returns what signals ask from now on, in place of ctx, which the first signal ends.
func patiently(ctx context.Context) (stopping, func()) {
	leave, end := context.WithCancel(context.WithoutCancel(ctx))
	s := stopping{make(chan struct{}), leave}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if ctx.Err() != nil { // it came before
		close(s.asked)
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
				close(s.asked)
			}
		}
	}()
	return s, end
}

// stopped reports whether the user asked for an end.
func (s stopping) stopped() bool {
	select {
	case <-s.asked:
		return true
	default:
		return false
	}
}

// left is the error when the command ends and its run continues, or waits.
func left(run string, here bool) error {
	if here {
		return exit(exitCancelled, fmt.Errorf("run %s is interrupted; `vaultflow retry %s`, or the next serve, continues it", run, run))
	}
	return exit(exitCancelled, fmt.Errorf("run %s continues in the running serve; `vaultflow cancel %s` ends it", run, run))
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

// errNotBegun is for the imports of a command that was stopped before their turn.
var errNotBegun = errors.New("stopped before it began")

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
