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
	Number int
	Items  string
	workRow
}

// workRow is what the cards of steps and batches have in common.
type workRow struct {
	Pill             pill
	Reason, Hint     string
	Took, Cost       string
	Tokens           string
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

func (s runPages) workRow(r engine.WorkRecord) workRow {
	row := workRow{
		Pill: statusPill(r.Status), Reason: r.Reason, Tokens: tokens(r.Usage), Cost: costText(r.Usage), Cached: r.Cached, Outputs: outputNames(r.Outputs),
		Changes: changeWords(r.Changes), Left: r.Left(), Warnings: r.Warnings, Defused: r.Defused, Marked: r.Citations.Marked,
	}
	row.Sent, row.Differences = r.AsPreviewed(s.site.cfg.Zone)
	if r.Failure != nil {
		row.Hint = r.Failure.Hint
	}
	if !r.Started.IsZero() && !r.Finished.IsZero() {
		row.Took = span(r.Finished.Sub(r.Started))
	}
	return row
}

// batchRows are a step's batches in order, and how many more there are.
func (s runPages) batchRows(ctx context.Context, batches []engine.BatchRecord) (rows []batchRow, more int) {
	if len(batches) > shownBatches {
		batches, more = batches[:shownBatches], len(batches)-shownBatches
	}
	left := readBatches
	for _, b := range batches {
		row := batchRow{b.Batch, b.ItemsText(), s.workRow(b.WorkRecord)}
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
