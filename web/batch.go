package web

import (
	"context"
	"fmt"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step/cite"
)

// What a step's card shows of its batches at most. Receipts are shown for those with their answers.
const (
	shownBatches = 200
	readBatches  = 20 // with answer and receipt
)

// batchRow is a batch of an @for_each on a step's card.
type batchRow struct {
	Number           int
	Items            string
	Pill             pill
	Reason, Hint     string
	Took, Tokens     string
	Cost             string
	Cached           bool
	Outputs, Changes []string
	Left             []engine.LeftOut
	Warnings         []string
	Defused          []engine.Defused
	Marked           []cite.Finding
	Answer           string
	Cut              bool
	Receipt          *receipt
	Sent             string // "" or whether it was sent as previewed
	Differences      []string
}

// batchRows are a step's batches in order, and how many more there are.
func (s runPages) batchRows(ctx context.Context, batches []engine.BatchRecord) (rows []batchRow, more int) {
	if len(batches) > shownBatches {
		batches, more = batches[:shownBatches], len(batches)-shownBatches
	}
	left := readBatches
	for _, b := range batches {
		row := batchRow{
			Number: b.Batch, Items: b.ItemsText(), Pill: statusPill(b.Status), Reason: b.Reason, Tokens: tokens(b.Usage), Cost: costText(b.Usage),
			Cached: b.Cached, Outputs: outputNames(b.Outputs), Changes: changeWords(b.Changes), Left: b.Left(), Warnings: b.Warnings, Defused: b.Defused,
			Marked: b.Citations.Marked,
		}
		row.Sent, row.Differences = b.AsPreviewed(s.site.cfg.Zone)
		if b.Failure != nil {
			row.Hint = b.Failure.Hint
		}
		if !b.Started.IsZero() && !b.Finished.IsZero() {
			row.Took = span(b.Finished.Sub(b.Started))
		}
		if left > 0 && b.Prompt != "" {
			left--
			row.Answer, row.Cut = s.answer(ctx, b.Answer)
			row.Receipt = s.receipt(ctx, b.WorkRecord)
		}
		rows = append(rows, row)
	}
	return rows, more
}

// outputNames names what was written.
func outputNames(outputs []engine.Output) []string {
	var names []string
	for _, o := range outputs {
		name := o.Name
		if o.Kind == "variable" {
			name = "variable " + name
		}
		names = append(names, name)
	}
	return names
}

// changeWords describes what tools did to files.
func changeWords(changes []engine.Change) []string {
	var words []string
	for _, c := range changes {
		words = append(words, c.String())
	}
	return words
}

// writer names who is writing a piece of an answer: a step, or a batch of it.
func writer(e engine.Event) string {
	if e.Batch == 0 {
		return e.Step
	}
	return fmt.Sprintf("%s, batch %d", e.Step, e.Batch)
}
