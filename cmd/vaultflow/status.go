package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/policy/trust"
)

func newStatus(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the vault's status: daemon, schedule, costs, waiting files, pauses, failures", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.openDespiteFaults(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			o, err := vaultStatus(cmd.Context(), a)
			if err != nil {
				return err
			}
			if a.Trust.Announce("status") {
				o.Trust.Note = consent.Adopted
			}
			return g.print(o, func(w io.Writer) { err = writeStatus(w, o, a.Zone) })
		},
	}
}

// status is the overview, and whether a serve is running.
func vaultStatus(ctx context.Context, a *daemon.Workspace) (o engine.Overview, err error) {
	ask := control.Ask
	err = a.Reading(ctx, func(j *journal.Journal) error {
		if j.Held() {
			ask = awaitServe
		}
		o, err = a.Overviews.At(ctx, j, time.Now())
		return err
	})
	if errors.Is(err, daemon.ErrNothingRun) {
		o, err = a.Overviews.At(ctx, nil, time.Now())
	}
	if err != nil {
		return o, err
	}
	o.Lost = statedir.Lost(a.State)
	if r, err := ask(ctx, a.StateDir, control.Order{Info: true}); err == nil {
		o.Serving, o.URL, o.Reload, o.Trouble = true, r.URL, r.Reload, r.Trouble
	} else if r, err := askFront(ctx, a.Dir); err == nil {
		o.URL, o.Trouble = r.URL, r.Trouble
	}
	return o, nil
}

// awaitServe asks a serve that may be starting over.
func awaitServe(ctx context.Context, stateDir string, o control.Order) (control.Reply, error) {
	return control.Await(ctx, ctx, stateDir, o, func(control.Reply) {})
}

// maxHeld is how many files that wait for one workflow are listed by name.
const maxHeld = 50

// writeStatus prints an overview for people. What there is nothing of has no line, but for the runs.
func writeStatus(w io.Writer, o engine.Overview, zone *time.Location) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", what, fmt.Sprintf(format, args...)) }
	serving := "not running: nothing is imported, and no workflow starts on its own"
	switch {
	case o.Serving:
		serving = "running"
	case o.Trouble != "":
		serving = "running, but not on this vault; it is tried again: " + o.Trouble
	}
	if o.URL != "" {
		serving += "; dashboard at " + o.URL
	}
	line("serve", "%s", serving)
	if o.Serving && o.Trouble != "" {
		line("trouble", "%s", o.Trouble)
	}
	if text := o.Reload.Text(); text != "" {
		line("settings", "%s", text)
	}
	if o.Lost != "" {
		line("history", "%s", o.Lost)
	}
	if t := o.Trust; t != nil {
		text := t.Means
		if t.Waiting > 0 {
			text += fmt.Sprintf("; %s for your approval: vaultflow trust", words.Waiting(t.Waiting))
		} else if t.Level == string(trust.Untrusted) {
			text += ": vaultflow trust"
		}
		line("trust", "%s", text)
		if t.Note != "" {
			line("", "%s", t.Note)
		}
	}
	line("workflows", "%d, %d enabled, %d invalid", o.Workflows.All, o.Workflows.Enabled, o.Workflows.Invalid)
	line("today", "%s", words.Period(o.Day))
	line("this month", "%s", words.Period(o.Month))
	for _, s := range o.Next {
		line("next", "%s  %s", s.Slot.Format("Mon 2006-01-02 15:04 MST"), s.Workflow)
	}
	for _, s := range o.Last {
		line("last", "%s  %s: %s", s.Slot.Format("Mon 2006-01-02 15:04 MST"), s.Workflow, words.Slot(s))
	}
	for _, r := range o.Running {
		what := "running"
		if r.Interrupted {
			what = "interrupted"
		}
		line(what, "%s, run %s since %s", r.Title(), r.Run, r.Since.In(zone).Format(stamp))
	}
	for _, r := range o.Approvals {
		line("approval", "%s waits for you: run %s", r.Title(), r.Run)
	}
	for _, f := range o.Waiting {
		line("file", "%s: %s", f.Name, words.Join(": ", words.State(f.State), f.Why(zone)))
	}
	for _, h := range o.Held {
		files, more := h.Files, ""
		if n := len(files) - maxHeld; n > 0 {
			files, more = files[:maxHeld], fmt.Sprintf(" and %d more", n)
		}
		line("waiting", "%s%s for %s: %s", strings.Join(files, ", "), more, h.Workflow, h.Why(zone))
	}
	for _, p := range o.Paused {
		line("paused", "%s: %s", p.Workflow, p.Reason)
	}
	for _, r := range o.Failures {
		line(strings.ReplaceAll(string(r.Status), "_", " "), "%s: %s (run %s, %s)", r.Title(), words.Shorten(r.Reason, 100), r.Run, r.Since.In(zone).Format(stamp))
	}
	for _, r := range o.Omissions {
		line("left out", "%s: %s (run %s, %s)", r.Title(), words.Shorten(r.Reason, words.MaxReason), r.Run, r.Since.In(zone).Format(stamp))
	}
	if o.Unlisted > 0 {
		line("", "%d more; `vaultflow runs --status failed` lists runs", o.Unlisted)
	}
	for _, r := range o.Failures {
		if r.Kind == engine.KindWorkflow {
			line("", "`vaultflow show RUN` says more, `vaultflow retry RUN` repeats a run (with --current: as the workflow is now), `vaultflow dismiss RUN` removes it from this list")
			break
		}
	}
	return t.Flush()
}
