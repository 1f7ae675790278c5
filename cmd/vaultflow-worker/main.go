// Command vaultflow-worker reads documents for vaultflow in a process that may crash. It gets one document through the socket at file descriptor
// 3, and answers frames of package extract on standard output.
//
// It owns nothing but its own memory. It opens no file by name but its language data and fonts, and writes none. Before it
// reads a byte of a document it drops every right that it does not need. The C libraries are linked with the build tag worker;
// without it, the program prints how to build it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fonts"
	"github.com/vaultflow/vaultflow/ingestion/worker"
	"github.com/vaultflow/vaultflow/ingestion/worker/confine"
	"github.com/vaultflow/vaultflow/ingestion/worker/libreoffice"
	"github.com/vaultflow/vaultflow/ingestion/worker/ocr"
)

// version is set by the linker.
var version = "dev"

// buildHint is printed by a program without the libraries. The linker flag keeps MuPDF's libjpeg from replacing the system's,
// which would make Tesseract fail silently on every JPEG.
const buildHint = `this vaultflow-worker was built without MuPDF and Tesseract. Build it with
  CGO_ENABLED=1 CGO_LDFLAGS=-Wl,--exclude-libs,ALL go build -tags worker,nodynamic -o bin/vaultflow-worker ./cmd/vaultflow-worker
(or make build). It needs a C compiler, libtesseract-dev, libleptonica-dev and tesseract-ocr-eng.`

type options struct {
	serve    bool
	warm     bool
	memory   int64         // bytes of RLIMIT_DATA; 0 = no limit
	cpu      time.Duration // of processor time; 0 = no limit
	tessdata string        // folder of language data
	cache    string        // folder of PDFium's machine code
	confined string        // set in the second run, after confinement
	isolated bool          // it was started without a network
	require  bool          // refuse to work without confinement
	office   string        // LibreOffice's program, to be run with the arguments after the flags
	work     string        // the only folder in which that may write
}

// libraries are what the build tag links.
type libraries interface {
	mupdf() string // its version
	tesseract() string
	// warm fills a folder with PDFium's machine code.
	warm(folder string) error
	// prepare opens what needs file names, before the system calls for that are given up, and returns what opens documents.
	prepare(o options) (open openFunc, done func())
}

type openFunc = func(data []byte, o extract.Open) (worker.Document, error)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, errs io.Writer) int {
	o, rest, err := parse(args, errs)
	switch {
	case err != nil:
		return extract.ExitUsage
	case o.office != "":
		return runOffice(o, rest, out, errs)
	case linked == nil:
		fmt.Fprintln(errs, buildHint)
		return extract.ExitUsage
	case o.warm:
		return code(linked.warm(o.cache), errs)
	}
	o.tessdata = ocr.FindTessdata(o.tessdata)
	if !o.serve {
		report(out, hello(o))
		return 0
	}
	return serve(o, errs)
}

