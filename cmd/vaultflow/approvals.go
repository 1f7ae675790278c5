package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/approval"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
)

// shownPart selects what is shown of the pending approvals.
type shownPart struct {
	item, page int // 0: all
}

func newApprovals(g *globals) *cobra.Command {
	var l shownPart
	cmd := &cobra.Command{
		Use: "approvals [RUN]", Short: "List pending approvals, or show those of one run",
		Long: "List the runs that wait for your approval (@approve). With RUN, show what that run would send or change. Invisible characters are\n" +
			"shown as code points. `vaultflow approve` accepts only changes that were shown in full.",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, ids []string) error {
			ctx := cmd.Context()
			if len(ids) == 0 && l != (shownPart{}) {
				return usagef("--item and --page go with a RUN")
			}
			return g.reading(ctx, func(a *daemon.Workspace, j *journal.Journal) error {
				if len(ids) > 0 {
					return showApprovals(ctx, g, j, approval.Shown{Dir: a.StateDir}, ids[0], l)
				}
				list, err := j.Approvals.Open(ctx, "")
				if err != nil {
					return err
				}
				return table(g, "RUN\tITEM\tWORKFLOW\tSTEP\tWHAT\tSINCE\tUNTIL", list, approvalRow)
			})
		},
	}
	cmd.Flags().IntVar(&l.item, "item", 0, "only the item with this number")
	cmd.Flags().IntVar(&l.page, "page", 0, "only this page of a long change, from 1; needs --item")
	return cmd
}

