package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// importStatus lists imports; with --wait it first waits until so many have ended.
func importStatus(ctx context.Context, a *daemon.Workspace, g *globals, f importFlags) error {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	said := map[string]string{}
	limit := max(f.limit, f.wait*2)
	for {
		var rows []engine.ImportRecord
		err := a.Reading(ctx, func(j *journal.Journal) (err error) {
			rows, err = j.Imports.List(ctx, journal.ImportFilter{Limit: limit + 1})
			markLeft(rows, j.Held())
			return err
		})
		if err != nil && !errors.Is(err, daemon.ErrNothingRun) {
			return err
		}
		more := len(rows) > limit
		if more {
			rows = rows[:limit]
		}
		ended := 0
		for _, r := range rows {
			if r.State.Finished() {
				ended++
			}
			if line := importLine(r); f.wait > 0 && said[r.ID] != line {
				said[r.ID] = line
				fmt.Fprintln(g.err, line)
			}
		}
		if ended >= f.wait {
			if err := table(g, "ID\tSTATE\tSOURCE\tPAGES\tBUNDLE\tWHY", rows, func(r engine.ImportRecord) string { return importRow(r, a.Zone) }); err != nil {
				return err
			}
			if more {
				fmt.Fprintf(g.err, "there are older imports: `vaultflow import --status -n %d` lists more\n", 5*limit)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return exit(exitFailed, fmt.Errorf("%d of %d imports have ended after %s", ended, f.wait, f.timeout))
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// markLeft sets why imports make no progress that no process works on.
func markLeft(rows []engine.ImportRecord, held bool) {
	for i, r := range rows {
		if !held && (r.State == engine.ImportQueued || r.State == engine.ImportWorking) {
			rows[i].Reason = "interrupted; `vaultflow serve` resumes it, or `vaultflow import --retry " + r.ID + "`"
		}
	}
}

func importLine(r engine.ImportRecord) string {
	if r.Pages > 1 && !r.State.Finished() {
		return fmt.Sprintf("  %s: %s, %s", visible.Name(r.Source), r.State, pageProgress(r))
	}
	return fmt.Sprintf("  %s: %s", visible.Name(r.Source), r.State)
}

// pageProgress describes the progress of an import's pages, with an estimate if there is one.
func pageProgress(r engine.ImportRecord) string {
	text := fmt.Sprintf("page %d of %d", r.Page, r.Pages)
	if r.SecondsLeft > 0 && r.Page < r.Pages {
		text += ", " + about(r.SecondsLeft) + " left"
	}
	return text
}

// about is a time that nobody should take for exact.
func about(seconds int) string {
	switch d := time.Duration(seconds) * time.Second; {
	case d < time.Minute:
		return fmt.Sprintf("about %d s", seconds)
	case d < 90*time.Minute:
		return fmt.Sprintf("about %d min", int(d.Round(time.Minute)/time.Minute))
	default:
		return fmt.Sprintf("about %d h", int(d.Round(time.Hour)/time.Hour))
	}
}

func importRow(r engine.ImportRecord, zone *time.Location) string {
	why := r.Error
	if why == "" {
		why = r.Reason
	}
	most := 70
	switch r.State {
	case engine.ImportWaiting:
		why, most = r.Why(zone), 300
	case engine.ImportQueued, engine.ImportWorking:
		most = 300 // advice
	}
	if why == "" && r.Held {
		why = "stays in the import folder for now: a program may append to it"
	}
	if why == "" {
		why = strings.Join(r.Warnings, "; ") // as of pages whose text is doubtful
	}
	pages := fmt.Sprintf("%d/%d", r.Page, r.Pages)
	if !r.State.Finished() && r.SecondsLeft > 0 {
		pages += ", " + about(r.SecondsLeft) + " left"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", r.ID, r.State, visible.Name(r.Source), pages, visible.Name(r.Bundle), words.Shorten(why, most))
}