func parse(args []string, errs io.Writer) (o options, rest []string, err error) {
	flags := flag.NewFlagSet("vaultflow-worker", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.BoolVar(&o.serve, "serve", false, "read frames from standard input, and a document that is handed over through the socket at file descriptor 3")
	flags.Bool("version", false, "print what this program is and what it can do")
	flags.Int64Var(&o.memory, "memory", 0, "most `bytes` of memory")
	flags.DurationVar(&o.cpu, "cpu", 0, "most processor `time`")
	flags.BoolVar(&o.isolated, "isolated", false, "there is no network (set by whoever starts the program)")
	flags.StringVar(&o.tessdata, "tessdata", os.Getenv("TESSDATA_PREFIX"), "`folder` of Tesseract's language data")
	flags.BoolVar(&o.require, "require-confinement", false, "do not work unless files, network and other programs are out of reach")
	flags.StringVar(&o.cache, "pdfium-cache", "", "`folder` of PDFium's machine code, which makes it start faster")
	flags.BoolVar(&o.warm, "warm", false, "fill the folder of -pdfium-cache and exit; no document is read")
	flags.StringVar(&o.office, "office", "", "run this `program` with the arguments after the flags, confined to the folder of -work, until it or standard input ends")
	flags.StringVar(&o.work, "work", "", "`folder` that -office may write in")
	flags.StringVar(&o.confined, "confined", "", "level that was reached (set by the program itself)")
	err = flags.Parse(args)
	return o, flags.Args(), err
}

// serve confines this process and answers requests about one document.
func serve(o options, errs io.Writer) int {
	debug.SetGCPercent(200) // most garbage is a few large pictures, which are quick to collect
	if o.memory > 0 {       // collect before the limit ends the process; the libraries need the rest
		debug.SetMemoryLimit(o.memory / 4 * 3)
	}
	if o.confined == "" {
		o.confined = confine.Reader(reader(o), errs) // does not return if it starts the program again
	}
	confine.WatchTime(errs)
	frames, err := worker.ClaimStdout()
	if err != nil {
		return code(err, errs)
	}
	open, done := linked.prepare(o)
	defer done()
	o.confined = confine.DropCalls(o.confined, errs)
	if o.require && o.confined != extract.ConfinedFull {
		fmt.Fprintf(errs, "confinement is required, but only %q was reached\n", o.confined)
		return extract.ExitUnconfined
	}
	return code(worker.Server{Hello: hello(o), Open: open, FD: 3}.Run(context.Background(), os.Stdin, frames), errs)
}

// code prints an error and returns its exit code.
func code(err error, errs io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(errs, err)
	return extract.ExitBroken
}

// reader is what reading documents needs: language data, fonts, and PDFium's machine code.
func reader(o options) confine.Task {
	reads := fonts.Folders()
	if o.cache != "" {
		reads = append(reads, o.cache)
	}
	if o.tessdata != "" {
		reads = append(reads, o.tessdata)
		if real, err := filepath.EvalSymlinks(o.tessdata); err == nil && real != o.tessdata {
			reads = append(reads, real)
		}
	}
	return confine.Task{Memory: o.memory, CPU: o.cpu, Isolated: o.isolated, Reads: reads, Again: func(level string) []string {
		args := []string{"-serve", "-memory=" + strconv.FormatInt(o.memory, 10), "-tessdata=" + o.tessdata, "-pdfium-cache=" + o.cache, "-confined=" + level}
		return append(args, required(o)...)
	}}
}

// runOffice runs LibreOffice for package sandbox.
func runOffice(o options, args []string, out, errs io.Writer) int {
	job := libreoffice.Job{Program: o.office, Work: o.work, Args: args, Confined: o.confined, Require: o.require}
	job.Task = confine.Task{Memory: o.memory, CPU: o.cpu, Isolated: o.isolated, Again: func(level string) []string {
		again := append([]string{"-office=" + o.office, "-work=" + o.work, "-confined=" + level}, required(o)...)
		return append(append(again, "--"), args...)
	}}
	return job.Run(out, errs)
}

func required(o options) []string {
	if o.require {
		return []string{"-require-confinement"}
	}
	return nil
}

func hello(o options) extract.Hello {
	h := extract.Hello{
		Protocol: extract.Protocol, Version: version, MuPDF: linked.mupdf(), Tesseract: linked.tesseract(),
		Tessdata: o.tessdata, Languages: ocr.Languages(o.tessdata), Confinement: o.confined,
	}
	if h.Confinement == "" {
		h.Confinement = extract.ConfinedNot
	}
	if len(h.Languages) == 0 {
		h.Notes = append(h.Notes, "no language data was found: pictures of text cannot be read")
	}
	return h
}

func report(out io.Writer, h extract.Hello) {
	languages := strings.Join(h.Languages, " ")
	if languages == "" {
		languages = "none"
	}
	fmt.Fprintf(out, "vaultflow-worker %s\nMuPDF %s\nTesseract %s, languages in %q: %s\n", h.Version, h.MuPDF, h.Tesseract, h.Tessdata, languages)
}