// showAsked prints which prompts of a run wait, and how they differ from those that were approved.
func showAsked(ctx context.Context, g *globals, j *journal.Journal, r engine.RunRecord) error {
	if r.Status != engine.AwaitingApproval {
		return nil
	}
	list, err := j.Approvals.Open(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, p := range list {
		why := p.Why()
		if len(why) == 0 {
			continue
		}
		if err := g.print(p, func(w io.Writer) {
			fmt.Fprintf(w, "  item %d, %s: %s\n", p.Item, p.What(), strings.Join(why, "\n  "))
		}); err != nil {
			return err
		}
	}
	return nil
}

func approvalRow(p engine.Proposal) string {
	until := "-"
	if !p.Deadline.IsZero() {
		until = p.Deadline.Local().Format(stamp)
	}
	return fmt.Sprintf("%s\t%d\t%s\t%s\t%s\t%s\t%s", p.Run, p.Item, p.Workflow, workName(p.Step, engine.BatchRecord{Batch: p.Batch}),
		words.Shorten(p.What(), 60), p.Created.Local().Format(stamp), until)
}

// showApprovals prints what waits in one run, each item with what it would change, and remembers that it was shown.
func showApprovals(ctx context.Context, g *globals, j *journal.Journal, seen approval.Shown, id string, l shownPart) error {
	run, err := j.Runs.Run(ctx, id)
	if errors.Is(err, engine.ErrNotFound) {
		return usagef("no run %q; `vaultflow approvals` lists what waits", id)
	}
	if err != nil {
		return err
	}
	list, err := j.Approvals.Open(ctx, run.ID)
	if err != nil {
		return err
	}
	if l.item > 0 {
		list = slices.DeleteFunc(list, func(p engine.Proposal) bool { return p.Item != l.item })
	}
	switch {
	case l.page > 0 && l.item == 0:
		return usagef("--page needs --item NUMBER")
	case len(list) == 0 && l.item > 0:
		return usagef("item %d of run %s does not wait for approval; `vaultflow approvals` lists what waits", l.item, run.ID)
	case len(list) == 0 && !g.json:
		fmt.Fprintf(g.err, "nothing of run %s waits for approval\n", run.ID)
	}
	for _, p := range list {
		if err := showApproval(ctx, g, j, seen, p, l.page); err != nil {
			return err
		}
	}
	return nil
}

// cliPage is how much of a change --page shows, in bytes.
const cliPage = 16 << 10

// diffLine is a change in machine output.
type diffLine struct {
	Type   string `json:"type"`
	Run    string `json:"run"`
	Item   int    `json:"item"`
	Text   string `json:"text"`
	Page   int    `json:"page,omitempty"`
	Pages  int    `json:"pages,omitempty"`
	Whole  bool   `json:"whole"` // nothing is missing from all pages together
	Digest string `json:"digest"`
}

// showApproval prints one item: all of it, or a page.
func showApproval(ctx context.Context, g *globals, j *journal.Journal, seen approval.Shown, p engine.Proposal, page int) error {
	shown, err := p.Show(ctx, j.Blobs.Get)
	if err != nil {
		return err
	}
	line := diffLine{Type: "diff", Run: p.Run, Item: p.Item, Text: shown.Text, Whole: shown.Whole, Digest: p.Digest()}
	pages, now := shown.Pages(cliPage), []int{}
	for i := range pages {
		now = append(now, i+1)
	}
	if page > len(pages) {
		return usagef("item %d of run %s has %s", p.Item, p.Run, words.Counted(len(pages), "page"))
	}
	title := fmt.Sprintf("item %d: %s\n", p.Item, p.What())
	if page > 0 {
		now = []int{page}
		line.Text, line.Page, line.Pages = pages[page-1], page, len(pages)
		title = fmt.Sprintf("item %d: %s (page %d of %d)\n", p.Item, p.What(), page, len(pages))
	}
	if len(p.NameFrom) > 0 {
		title += visible.Name("content from outside chose the file's name: "+strings.Join(p.NameFrom, ", ")) + "\n"
	}
	if len(p.Origins) > 0 {
		title += visible.Name("the model had been shown content from outside: "+strings.Join(p.Origins, ", ")) + "\n"
	}
	if err := g.print(p, func(w io.Writer) { fmt.Fprint(w, title) }); err != nil {
		return err
	}
	if err := g.print(line, func(w io.Writer) {
		fmt.Fprintln(w, line.Text)
		switch {
		case !shown.Whole:
			fmt.Fprintf(w, "item %d cannot be shown whole; to agree to exactly this content: vaultflow approve %s --item %d --digest %s\n\n", p.Item, p.Run, p.Item, line.Digest)
		case page > 0 && page < len(pages):
			fmt.Fprintf(w, "next page: vaultflow approvals %s --item %d --page %d\n\n", p.Run, p.Item, page+1)
		default:
			fmt.Fprintf(w, "digest of item %d: %s\n\n", p.Item, line.Digest)
		}
	}); err != nil {
		return err
	}
	if !shown.Whole {
		return nil
	}
	if err := seen.Mark(p, now, len(pages)); err != nil {
		return fmt.Errorf("remember what was shown: %w", err)
	}
	return nil
}

func newApprove(g *globals) *cobra.Command {
	var o control.ApproveOrder
	var y yes
	cmd := &cobra.Command{
		Use: "approve RUN", Short: "Approve or reject what a run asks for, and let it continue", Args: args(cobra.ExactArgs(1)),
		Long: "Approve or reject what a run asks for, and let the run continue. Only what `vaultflow approvals RUN` has\n" +
			"shown in full can be approved, or the exact content named with --digest; otherwise nothing happens and the exit code is 5.\n" +
			"--edit opens the proposed content in $VISUAL or $EDITOR, and --with FILE replaces it: your version is written byte for byte.",
		RunE: func(cmd *cobra.Command, ids []string) error {
			a, err := g.open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			if err := prepareAnswer(cmd.Context(), a, ids[0], &o, &y); err != nil {
				return err
			}
			err = runNow(cmd.Context(), a, g, control.Order{Approve: &o}, func(ctx context.Context, w *daemon.Process) (string, error) { return o.Run, w.Decide(ctx, o) })
			return y.done(err)
		},
	}
	cmd.Flags().IntSliceVar(&o.Items, "item", nil, "only the items with these numbers (repeatable)")
	cmd.Flags().BoolVar(&o.Reject, "reject", false, "reject the changes")
	cmd.Flags().StringVar(&o.Reason, "reason", "", "the reason for --reject, for the model and the record")
	cmd.Flags().BoolVar(&y.all, "all", false, "all items of the run; required if there are several")
	cmd.Flags().StringSliceVar(&y.digests, "digest", nil, "approve exactly the content with this digest, shown or not (repeatable)")
	cmd.Flags().BoolVar(&y.edit, "edit", false, "edit the proposed content before approving it; needs one item")
	cmd.Flags().StringVar(&y.with, "with", "", "write the content of this file instead; needs one item")
	cmd.MarkFlagsMutuallyExclusive("item", "all")
	cmd.MarkFlagsMutuallyExclusive("edit", "with", "reject")
	cmd.MarkFlagsMutuallyExclusive("digest", "reject")
	return cmd
}

// yes is how a person agrees.
type yes struct {
	all     bool
	digests []string
	edit    bool
	with    string
	edited  string // path of the file that was edited
}

// prepare finds the run and its items, refuses what was not shown, and lets the person edit.
func prepareAnswer(ctx context.Context, a *daemon.Workspace, id string, o *control.ApproveOrder, y *yes) error {
	return waitingItems(ctx, a, id, func(j *journal.Journal, run string, list []engine.Proposal) error {
		o.Run = run
		if err := chooseItems(list, o, y.all); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(p engine.Proposal) bool { return !slices.Contains(o.Items, p.Item) })
		if (y.edit || y.with != "") && len(o.Items) != 1 {
			return usagef("only one item can be edited; say --item NUMBER")
		}
		switch {
		case o.Reject:
			return nil
		case o.Reason != "":
			return usagef("--reason goes with --reject")
		case y.with != "":
			return y.readWith(list, o)
		}
		if err := checkShown(approval.Shown{Dir: a.StateDir}, list, y.digests); err != nil {
			return err
		}
		if y.edit {
			return y.edits(ctx, j, list, o)
		}
		return nil
	})
}

