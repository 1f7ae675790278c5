// Package words puts records of the engine into a few words for people: the command line, the status note and the trust
// offer use the same.
package words

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
)

// MaxReason is how much is shown of the reason of a run, in characters: enough for an omission with its place, reason and remedy.
const MaxReason = 800

// Shorten puts a text on one line of at most so many characters.
func Shorten(text string, runes int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) <= runes {
		return string(r)
	}
	return string(r[:runes-1]) + "…"
}

// Counted is such as "1 run" or "3 runs".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Join joins those texts that are not empty.
func Join(between string, texts ...string) string {
	var some []string
	for _, t := range texts {
		if t != "" {
			some = append(some, t)
		}
	}
	return strings.Join(some, between)
}

// Period sums up what runs did and cost: "4 runs, 1 failed, 2 skipped; $0.03, 12000 tokens".
func Period(p engine.Period) string {
	text := Counted(p.Runs, "run")
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", p.Skipped)
	}
	if s := p.Spending; s.Calls > 0 {
		text += "; " + Cost(s)
	}
	if p.Limit.USD > 0 {
		text += fmt.Sprintf("; the budget is $%s", Money(p.Limit.USD))
	}
	if p.Limit.Tokens > 0 {
		text += fmt.Sprintf("; the budget is %d tokens", p.Limit.Tokens)
	}
	return text
}

// Cost is what calls of models have cost, apart from what those may have cost that nobody answered.
func Cost(s cost.Spending) string {
	known := s.Known()
	text := fmt.Sprintf("$%s, %d tokens", Money(known.USD), known.Tokens)
	for _, part := range []struct {
		amount cost.Amount
		of     string
	}{{s.Open, "requests at work"}, {s.Presumed, "requests without an answer"}} {
		if part.amount != (cost.Amount{}) {
			text += fmt.Sprintf("; at most $%s, %d tokens more by %s", Money(part.amount.USD), part.amount.Tokens, part.of)
		}
	}
	return text
}

// Money formats dollars to the cent, with more digits below a dime.
func Money(usd float64) string {
	if usd > 0 && usd < 0.1 {
		return fmt.Sprintf("%.4f", usd)
	}
	return fmt.Sprintf("%.2f", usd)
}

// Slot returns the state of a slot with its reason.
func Slot(s engine.SlotRecord) string {
	return Join(": ", string(s.State), Shorten(s.Reason, 100))
}

// State returns the state of an import.
func State(s engine.ImportState) string { return strings.ReplaceAll(string(s), "_", " ") }

// Waiting is such as "1 thing waits".
func Waiting(n int) string {
	if n == 1 {
		return "1 thing waits"
	}
	return fmt.Sprintf("%d things wait", n)
}

// SameWorkflow reports whether a user's name for a workflow means the workflow: case and a trailing .md do not matter.
func SameWorkflow(workflow, name string) bool {
	return strings.EqualFold(workflow, strings.TrimSuffix(name, ".md"))
}

// Arg returns a name as a shell takes it for one argument: in quotes, if it needs them.
func Arg(name string) string {
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("./_-+:,@%=", r)
	})
	switch {
	case plain && name[0] != '-':
		return name
	case strings.ContainsAny(name, "\"$`\\!"):
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return `"` + name + `"`
}
