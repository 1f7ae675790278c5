package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/workflow"
)

func newRun(g *globals) *cobra.Command {
	var o control.RunOrder
	var vars []string
	var dry bool
	cmd := &cobra.Command{
		Use: "run WORKFLOW [FILE...]", Short: "Run a workflow now and wait for it", Args: args(cobra.MinimumNArgs(1)),
		Long: "Run a workflow now and wait for it.\nFILE is what the run is about, by its name in the vault; a workflow with `runs: each` or `on_import` has one run for each.",
		RunE: func(cmd *cobra.Command, names []string) error {
			o.Workflow = names[0]
			var err error
			if o.Vars, err = pairs(vars); err != nil {
				return err
			}
			a, err := g.open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			plan, err := namedPlan(a, names)
			if err != nil {
				return err
			}
			files, err := filesFor(g, a, plan, o.Steps, names)
			if err != nil {
				return err
			}
			if dry {
				plan.Fresh = o.Fresh
				return previewPlan(cmd.Context(), a, g, plan, previewOptions{steps: o.Steps, model: o.Model, files: files})
			}
			if err := allowByHand(cmd.Context(), g, cmd.InOrStdin(), a, o.Workflow); err != nil {
				return err
			}
			if !plan.EachByHand() || len(files) < 2 {
				o.Files = files
				return runWorkflow(cmd.Context(), a, g, o)
			}
			var orders []control.RunOrder
			for _, file := range files {
				o.Files = []string{file}
				orders = append(orders, o)
			}
			return runOrders(cmd.Context(), a, g, orders)
		},
	}
	cmd.Flags().StringArrayVar(&o.Steps, "step", nil, "only this step (repeatable)")
	cmd.Flags().StringArrayVar(&vars, "var", nil, "set a variable, NAME=VALUE (repeatable)")
	cmd.Flags().StringVar(&o.Model, "model", "", "use this model alias instead of the workflow's")
	cmd.Flags().BoolVar(&o.Fresh, "fresh", false, "run as if for the first time: ignore @cache, and treat all files as pending and changed")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "preview only: send and write nothing")
	return detachable(g, cmd)
}

// namedPlan returns the workflow that the first argument names; the others are files.
func namedPlan(a *daemon.Workspace, names []string) (*workflow.Plan, error) {
	plan, err := a.Workflows.Named(names[0])
	if err != nil && len(names) > 1 && control.ClassOf(err) == control.Usage {
		if _, known := a.Workflows.Named(strings.Join(names, " ")); known == nil {
			return nil, usagef("put quotes around a name with blanks: %s", words.Arg(strings.Join(names, " ")))
		}
	}
	return plan, err
}

// runOrders runs a workflow several times, one after the other, and returns the first error.
func runOrders(ctx context.Context, a *daemon.Workspace, g *globals, orders []control.RunOrder) error {
	var err error
	for n, o := range orders {
		failed := runWorkflow(ctx, a, g, o)
		if err == nil {
			err = failed // the others may succeed
		}
		if rest := orders[n+1:]; ctx.Err() != nil && len(rest) > 0 {
			return notBegun(failed, rest)
		}
	}
	return err
}

// notBegun adds to the error of a run that was stopped those that did not begin.
func notBegun(stopped error, rest []control.RunOrder) error {
	var files []string
	for _, o := range rest {
		files = append(files, o.Files...)
	}
	text := fmt.Sprintf("stopped before %s: %s", words.Counted(len(rest), "more run"), strings.Join(files, ", "))
	return also(stopped, exit(exitCancelled, errors.New(trust.Plain(text))))
}

// fileNamed finds the file of the vault that an argument means, and prints its name if it is another.
func fileNamed(g *globals, a *daemon.Workspace, written string) (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		cwd = "" // names in the vault are found without it
	}
	name, err := a.Workflows.FileNamed(written, cwd)
	if err == nil && name != written && name != written+".md" {
		fmt.Fprintf(g.err, "%s is %s\n", written, trust.Plain(name))
	}
	return name, err
}

