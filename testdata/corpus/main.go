// Command corpus runs every file of a folder through the shipped binaries and reports problems: it drops them in batches
// into the import folder of a separate vault that `vaultflow serve` watches, and then checks the vault.
// `make corpus DIR=…` starts it; docs/corpus.md reports on a large run.
//
// It checks that the daemon is alive, that each file ended as one bundle or one failure note, that its bytes are where the
// import says, that nothing temporary or hidden is left, that the number of pages is what other programs count, and that
// time and memory stay within limits. One line is printed for each problem, then a table by kind of file. The exit
// code is 0 without a problem, 1 with one, 2 if it could not run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

// options are the flags.
type options struct {
	dir, bin, out string
	keep, noOCR   bool
	every, batch  int
	slow, ocr     int           // every nth file
	pause         time.Duration // longest of a slow writer
	kill          bool
	time          time.Duration // most for one import
	stuck         time.Duration // longest time in which nothing may happen
	daemonMiB     int64         // most resident memory of the daemon
	workerMiB     int64         // most resident memory of a worker
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder of the files; it is only read")
	flag.StringVar(&o.bin, "bin", "bin", "folder of vaultflow and vaultflow-worker")
	flag.StringVar(&o.out, "out", "", "write the tables to this name with .md and .json")
	flag.BoolVar(&o.keep, "keep", false, "keep the vault")
	flag.BoolVar(&o.noOCR, "no-ocr", false, "recognise no text: pdf_text and image_copy are the only strategies")
	flag.IntVar(&o.slow, "slow", 0, "write every nth file slowly: in pieces, with pauses")
	flag.DurationVar(&o.pause, "pause", 30*time.Second, "longest pause of a slow writer")
	flag.IntVar(&o.ocr, "ocr", 0, "recognise text in every nth file only; otherwise in all, unless -no-ocr")
	flag.BoolVar(&o.kill, "kill", false, "run twice, the second time killing workers and the daemon, and compare the pages")
	flag.IntVar(&o.every, "every", 1, "take every nth file only")
	flag.IntVar(&o.batch, "batch", 40, "files that are dropped at once; at most 300")
	flag.DurationVar(&o.time, "time", 5*time.Minute, "most for one import")
	flag.DurationVar(&o.stuck, "stuck", 5*time.Minute, "give up when nothing has happened for so long")
	flag.Int64Var(&o.daemonMiB, "daemon", 512, "most resident memory of the daemon, in MiB")
	flag.Int64Var(&o.workerMiB, "worker", 1536, "most resident memory of a worker, in MiB")
	flag.Parse()
	if o.dir == "" || flag.NArg() > 0 || o.every < 1 || o.slow < 0 || o.ocr < 0 || o.noOCR && o.ocr > 0 || o.pause <= 0 || o.batch < 1 || o.batch > 300 {
		fmt.Fprintln(os.Stderr, "corpus: name a folder of files: -dir DIR; -every from 1, -batch from 1 to 300, -slow and -ocr from 1, either -ocr or -no-ocr")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	problems, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(2)
	}
	if problems > 0 {
		os.Exit(1)
	}
}

// run imports the files and returns the number of problems.
func run(ctx context.Context, o options) (problems int, err error) {
	files, err := list(o.dir, o.every)
	if err != nil {
		return 0, err
	}
	for i := range files {
		files[i].slow = o.slow > 0 && i%o.slow == 0
		files[i].recognise = o.ocr > 0 && i%o.ocr == 0
	}
	var before map[string]outcome
	if o.kill {
		if before, err = reference(ctx, files, o); err != nil {
			return 0, err
		}
	}
	r := &report{started: time.Now(), counters: counters()}
	if err := through(ctx, files, o, r, before); err != nil {
		return len(r.Problems), errors.Join(err, r.print(o.out))
	}
	return len(r.Problems), r.print(o.out)
}

// through drops the files into a new vault, batch by batch, and checks what becomes of them.
func through(ctx context.Context, files []source, o options, r *report, before map[string]outcome) (err error) {
	scratch, err := os.MkdirTemp("", "vaultflow-corpus-")
	if err != nil {
		return err
	}
	defer func() {
		if o.keep || len(r.Problems) > 0 && !r.quiet || err != nil {
			fmt.Println("the vault is kept in", scratch)
		} else {
			err = os.RemoveAll(scratch)
		}
	}()
	s, err := start(ctx, scratch, o)
	if err != nil {
		return err
	}
	s.reference = before
	defer s.kill()
	for i, batch := range batches(files, o.batch, o.slow > 0 || o.kill) {
		if err := s.batch(ctx, fmt.Sprintf("%04d", i+1), batch, r); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s  %d of %d files, %d problems\n", time.Now().Format(time.TimeOnly), len(r.results), len(files), len(r.Problems))
	}
	s.end(r)
	return nil
}

// source is a file of the corpus.
type source struct {
	path   string // on this machine
	name   string // relative to the corpus
	kind   string // by its extension
	sha256 string

	slow      bool // written in pieces
	recognise bool // with text recognition, while others are read without
}

// batches splits the files into groups of one kind each, so that memory can be reported by kind. Slow writers and kills make each
// group take minutes, so kinds are mixed with them.
func batches(files []source, size int, mixed bool) [][]source {
	var all [][]source
	for _, f := range files {
		if n := len(all); n > 0 && len(all[n-1]) < size && (mixed || all[n-1][0].kind == f.kind) {
			all[n-1] = append(all[n-1], f)
		} else {
			all = append(all, []source{f})
		}
	}
	return all
}

// inVault is where a file of a batch is dropped, below the vault. Each file gets its own folder, so that names stay
// unchanged and do not collide.
func inVault(batch string, i int, f source) string {
	if f.recognise {
		batch += "/" + recognised
	}
	return "Import/" + batch + "/" + fmt.Sprintf("%03d", i+1) + "/" + filepath.Base(f.path)
}
