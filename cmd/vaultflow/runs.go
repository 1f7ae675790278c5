package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/prompt"
)

// stamp is how times are shown in tables: local, to the second.
const stamp = "2006-01-02 15:04:05"

func newRuns(g *globals) *cobra.Command {
	var filter journal.RunFilter
	var status string
	var imports bool
	cmd := &cobra.Command{
		Use: "runs [WORKFLOW]", Short: "List runs, newest first", Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			if status != "" && !slices.Contains(engine.Statuses(), engine.Status(status)) {
				return usagef("no status %q; there are: %s", status, statusNames())
			}
			filter.Status, filter.Kind, filter.Undo = engine.Status(status), engine.KindWorkflow, true
			if imports {
				filter.Kind, filter.Undo = engine.KindImport, false
			}
			return g.reading(cmd.Context(), func(a *daemon.Workspace, j *journal.Journal) error {
				var unknown error
				if len(names) > 0 {
					filter.Workflow, unknown = a.Workflows.Known(names[0])
				}
				runs, err := j.Runs.List(cmd.Context(), filter)
				if err == nil && len(runs) == 0 && !imports {
					err = unknown
				}
				if err != nil {
					return err
				}
				for i := range runs {
					markInterrupted(j, &runs[i])
				}
				return table(g, "ID\tSTATUS\tWORKFLOW\tWHY\tSTARTED\tTOOK\tTOKENS\tCOST\tOUTPUTS", runs, runRow)
			})
		},
	}
	filter.Limit = 20
	counted(cmd.Flags(), &filter.Limit, "limit", "n", "how many")
	cmd.Flags().StringVar(&status, "status", "", "only runs with this status")
	cmd.Flags().BoolVar(&imports, "imports", false, "list imports instead of workflow runs")
	return cmd
}

// statusNames lists the statuses for people.
func statusNames() string {
	var names []string
	for _, s := range engine.Statuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func runRow(r engine.RunRecord) string {
	outputs := make([]string, len(r.Outputs))
	for i, o := range r.Outputs {
		outputs[i] = o.Name
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s", r.ID, runStatus(r), r.Title(), r.Trigger.Kind,
		r.Created.Local().Format(stamp), took(r.Started, r.Finished), r.Usage.InputTokens+r.Usage.OutputTokens, costText(r.Usage), strings.Join(outputs, ", "))
}

// markInterrupted notes that a run that has not ended belongs to no process.
func markInterrupted(j *journal.Journal, r *engine.RunRecord) {
	waits := r.Status.Finished() || r.Status == engine.AwaitingApproval
	r.Interrupted = !waits && !j.Held()
}

func runStatus(r engine.RunRecord) string {
	switch {
	case r.Interrupted && r.Status == engine.Running:
		return "interrupted (resumes with serve)"
	case r.Interrupted:
		return string(r.Status) + " (begins with serve)"
	}
	return statusText(r.Status, r.Reason)
}

func statusText(s engine.Status, reason string) string {
	if reason == "" || reason == string(s) || s.Succeeded() {
		return string(s)
	}
	return string(s) + ": " + words.Shorten(reason, 60)
}

func took(started, finished time.Time) string {
	if started.IsZero() || finished.IsZero() {
		return "-"
	}
	return finished.Sub(started).Round(10 * time.Millisecond).String()
}

func newShow(g *globals) *cobra.Command {
	var receipts, answers, events bool
	cmd := &cobra.Command{
		Use: "show RUN|FILE", Short: "Show a run: steps, outputs, warnings, receipts. For a file: where its content comes from", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return readingRun(cmd.Context(), g, ids[0], func(a *daemon.Workspace, j *journal.Journal) error {
				run, err := j.Runs.Run(cmd.Context(), ids[0])
				if errors.Is(err, engine.ErrNotFound) {
					name, err := fileNamed(g, a, ids[0])
					if err != nil {
						return nothingNamed(ids[0], err)
					}
					return errors.Join(showOrigin(cmd.Context(), g, a, j, name), showHeld(cmd.Context(), g, a, j, name))
				}
				if err != nil {
					return err
				}
				markInterrupted(j, &run)
				if err := g.print(run, func(w io.Writer) { writeRun(w, run) }); err != nil {
					return err
				}
				if err := showAsked(cmd.Context(), g, j, run); err != nil {
					return err
				}
				if err := showSpending(cmd.Context(), g, j, run.ID); err != nil {
					return err
				}
				if events {
					if err := showEvents(cmd.Context(), g, j, run.ID); err != nil {
						return err
					}
				}
				return showSteps(cmd.Context(), g, j, run, receipts, answers)
			})
		},
	}
	cmd.Flags().BoolVar(&receipts, "receipt", false, "print each step's receipt: every reference and what happened to it")
	cmd.Flags().BoolVar(&answers, "answer", false, "print each step's answer")
	cmd.Flags().BoolVar(&events, "events", false, "print the events in order: requests with estimates, retries, changes after refusals")
	return cmd
}

