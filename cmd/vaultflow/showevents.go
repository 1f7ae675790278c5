package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// showEvents prints the events of a run, oldest first.
func showEvents(ctx context.Context, g *globals, j *journal.Journal, run string) error {
	for after := int64(0); ; {
		events, err := j.Events.List(ctx, run, after, eventsAtOnce)
		if err != nil {
			return err
		}
		for _, e := range events {
			after = e.Seq
			if err := g.print(e, func(w io.Writer) { fmt.Fprintln(w, "  "+eventRow(e)) }); err != nil {
				return err
			}
		}
		if len(events) < eventsAtOnce {
			return nil
		}
	}
}

// eventRow is an event on one line.
func eventRow(e engine.Event) string {
	cells := []string{e.Time.Local().Format(stamp), strings.ReplaceAll(e.Kind, "_", " ")}
	if e.Step != "" {
		cells = append(cells, e.Step)
	}
	if e.Batch > 0 {
		cells = append(cells, fmt.Sprintf("batch %d", e.Batch))
	}
	for _, word := range []string{e.Name, string(e.Status), words.Shorten(e.Message, 300)} {
		if word != "" {
			cells = append(cells, word)
		}
	}
	return strings.Join(cells, "  ")
}

// countsText compares estimates of requests with what was counted; empty when nothing was.
func countsText(counts []engine.TokenCount) string {
	estimated, counted := 0, 0
	for _, c := range counts {
		estimated, counted = estimated+c.Estimated, counted+c.Counted
	}
	if estimated == 0 || counted == 0 {
		return ""
	}
	return fmt.Sprintf("estimated %d input tokens in all requests (%d), the service counted %d (ratio %.2f)", estimated, len(counts), counted, float64(counted)/float64(estimated))
}
