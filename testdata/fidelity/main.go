// Command fidelity measures how faithfully the shipped binaries read public documents with known content: the tables of the
// ICDAR 2013 competition, the checks of olmOCR-bench's sample, the texts of opendataloader-bench, the order of pages on which
// other readers agree, and simulated photographs. `make fidelity` fetches the sets and starts it; docs/fidelity.md has the
// definitions and the figures.
//
// Each set is cut into two halves by the digest of the file. It prints a table, with both halves side by side if both were
// measured. The exit code is 0 if each figure meets its threshold, 1 if one does not, 2 if it could not run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// options are the flags.
type options struct {
	dir, bin, out, katex string
	sets                 []string
	halves               []half
	verbose              bool
}

// run is one measurement.
type run struct {
	options
	reader reader
	report report
}

// measures are the sets in the order of the report. Each measures one half.
var measures = []struct {
	name    string
	measure func(*run, context.Context, string, half) error
}{
	{"icdar", (*run).icdar},
	{"olmocr", (*run).olmocr},
	{"opendataloader", (*run).opendataloader},
	{"order", (*run).order},
	{"photos", (*run).photos},
}

func main() {
	o, err := flags(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "fidelity:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	missed, err := measure(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fidelity:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Fprintf(os.Stderr, "fidelity: %d figures miss their threshold\n", missed)
		os.Exit(1)
	}
}

func flags(args []string) (options, error) {
	var o options
	var names []string
	for _, m := range measures {
		names = append(names, m.name)
	}
	all := strings.Join(names, ",")
	f := flag.NewFlagSet("fidelity", flag.ContinueOnError)
	f.StringVar(&o.dir, "dir", "", "folder of the sets; scripts/fidelity.sh makes it")
	f.StringVar(&o.bin, "bin", "bin", "folder of vaultflow and vaultflow-worker")
	f.StringVar(&o.out, "out", "", "write the table to this Markdown file too")
	f.StringVar(&o.katex, "katex", "", "folder of katex.min.js, to compare formulas by their drawings in Chromium")
	sets := f.String("set", all, "sets to measure, with commas between them")
	halves := f.String("half", "seen", "seen, unseen or both")
	f.BoolVar(&o.verbose, "v", false, "print a line for each document")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.dir == "" || f.NArg() > 0 {
		return o, errors.New("name the folder of the sets: -dir DIR")
	}
	switch *halves {
	case "seen", "unseen":
		o.halves = []half{half(*halves)}
	case "both":
		o.halves = []half{seen, unseen}
	default:
		return o, fmt.Errorf("-half %s: write seen, unseen or both", *halves)
	}
	for name := range strings.SplitSeq(*sets, ",") {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("-set %s: the sets are %s", name, all)
		}
		o.sets = append(o.sets, name)
	}
	return o, nil
}

// measure measures the sets and returns the number of figures that miss their threshold.
func measure(ctx context.Context, o options) (missed int, err error) {
	scratch, err := os.MkdirTemp("", "vaultflow-fidelity-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return 0, err
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return 0, err
	}
	r := &run{options: o, reader: reader{o.bin, scratch}}
	for _, m := range measures {
		if !slices.Contains(o.sets, m.name) {
			continue
		}
		for _, h := range o.halves {
			if err := m.measure(r, ctx, o.dir, h); err != nil {
				return 0, fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return r.report.finish(o)
}

// detail prints a line about a document of the seen half. Details of the unseen half would be looked at, so there are none.
func (r *run) detail(h half, format string, args ...any) {
	if r.verbose && h == seen {
		fmt.Printf(format+"\n", args...)
	}
}