// readingRun is reading for a run or a file. Where nothing was ever run, there is at most the file.
func readingRun(ctx context.Context, g *globals, name string, fn func(*daemon.Workspace, *journal.Journal) error) error {
	a, err := g.openDespiteFaults(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	err = a.Reading(ctx, func(j *journal.Journal) error { return fn(a, j) })
	if !errors.Is(err, daemon.ErrNothingRun) {
		return err
	}
	if _, err := fileNamed(g, a, name); err != nil {
		return nothingNamed(name, err)
	}
	fmt.Fprintln(g.err, daemon.ErrNothingRun)
	return nil
}

// showHeld prints which workflows a file waits for.
func showHeld(ctx context.Context, g *globals, a *daemon.Workspace, j *journal.Journal, name string) error {
	o, err := a.Overviews.At(ctx, j, time.Now())
	for _, h := range o.Held {
		if err == nil && slices.Contains(h.Files, name) {
			err = g.print(h, func(w io.Writer) { fmt.Fprintf(w, "waits for %s: %s\n", h.Workflow, h.Why(a.Zone)) })
		}
	}
	return err
}

// nothingNamed is the error for what show does not know.
func nothingNamed(name string, err error) error {
	return usagef("no run is called %q (`vaultflow runs` lists runs), and %w", name, err)
}

func showSteps(ctx context.Context, g *globals, j *journal.Journal, run engine.RunRecord, receipts, answers bool) error {
	for _, step := range run.Steps {
		for _, work := range step.Works() {
			if answers {
				if err := showAnswer(ctx, g, j, step.Step, work); err != nil {
					return err
				}
			}
			if receipts {
				if err := showReceipt(ctx, g, j, step.Step, work); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// workName is a step, or one batch of it, for people.
func workName(step string, w engine.BatchRecord) string {
	if w.Batch == 0 {
		return step
	}
	if len(w.Items) == 0 {
		return fmt.Sprintf("%s, batch %d", step, w.Batch)
	}
	return fmt.Sprintf("%s, batch %d (%s)", step, w.Batch, w.ItemsText())
}

func showAnswer(ctx context.Context, g *globals, j *journal.Journal, step string, w engine.BatchRecord) error {
	if w.Answer == "" {
		return nil
	}
	text, err := j.Blobs.Get(ctx, w.Answer)
	if err != nil {
		return err
	}
	line := struct {
		Type  string `json:"type"`
		Step  string `json:"step"`
		Batch int    `json:"batch,omitempty"`
		Text  string `json:"text"`
	}{"answer", step, w.Batch, string(text)}
	return g.print(line, func(out io.Writer) { fmt.Fprintf(out, "\nanswer of %s:\n%s\n", workName(step, w), text) })
}

func showReceipt(ctx context.Context, g *globals, j *journal.Journal, step string, w engine.BatchRecord) error {
	if w.Receipt == "" {
		return nil
	}
	data, err := j.Blobs.Get(ctx, w.Receipt)
	if err != nil {
		return err
	}
	var receipt prompt.Receipt
	if err := json.Unmarshal(data, &receipt); err != nil {
		return fmt.Errorf("read the receipt of %s: %w", workName(step, w), err)
	}
	after := fullReceipt{receipt, w.LeftOut}
	if len(w.LeftOut) < len(w.Omitted) { // the record has lines only
		after = beforeSending(receipt)
	}
	return g.print(after, func(out io.Writer) { writeReceipt(out, after) })
}

// failureText returns the code and the message of a failure, once if they are the same word.
func failureText(f *failure.Error) string {
	if string(f.Code) == f.Message {
		return f.Message
	}
	return fmt.Sprintf("%s: %s", f.Code, f.Message)
}

// writeRun prints a run for people.
func writeRun(w io.Writer, r engine.RunRecord) {
	fmt.Fprintf(w, "%s  %s  %s\n", r.ID, r.Title(), runStatus(r))
	if r.Trigger.Parent != "" {
		fmt.Fprintf(w, "  asked for by run %s\n", r.Trigger.Parent)
	}
	if files := r.Trigger.Files; len(files) > 0 {
		fmt.Fprintf(w, "  started by %s\n", engine.FileList(files))
	}
	if len(r.Trigger.Causes) > 0 {
		fmt.Fprintf(w, "  goes back to %s\n", strings.Join(r.Trigger.Causes, ", "))
	}
	if r.Failure != nil {
		if text := failureText(r.Failure); text != string(r.Status) {
			fmt.Fprintf(w, "  %s\n", text)
		}
		if r.Failure.Hint != "" {
			fmt.Fprintf(w, "  hint: %s\n", r.Failure.Hint)
		}
	}
	if r.Status.Failed() && r.Kind == engine.KindWorkflow {
		same := ""
		if len(r.Trigger.Files) > 0 {
			same = " about the same files"
		}
		fmt.Fprintf(w, "  then: `vaultflow retry %s` repeats the run as it was; `vaultflow retry %s --current` runs the workflow as it is now%s\n", r.ID, r.ID, same)
	}
	for _, p := range r.Decisions {
		fmt.Fprintf(w, "  item %d, %s: %s\n", p.Item, p.What(), p.Outcome(time.Local))
	}
	for _, s := range r.Steps {
		fmt.Fprintf(w, "  step %s: %s", s.Step, statusText(s.Status, s.Reason))
		if s.Model != "" {
			fmt.Fprintf(w, "  (%s, %d tokens in, %d out)", s.Model, s.Usage.InputTokens, s.Usage.OutputTokens)
		}
		fmt.Fprintln(w)
		if text := countsText(s.Counts); text != "" {
			fmt.Fprintf(w, "    %s\n", text)
		}
		if len(s.Origins) > 0 {
			fmt.Fprintf(w, "    was shown content from outside: %s\n", strings.Join(s.Origins, ", "))
		}
		for _, o := range s.Outputs {
			fmt.Fprintf(w, "    wrote %s %s\n", o.Kind, o.Name)
		}
		for _, c := range s.Changes {
			if c.Tool == "" { // what vaultflow does itself, such as moving links to pages
				fmt.Fprintf(w, "    %s\n", c)
				continue
			}
			fmt.Fprintf(w, "    %s with %s\n", c, c.Tool)
		}
		if len(s.Batches) == 0 {
			writeSent(w, "    ", s.WorkRecord)
		}
		for _, line := range s.Omitted {
			fmt.Fprintf(w, "    left out %s\n", line)
		}
		for _, line := range s.Rejected {
			fmt.Fprintf(w, "    not approved: %s\n", line)
		}
		for _, d := range s.Defused {
			fmt.Fprintf(w, "    made inert %s\n", d)
		}
		if c := s.Citations; c.Pages+c.Quotes > 0 {
			fmt.Fprintf(w, "    %s\n", c)
		}
		for _, c := range s.Citations.Marked {
			fmt.Fprintf(w, "    marked %s\n", c)
		}
		for _, line := range s.Warnings {
			fmt.Fprintf(w, "    warning: %s\n", line)
		}
		for _, b := range s.Batches {
			writeBatch(w, b)
		}
	}
	if n := r.Lost(); n > 0 {
		fmt.Fprintf(w, "  batches that failed or were skipped: %d; `vaultflow retry %s --failed` takes them up\n", n, r.ID)
	}
}

// writeBatch prints a batch of an @for_each; what it wrote and left out stands with its step.
func writeBatch(w io.Writer, b engine.BatchRecord) {
	fmt.Fprintf(w, "    batch %d (%s): %s\n", b.Batch, b.ItemsText(), statusText(b.Status, b.Reason))
	writeSent(w, "      ", b.WorkRecord)
	for _, line := range b.Warnings {
		fmt.Fprintf(w, "      warning: %s\n", line)
	}
}

// writeSent prints how what was sent differs from its preview, if there was one and something was sent.
func writeSent(w io.Writer, indent string, r engine.WorkRecord) {
	head, differences := r.AsPreviewed(time.Local)
	switch {
	case head == "":
	case len(differences) == 0:
		fmt.Fprintf(w, "%s%s\n", indent, head)
	default:
		fmt.Fprintf(w, "%s%s:\n", indent, head)
		for _, line := range differences {
			fmt.Fprintf(w, "%s  %s\n", indent, line)
		}
	}
}

// table prints rows under a head, or each row as a JSON line.
func table[T any](g *globals, head string, rows []T, row func(T) string) error {
	if g.json {
		for _, r := range rows {
			if err := g.print(r, nil); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 {
		fmt.Fprintln(g.err, "none")
		return nil
	}
	w := tabwriter.NewWriter(g.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for _, r := range rows {
		fmt.Fprintln(w, visible.Text(row(r))) // a byte that is no text would mean something to the writer
	}
	return w.Flush()
}
