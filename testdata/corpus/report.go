package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// result is the outcome of a file.
type result struct {
	source
	engine.ImportRecord
	counts      []count // by other programs; nil when none could read it
	miscounted  bool
	failedPages int
	peak        int64 // of a worker in its batch, MiB
}

func (r result) took() time.Duration {
	if r.Started.IsZero() || r.Finished.IsZero() {
		return 0
	}
	return r.Finished.Sub(r.Started)
}

// report collects the findings of a run.
type report struct {
	Files    int     `json:"files"`
	Seconds  float64 `json:"seconds"`
	Daemon   int64   `json:"daemon_peak_mib"`   // resident
	Together int64   `json:"together_peak_mib"` // daemon and workers at one moment
	Lost     int     `json:"lost"`
	Slow     int     `json:"slow"` // files written slowly
	Half     int     `json:"half"` // their last version is of other bytes

	WrongQuality  int `json:"wrong_quality"`  // pages below the quality that was asked for, without a word
	KilledWorkers int `json:"killed_workers"` // from outside
	KilledDaemons int `json:"killed_daemons"`
	Retried       int `json:"retried"`   // imports that kills put aside
	Compared      int `json:"compared"`  // bundles, with the run without kills
	Different     int `json:"different"` // of these

	Programs []string  `json:"page_counters"`
	Kinds    []kindRow `json:"kinds"`
	Failures []tally   `json:"failures"`
	Errors   []tally   `json:"page_errors"`
	Problems []string  `json:"problems"`

	started    time.Time
	counters   []counter
	results    []result
	pageErrors []string
	outcomes   map[string]outcome // collected when not nil
	quiet      bool               // the run is only for comparison
}

// problem records a violation. The name is empty if it concerns no single file.
func (r *report) problem(name, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if name != "" {
		line = fmt.Sprintf("%q: %s", name, line)
	}
	r.Problems = append(r.Problems, line)
	if r.quiet {
		fmt.Println("without kills:", line)
	} else {
		fmt.Println("PROBLEM", line)
	}
}

// kindRow sums up the files of one kind.
type kindRow struct {
	Kind          string  `json:"kind"`
	Files         int     `json:"files"`
	Bundles       int     `json:"bundles"` // done or partial
	Partial       int     `json:"partial"`
	Duplicates    int     `json:"duplicates"`
	NeedsPassword int     `json:"needs_password"`
	Failed        int     `json:"failed"`
	FailedOpened  int     `json:"failed_opened_by_others"` // failed, and another program counts pages
	Pages         int     `json:"pages"`
	FailedPages   int     `json:"failed_pages"`
	Counted       int     `json:"page_counts_equal"`
	Miscounted    int     `json:"page_counts_different"`
	Median        float64 `json:"median_seconds"`
	P99           float64 `json:"p99_seconds"`
	Worker        int64   `json:"worker_peak_mib"`
}

// tally counts one text.
type tally struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// kind sums up the results of one kind.
func kind(name string, results []result) kindRow {
	row := kindRow{Kind: name, Files: len(results)}
	var took []float64
	for _, r := range results {
		row.Worker = max(row.Worker, r.peak)
		switch r.State {
		case engine.ImportDone, engine.ImportPartial:
			row.Bundles++
			row.Pages += r.Pages
			row.FailedPages += r.failedPages
			if r.State == engine.ImportPartial {
				row.Partial++
			}
			if r.miscounted {
				row.Miscounted++
			} else if r.counts != nil {
				row.Counted++
			}
		case engine.ImportDuplicate:
			row.Duplicates++
		case engine.ImportNeedsPassword:
			row.NeedsPassword++
		default:
			row.Failed++
			if r.counts != nil {
				row.FailedOpened++
			}
		}
		took = append(took, r.took().Seconds())
	}
	slices.Sort(took)
	row.Median, row.P99 = took[len(took)/2], took[len(took)*99/100]
	return row
}

// tallies counts equal texts, the most frequent first.
func tallies(texts []string) []tally {
	counted := map[string]int{}
	for _, t := range texts {
		counted[t]++
	}
	list := []tally{}
	for _, t := range slices.Sorted(maps.Keys(counted)) {
		list = append(list, tally{t, counted[t]})
	}
	slices.SortStableFunc(list, func(a, b tally) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

// print writes the tables to standard output, and to files when a name is given.
func (r *report) print(out string) error {
	r.Files, r.Seconds = len(r.results), time.Since(r.started).Seconds()
	for _, c := range r.counters {
		r.Programs = append(r.Programs, c.program)
	}
	byKind := map[string][]result{}
	var failures []string
	for _, f := range r.results {
		byKind[f.kind] = append(byKind[f.kind], f)
		if f.slow {
			r.Slow++
		}
		if f.State == engine.ImportFailed {
			failures = append(failures, fmt.Sprintf("%s, %s", cmp.Or(f.Code, "no code"), f.kind))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byKind)) {
		r.Kinds = append(r.Kinds, kind(name, byKind[name]))
	}
	if len(r.results) > 0 {
		r.Kinds = append(r.Kinds, kind("all", r.results))
	}
	r.Failures, r.Errors = tallies(failures), tallies(r.pageErrors)
	r.markdown(os.Stdout)
	if out == "" {
		return nil
	}
	var text strings.Builder
	r.markdown(&text)
	if err := os.WriteFile(out+".md", []byte(text.String()), 0o600); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out+".json", append(data, '\n'), 0o600)
}

func (r *report) markdown(w io.Writer) {
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	line("%d files in %.0f s; %d problems, %d files lost; most memory: daemon %d MiB, daemon and workers together %d MiB.", r.Files, r.Seconds, len(r.Problems), r.Lost, r.Daemon, r.Together)
	line("%d written slowly, %d left half; %d pages in wrong quality without a word.", r.Slow, r.Half, r.WrongQuality)
	if r.Compared > 0 {
		line("%d workers and %d daemons killed, %d imports tried again; %d of %d bundles differ from the run without kills.",
			r.KilledWorkers, r.KilledDaemons, r.Retried, r.Different, r.Compared)
	}
	if len(r.Programs) == 0 {
		line("Pages were not compared: install pdfinfo, qpdf, tiffinfo or identify.")
	} else {
		line("Pages compared with %s.", strings.Join(r.Programs, ", "))
	}
	line("\n| kind | files | bundles | of these partial | duplicates | needs password | failed (opened by others) | pages | failed pages | counts equal | differ | median s | p99 s | worker MiB |")
	line("|---|%s", strings.Repeat("--:|", 13))
	for _, k := range r.Kinds {
		line("| %s | %d | %d | %d | %d | %d | %d (%d) | %d | %d | %d | %d | %.2f | %.2f | %d |", k.Kind, k.Files, k.Bundles, k.Partial, k.Duplicates, k.NeedsPassword,
			k.Failed, k.FailedOpened, k.Pages, k.FailedPages, k.Counted, k.Miscounted, k.Median, k.P99, k.Worker)
	}
	table := func(title string, rows []tally) {
		if len(rows) == 0 {
			return
		}
		line("\n| %s | |\n|---|--:|", title)
		for _, t := range rows {
			line("| %s | %d |", strings.ReplaceAll(t.What, "|", "\\|"), t.Count)
		}
	}
	table("failed files by code and kind", r.Failures)
	table("failed pages by reason", r.Errors)
}