// waiting reads what waits in a run.
func waitingItems(ctx context.Context, a *daemon.Workspace, id string, fn func(j *journal.Journal, run string, list []engine.Proposal) error) error {
	err := a.Reading(ctx, func(j *journal.Journal) error {
		run, err := j.Runs.Run(ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			return daemon.ErrNothingRun
		}
		if err != nil {
			return err
		}
		list, err := j.Approvals.Open(ctx, run.ID)
		if err != nil {
			return err
		}
		return fn(j, run.ID, list)
	})
	if errors.Is(err, daemon.ErrNothingRun) {
		return usagef("no run %q; `vaultflow approvals` lists what waits", id)
	}
	return err
}

// checkShown refuses a yes to what the person has not been shown whole.
func checkShown(seen approval.Shown, list []engine.Proposal, digests []string) error {
	for _, d := range digests {
		if !slices.ContainsFunc(list, func(p engine.Proposal) bool { return p.Digest() == d }) {
			return exit(exitRefused, failure.New(failure.Permission, "vaultflow approvals RUN shows what waits now, with its digests", "no item that waits has the digest %q", d))
		}
	}
	for _, p := range list {
		whole, err := seen.Whole(p)
		if err != nil {
			return err
		}
		if !whole && !slices.Contains(digests, p.Digest()) {
			return exit(exitRefused, failure.New(failure.Permission, fmt.Sprintf("vaultflow approvals %s --item %d", p.Run, p.Item),
				"item %d of run %s was not shown in full since it last changed: %s", p.Item, p.Run, p.What()))
		}
	}
	return nil
}

// chooseItems asks for clear words when more than one item of a run waits.
func chooseItems(list []engine.Proposal, o *control.ApproveOrder, all bool) error {
	switch {
	case len(list) == 0:
		return usagef("nothing of run %s waits for approval; `vaultflow approvals` lists what does", o.Run)
	case len(list) > 1 && len(o.Items) == 0 && !all:
		var lines []string
		for _, p := range list {
			lines = append(lines, fmt.Sprintf("  %d: %s", p.Item, p.What()))
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

// parked reports whether a run waits for the user, not just to be woken.
func parked(ctx context.Context, j *journal.Journal, r engine.RunRecord) (bool, error) {
	if r.Status != engine.AwaitingApproval {
		return false, nil
	}
	if r.Awaits != "" {
		return true, nil
	}
	list, err := j.Approvals.Open(ctx, r.ID)
	return len(list) > 0, err
}
