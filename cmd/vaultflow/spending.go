package main

import (
	"context"
	"fmt"
	"io"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// costText is what answers have cost; a dash when no price is known.
func costText(u cost.Usage) string {
	switch {
	case u.CostUnknown && u.CostUSD == 0:
		return "-"
	case u.CostUnknown: // some of it
		return "$" + words.Money(u.CostUSD) + "+"
	}
	return "$" + words.Money(u.CostUSD)
}

// showSpent is showSpending of a run that has not ended.
func showSpent(ctx context.Context, g *globals, j *journal.Journal, run string) error {
	return showSpendingAs(ctx, g, j, run, "so far ")
}

// showSpending prints what a run counts in budgets: with the runs that it started, failed attempts, and estimates of what
// nobody knows.
func showSpending(ctx context.Context, g *globals, j *journal.Journal, run string) error {
	return showSpendingAs(ctx, g, j, run, "")
}

func showSpendingAs(ctx context.Context, g *globals, j *journal.Journal, run, when string) error {
	s, err := j.Spending.Of(ctx, run)
	if err != nil || s.Calls == 0 {
		return err
	}
	line := struct {
		Type string `json:"type"`
		Run  string `json:"run"`
		cost.Spending
	}{"spending", run, s}
	return g.print(line, func(w io.Writer) { fmt.Fprintf(w, "  %s%s\n", when, spendingText(s)) })
}

// spendingText is spending in one line.
func spendingText(s cost.Spending) string {
	text := fmt.Sprintf("counted in budgets: $%s, %d tokens in %s", words.Money(s.Cost.USD), s.Cost.Tokens, words.Counted(s.Calls, "request"))
	for _, part := range []struct {
		amount cost.Amount
		why    string
	}{{s.Open, "reserved by requests at work"}, {s.Presumed, "estimated, since the process or the connection ended before anybody said"}} {
		if part.amount != (cost.Amount{}) {
			text += fmt.Sprintf("; of it $%s, %d tokens %s", words.Money(part.amount.USD), part.amount.Tokens, part.why)
		}
	}
	return text
}