// filesFor finds the files that a run of a workflow is to be about, each once. The first name is the workflow's.
func filesFor(g *globals, a *daemon.Workspace, plan *workflow.Plan, steps, names []string) ([]string, error) {
	if len(names) == 1 && plan.NeedsFile(steps) {
		return nil, usagef("%s works on a file: name it, as in `vaultflow run %s FILE`", plan.Name, words.Arg(plan.Name))
	}
	var files []string
	for _, w := range names[min(len(names), 1):] {
		name, err := fileNamed(g, a, w)
		if err == nil {
			err = a.Workflows.MayBeAbout(name)
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	return files, nil
}

// runWorkflow runs a workflow about some files, and waits for it.
func runWorkflow(ctx context.Context, a *daemon.Workspace, g *globals, o control.RunOrder) error {
	return runNow(ctx, a, g, control.Order{Run: &o}, func(ctx context.Context, w *daemon.Process) (string, error) { return w.Runs.Start(ctx, o) })
}

// runNow does one thing and waits for it: in the process that works on the vault, or in this one when there is none.
func runNow(ctx context.Context, a *daemon.Workspace, g *globals, o control.Order, start func(context.Context, *daemon.Process) (string, error)) error {
	var since time.Time
	if o.Retry != "" {
		since = time.Now() // what earlier attempts reported was printed then
	}
	w, err := a.Work(ctx)
	if err != nil && !isLocked(err) {
		return err
	}
	if err == nil {
		defer w.Close()
	}
	s, end, stopped := patiently(ctx) // from here on there may be a run to stop
	defer end()
	switch {
	case stopped != nil:
		return stopped
	case err != nil:
		return runElsewhere(s, a, g, o, since)
	case g.detach:
		return errDetached
	}
	var id string
	err = w.Run(context.WithoutCancel(s.leave), func(context.Context) (err error) { // a run is cancelled before it is left
		if id, err = start(s.leave, w); err != nil {
			return exit(failureExit(err), err)
		}
		return finishRun(s, g, w.Journal, followed{id, since, w.Exec.Wait, w.Runs.Cancel})
	})
	if errors.Is(err, errLeft) {
		return left(s.leave, g, w.Journal, true, id)
	}
	return err
}

// runElsewhere asks the process that works on the vault, and follows the run in the journal.
func runElsewhere(s stopping, a *daemon.Workspace, g *globals, o control.Order, since time.Time) error {
	r, err := a.AskUntil(s.leave, s.asked, o)
	if err != nil {
		return notStarted(s, err)
	}
	return a.Reading(context.WithoutCancel(s.leave), func(j *journal.Journal) error {
		if g.detach {
			return begun(s.leave, g, j, r.Run)
		}
		err := finishRun(s, g, j, followed{r.Run, since, nil, cancelElsewhere(a)})
		if errors.Is(err, errLeft) {
			return left(s.leave, g, j, false, r.Run)
		}
		return err
	})
}

// notStarted is the error of an order that brought no run, as if it had been refused here.
func notStarted(s stopping, err error) error {
	switch {
	case errors.Is(err, control.ErrUnsent):
		return exit(exitCancelled, errNotBegun)
	case s.leave.Err() != nil && errors.Is(err, context.Canceled):
		return exit(exitCancelled, errors.New("the running serve had not answered, and may begin it; `vaultflow status` shows what runs"))
	}
	return exit(failureExit(err), err)
}

// cancelElsewhere returns what asks the process that works on the vault to end a run, or ends it here if that process is gone.
func cancelElsewhere(a *daemon.Workspace) func(ctx context.Context, run string) error {
	return func(ctx context.Context, run string) error {
		_, err := a.Ask(ctx, control.Order{Cancel: run})
		if !errors.Is(err, control.ErrNoServe) {
			return err
		}
		w, err := a.Work(ctx)
		if err != nil {
			return err
		}
		defer w.Close()
		return w.Runs.Cancel(ctx, run)
	}
}

// pairs reads NAME=VALUE arguments.
func pairs(list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usagef("--var %q: write NAME=VALUE", text)
		}
		out[name] = value
	}
	return out, nil
}

// failureExit is the exit code for an error that came before or instead of a run.
func failureExit(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if code, ok := refusals[control.ClassOf(err)]; ok {
		return code
	}
	return runExit(engine.RunRecord{Status: engine.Failed, Failure: failure.Of(err)})
}
