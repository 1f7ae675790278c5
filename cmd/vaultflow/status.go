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

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/trust"
)

func newStatus(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show how the vault stands: serve, next and last slots, costs, what waits, what is paused, what failed", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			o, err := a.status(cmd.Context())
			if err != nil {
				return err
			}
			if a.trust.store.Tell("status") {
				o.Trust.Note = adopted
			}
			return g.print(o, func(w io.Writer) { err = writeStatus(w, o, a.zone) })
		},
	}
}

// status is the overview with whether a serve is at work.
func (a *app) status(ctx context.Context) (o engine.Overview, err error) {
	err = a.reading(ctx, func(j *journal.Journal) error {
		o, err = a.overview(ctx, j, time.Now())
		return err
	})
	if errors.Is(err, errNoState) {
		o, err = a.overview(ctx, nil, time.Now())
	}
	if err != nil {
		return o, err
	}
	if r, err := ask(ctx, a.stateDir, order{Info: true}); err == nil {
		o.Serving, o.URL, o.Outdated = true, r.URL, r.Changed
	}
	return o, nil
}

// serving is the overview of the serve that is at work.
func (w *working) serving(ctx context.Context) (engine.Overview, error) {
	o, err := w.overview(ctx, w.journal, time.Now())
	o.Serving, o.URL, o.Outdated = true, w.url, w.loaded.changed(w.dir)
	return o, err
}

// writeStatus prints an overview for people. What there is nothing of has no line, but for the runs.
func writeStatus(w io.Writer, o engine.Overview, zone *time.Location) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", what, fmt.Sprintf(format, args...)) }
	serving := "not at work: nothing is imported, and nothing runs by itself"
	if o.Serving {
		serving = "at work"
	}
	if o.URL != "" {
		serving += "; dashboard at " + o.URL
	}
	line("serve", "%s", serving)
	if len(o.Outdated) > 0 {
		line("settings", "%s", outdatedText(o.Outdated))
	}
	if t := o.Trust; t != nil {
		text := t.Means
		if t.Waiting > 0 {
			text += fmt.Sprintf("; %s for your yes: vaultflow trust", waitingText(t.Waiting))
		} else if t.Level == string(trust.Untrusted) {
			text += ": vaultflow trust"
		}
		line("trust", "%s", text)
		if t.Note != "" {
			line("", "%s", t.Note)
		}
	}
	line("workflows", "%d, %d enabled, %d invalid", o.Workflows.All, o.Workflows.Enabled, o.Workflows.Invalid)
	line("today", "%s", periodText(o.Day))
	line("this month", "%s", periodText(o.Month))
	for _, s := range o.Next {
		line("next", "%s  %s", s.Slot.Format("Mon 2006-01-02 15:04 MST"), s.Workflow)
	}
	for _, s := range o.Last {
		line("last", "%s  %s: %s", s.Slot.Format("Mon 2006-01-02 15:04 MST"), s.Workflow, slotText(s))
	}
	for _, r := range o.Running {
		line("running", "%s, run %s since %s", r.Subject, r.Run, r.Since.In(zone).Format(stamp))
	}
	for _, r := range o.Approvals {
		line("approval", "%s waits for you: run %s", r.Subject, r.Run)
	}
	for _, f := range o.Waiting {
		line("file", "%s: %s", f.Name, join(": ", stateText(f.State), f.Reason))
	}
	for _, p := range o.Paused {
		line("paused", "%s: %s", p.Workflow, p.Reason)
	}
	for _, r := range o.Failures {
		line(strings.ReplaceAll(string(r.Status), "_", " "), "%s: %s (run %s, %s)", r.Subject, shorten(r.Reason, 100), r.Run, r.Since.In(zone).Format(stamp))
	}
	return t.Flush()
}

// waitingText is such as "1 thing waits".
func waitingText(n int) string {
	if n == 1 {
		return "1 thing waits"
	}
	return fmt.Sprintf("%d things wait", n)
}

// periodText is what runs did and cost in a time: "4 runs, 1 failed, 2 skipped; $0.03, 12000 tokens".
func periodText(p engine.Period) string {
	text := counted(p.Runs, "run")
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", p.Skipped)
	}
	if s := p.Spending; s.Calls > 0 {
		text += "; " + moneyText(s)
	}
	if p.Limit.USD > 0 {
		text += fmt.Sprintf("; the budget is $%s", money(p.Limit.USD))
	}
	if p.Limit.Tokens > 0 {
		text += fmt.Sprintf("; the budget is %d tokens", p.Limit.Tokens)
	}
	return text
}

// moneyText is what calls of models have cost, apart from what those may have cost that nobody answered.
func moneyText(s cost.Spending) string {
	known := s.Known()
	text := fmt.Sprintf("$%s, %d tokens", money(known.USD), known.Tokens)
	for _, part := range []struct {
		amount cost.Amount
		of     string
	}{{s.Open, "requests at work"}, {s.Presumed, "requests without an answer"}} {
		if part.amount != (cost.Amount{}) {
			text += fmt.Sprintf("; at most $%s, %d tokens more by %s", money(part.amount.USD), part.amount.Tokens, part.of)
		}
	}
	return text
}

// money is an amount of dollars: cents, and more digits for what is less than a dime.
func money(usd float64) string {
	if usd > 0 && usd < 0.1 {
		return fmt.Sprintf("%.4f", usd)
	}
	return fmt.Sprintf("%.2f", usd)
}

func slotText(s engine.SlotRecord) string {
	return join(": ", string(s.State), shorten(s.Reason, 100))
}

func stateText(s engine.ImportState) string { return strings.ReplaceAll(string(s), "_", " ") }

// join joins the texts that are not empty.
func join(between string, texts ...string) string {
	var some []string
	for _, t := range texts {
		if t != "" {
			some = append(some, t)
		}
	}
	return strings.Join(some, between)
}
