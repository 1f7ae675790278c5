package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/activity"
	"github.com/vaultflow/vaultflow/engine/approval"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/policy"
)

// approveOrder says what a person decided about items of a run.
type approveOrder struct {
	Run    string `json:"run"`
	Items  []int  `json:"items,omitempty"` // none: all that wait
	Reject bool   `json:"reject,omitempty"`
}

func newApprovals(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "approvals [RUN]", Short: "List what waits for a person's yes (@approve); of one run with the changes themselves",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, ids []string) error {
			ctx := cmd.Context()
			return g.reading(ctx, func(_ *app, j *journal.Journal) error {
				if len(ids) > 0 {
					return g.showApprovals(ctx, j, ids[0])
				}
				list, err := j.Approvals(ctx, "")
				if err != nil {
					return err
				}
				return table(g, "RUN\tITEM\tWORKFLOW\tSTEP\tWHAT\tSINCE\tUNTIL", list, approvalRow)
			})
		},
	}
}

func approvalRow(p engine.Proposal) string {
	until := "-"
	if !p.Deadline.IsZero() {
		until = p.Deadline.Local().Format(stamp)
	}
	return fmt.Sprintf("%s\t%d\t%s\t%s\t%s\t%s\t%s", p.Run, p.Item, p.Workflow, workName(p.Step, engine.BatchRecord{Batch: p.Batch}),
		shorten(p.String(), 60), p.Created.Local().Format(stamp), until)
}

// showApprovals prints what waits in one run, each item with what it would change.
func (g *globals) showApprovals(ctx context.Context, j *journal.Journal, id string) error {
	run, err := j.Run(ctx, id)
	if errors.Is(err, engine.ErrNotFound) {
		return usagef("no run %q; `vaultflow approvals` lists what waits", id)
	}
	if err != nil {
		return err
	}
	list, err := j.Approvals(ctx, run.ID)
	if err != nil {
		return err
	}
	if len(list) == 0 && !g.json {
		fmt.Fprintf(g.err, "nothing of run %s waits for approval\n", run.ID)
	}
	for _, p := range list {
		text, err := p.Diff(ctx, j.Get)
		if err != nil {
			return err
		}
		if err := g.print(p, func(w io.Writer) { fmt.Fprintf(w, "item %d: %s\n", p.Item, p) }); err != nil {
			return err
		}
		line := struct {
			Type string `json:"type"`
			Run  string `json:"run"`
			Item int    `json:"item"`
			Text string `json:"text"`
		}{"diff", p.Run, p.Item, text}
		if err := g.print(line, func(w io.Writer) { fmt.Fprintln(w, printable(text)) }); err != nil {
			return err
		}
	}
	return nil
}

func newApprove(g *globals) *cobra.Command {
	var o approveOrder
	var all bool
	cmd := &cobra.Command{
		Use: "approve RUN", Short: "Agree to what a run waits for, or reject it, and let the run go on", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, ids []string) error {
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			if err := a.chooseItems(cmd.Context(), ids[0], &o, all); err != nil {
				return err
			}
			return a.runNow(cmd.Context(), g, order{Approve: &o}, func(ctx context.Context, w *working) (string, error) { return o.Run, w.decide(ctx, o) })
		},
	}
	cmd.Flags().IntSliceVar(&o.Items, "item", nil, "only the items with these numbers (repeatable)")
	cmd.Flags().BoolVar(&o.Reject, "reject", false, "reject in place of agreeing")
	cmd.Flags().BoolVar(&all, "all", false, "all items of the run; needed when more than one waits")
	cmd.MarkFlagsMutuallyExclusive("item", "all")
	return cmd
}

// chooseItems finds the run, and asks for clear words when more than one of its items waits.
func (a *app) chooseItems(ctx context.Context, id string, o *approveOrder, all bool) error {
	var list []engine.Proposal
	err := a.reading(ctx, func(j *journal.Journal) error {
		run, err := j.Run(ctx, id)
		if err == nil {
			o.Run = run.ID
			list, err = j.Approvals(ctx, run.ID)
		}
		return err
	})
	switch {
	case errors.Is(err, engine.ErrNotFound) || errors.Is(err, errNoState):
		return usagef("no run %q; `vaultflow approvals` lists what waits", id)
	case err != nil:
		return err
	case len(list) == 0:
		return usagef("nothing of run %s waits for approval; `vaultflow approvals` lists what does", o.Run)
	case len(list) > 1 && len(o.Items) == 0 && !all:
		var lines []string
		for _, p := range list {
			lines = append(lines, fmt.Sprintf("  %d: %s", p.Item, p))
		}
		return usagef("%d items of run %s wait; say --item NUMBER, or --all:\n%s", len(list), o.Run, strings.Join(lines, "\n"))
	}
	for _, p := range list {
		if all || len(list) == 1 && len(o.Items) == 0 { // what the person saw, and nothing that comes meanwhile
			o.Items = append(o.Items, p.Item)
		}
	}
	return nil
}

// decide carries out what a person decided with a command.
func (w *working) decide(ctx context.Context, o approveOrder) error {
	return w.desk.Decide(ctx, o.Run, o.Items, !o.Reject, engine.DecidedCommand)
}

// newDesk makes the place where decisions about runs arrive.
func (w *working) newDesk() *approval.Desk {
	return approval.New(approval.Config{
		Journal: w.journal, Files: w.writing(policy.ByApprovals), FS: w.vault.FS(), Wake: w.exec.Wake, Subscribe: w.exec.Subscribe,
		Dir: path.Join(w.settings.Vault.WorkflowsDir, activity.ApprovalsDir), Zone: w.zone, Logger: w.log,
	})
}

// parked says whether a run waits for a person, and not only for being woken.
func parked(ctx context.Context, j *journal.Journal, r engine.RunRecord) (bool, error) {
	if r.Status != engine.AwaitingApproval {
		return false, nil
	}
	if r.Awaits != "" {
		return true, nil
	}
	list, err := j.Approvals(ctx, r.ID)
	return len(list) > 0, err
}

// printable is a text without what would command a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
