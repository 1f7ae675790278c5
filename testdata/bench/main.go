// Command bench compares whole imports with other programs on the same documents, in one run: `make bench` starts it, and
// docs/benchmarks.md reports its figures. Documents are made, or found in the test data of Go modules; with -dir, the PDFs
// and JPEG pictures of a folder are measured instead, each PDF in the tables that suit it.
//
// Programs are run in turn, so that a slow minute of the machine is everyone's. It prints medians with the fastest and slowest run, and
// the ratio of the medians: above 1, vaultflow is faster. The exit code is 2 if something could not be run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// options are the flags.
type options struct {
	bin, dir string
	runs     int
	only     string
	tables   string
}

// bench is one run of the program.
type bench struct {
	options
	scratch string
	old     int // folders that were moved aside
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "folder of vaultflow and vaultflow-worker")
	flag.StringVar(&o.dir, "dir", "", "folder of PDFs and JPEG pictures to measure instead")
	flag.IntVar(&o.runs, "runs", 5, "runs of each command")
	flag.StringVar(&o.only, "only", "", "measure only documents whose name contains this")
	flag.StringVar(&o.tables, "tables", "drawing,words,processors,letter,receipt,memory", "what to measure")
	flag.Parse()
	if o.runs < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bench: -runs is at least 1, and there are no arguments")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, o options) (err error) {
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return err
	}
	b := &bench{options: o}
	if b.scratch, err = os.MkdirTemp("", "vaultflow-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.scratch)) }()
	if _, err := exec.LookPath("mutool"); err != nil {
		return errors.New("install mupdf-tools: it is what imports are compared with")
	}
	fmt.Printf("%s\n\n", versions(ctx, b.program()))
	documents, err := b.documents(ctx)
	if err != nil {
		return err
	}
	if err := b.compile(ctx); err != nil {
		return err
	}
	var all []error
	for _, t := range []struct {
		name string
		make func(context.Context, []document) error
	}{{"drawing", b.drawing}, {"words", b.recognising}, {"processors", b.twoCores}, {"letter", b.warm}, {"receipt", b.receipt}, {"memory", b.memory}} {
		if slices.Contains(strings.Split(b.tables, ","), t.name) {
			all = append(all, t.make(ctx, documents))
		}
	}
	return errors.Join(all...)
}

// compile has the machine code of PDFium made, which the first import after a build does.
func (b *bench) compile(ctx context.Context) error {
	data, err := os.ReadFile("testdata/vault/Documents/Form.pdf")
	if err != nil {
		return err
	}
	path := filepath.Join(b.scratch, "form.pdf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	first := b.imported(document{path: path}, "hybrid")
	return errors.Join(first.before(), first.run(ctx))
}

func (b *bench) program() string { return filepath.Join(b.bin, "vaultflow") }

// versions lists the programs that are compared.
func versions(ctx context.Context, vaultflow string) string {
	var lines []string
	for _, command := range [][]string{{vaultflow, "version"}, {"mutool", "-v"}, {"tesseract", "--version"}} {
		said, _ := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput() // mutool exits with 1
		first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
		lines = append(lines, first)
	}
	return strings.Join(lines, "; ")
}
