package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step"
)

// fullReceipt is a receipt with what was left out. After a run it is what the run's record says, with what was lost while sending.
type fullReceipt struct {
	prompt.Receipt
	LeftOut []engine.LeftOut `json:"left_out,omitempty"`
}

// beforeSending is a receipt before anything is sent.
func beforeSending(r prompt.Receipt) fullReceipt {
	return fullReceipt{r, engine.LeftOutOf(step.Omissions(r.Left()))}
}

// writeReceipt prints a receipt for people: each reference with its fate, then totals against what bound them.
func writeReceipt(w io.Writer, r fullReceipt) {
	fmt.Fprintf(w, "receipt of %s / %s for %s (prompt format %d)\n", r.Workflow, r.Step, r.Model, r.PromptFormat)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "  ID\tWHERE\tWHAT\tSIZE\tTOKENS\tFATE\tREASON")
	for _, line := range r.Chunks {
		where, what := receiptWhere(line), receiptWhat(line)
		size := ""
		if line.Width > 0 {
			size = fmt.Sprintf("%dx%d, %s", line.Width, line.Height, content.FormatSize(line.Size))
		}
		fmt.Fprintf(tab, "  %s\t%s\t%s\t%s\t%d\t%s\t%s\n", line.ID, words.Shorten(where, 40), words.Shorten(what, 60), size, line.Tokens, receiptFate(line), words.Shorten(line.Reason, 60))
	}
	tab.Flush()
	fmt.Fprintf(w, "  %s, %s, %s attached, %d deferred, about %d tokens, %s of media\n",
		words.Counted(r.Totals.Chunks, "chunk"), words.Counted(r.Totals.References, "reference"), words.Counted(r.Totals.Sent, "image"), r.Totals.Deferred, r.Totals.Tokens, content.FormatSize(r.Totals.ImageBytes))
	for _, l := range r.Limits {
		most, from := plainNumber(l.Value), l.From
		if l.Guess != "" {
			most, from = "about "+most, from+"; guessed: "+l.Guess
		}
		fmt.Fprintf(w, "  %s: %s of %s (%s)\n", l.Key, plainNumber(l.Used), most, from)
	}
	for _, line := range r.LeftOut {
		fmt.Fprintf(w, "  left out %s\n", line)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "  warning: %s\n", warning)
	}
}

// receiptFate is what became of a chunk, with the step of the ladder.
func receiptFate(line prompt.Line) string {
	if line.Step == "" {
		return string(line.Fate)
	}
	return string(line.Fate) + " (" + string(line.Step) + ")"
}

// receiptWhere returns the note and line of a chunk.
func receiptWhere(line prompt.Line) string {
	where := line.Source.Note
	if line.Source.Variable != "" {
		where = "variable " + line.Source.Variable
	}
	if line.Source.Lines[0] > 0 {
		where += fmt.Sprintf(":%d", line.Source.Lines[0])
	}
	return where
}

// receiptWhat is a chunk's kind, with the name of what is referred to.
func receiptWhat(line prompt.Line) string {
	if !line.IsReference() {
		return line.Kind
	}
	name := line.Name
	if name == "" {
		name = line.Target
	}
	return line.Kind + " " + name
}

// plainNumber writes a number without an exponent.
func plainNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
