// Command vaultflow-worker reads documents for vaultflow in a process that may die: it holds MuPDF and Tesseract, gets one
// document as file descriptor 3, and answers frames of package extract on standard output.
//
// It owns nothing but its own memory. It never opens a file by name but its language data, and never writes one. Before
// it has read a byte of a document it takes away from itself what it does not need. The libraries in C are linked with
// the build tag worker; without it the program says how to build it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// version is set by the linker.
var version = "dev"

// Exit codes. 1 is MuPDF's: it ends the process when an error is nowhere caught. 2 is that of a Go panic.
const (
	exitUsage      = 64
	exitUnconfined = 65
	exitBroken     = 66
	exitSpent      = 67
)

type options struct {
	memory   int64         // bytes of RLIMIT_DATA; 0 = no limit
	cpu      time.Duration // of processor time; 0 = no limit
	tessdata string        // folder of language data
	cache    string        // folder of PDFium's machine code
	code     codeCache     // opened, of that folder
	confined string        // set in the second run, after confinement
	isolated bool          // it was started without a network
	require  bool          // refuse to work without confinement
	newest   int           // version of Landlock's interface to go up to; 0 = the kernel's
	office   string        // LibreOffice's program, to be run with the arguments behind the flags; see runOffice
	work     string        // the only folder in which that may write
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, errs io.Writer) int {
	var o options
	flags := flag.NewFlagSet("vaultflow-worker", flag.ContinueOnError)
	flags.SetOutput(errs)
	serve := flags.Bool("serve", false, "read frames from standard input and a document from file descriptor 3")
	flags.Bool("version", false, "say what this program is and what it can do")
	flags.Int64Var(&o.memory, "memory", 0, "most `bytes` of memory")
	flags.DurationVar(&o.cpu, "cpu", 0, "most processor `time`")
	flags.BoolVar(&o.isolated, "isolated", false, "there is no network (said by who starts the program)")
	flags.StringVar(&o.tessdata, "tessdata", os.Getenv("TESSDATA_PREFIX"), "`folder` of Tesseract's language data")
	flags.BoolVar(&o.require, "require-confinement", false, "do not work unless files, network and other programs are out of reach")
	flags.StringVar(&o.cache, "pdfium-cache", "", "`folder` of PDFium's machine code, which makes it start faster")
	fill := flags.Bool("warm", false, "fill the folder of -pdfium-cache and end; no document is read")
	flags.StringVar(&o.office, "office", "", "run this `program` with the arguments behind the flags, confined to the folder of -work, until it or standard input ends")
	flags.StringVar(&o.work, "work", "", "`folder` that -office may write in")
	flags.StringVar(&o.confined, "confined", "", "level that was reached (set by the program itself)")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if o.office != "" {
		return runOffice(o, flags.Args(), out, errs)
	}
	if !linked {
		fmt.Fprintln(errs, buildHint)
		return exitUsage
	}
	if *fill {
		if err := warm(o.cache); err != nil {
			fmt.Fprintln(errs, err)
			return exitBroken
		}
		return 0
	}
	o.tessdata = findTessdata(o.tessdata)
	if !*serve {
		report(out, hello(o))
		return 0
	}
	if o.confined == "" {
		o.confined = confine(o, errs) // does not return when it starts the program anew
	}
	watchTime(errs)
	frames, err := claimStdout()
	if err != nil {
		fmt.Fprintln(errs, err)
		return exitBroken
	}
	o.code = openCodeCache(o.cache)
	o.confined = withoutCalls(o.confined, filterCalls, errs)
	if o.require && o.confined != extract.ConfinedFull {
		fmt.Fprintf(errs, "confinement is required, but only %q could be had\n", o.confined)
		return exitUnconfined
	}
	if err := serveFrames(context.Background(), o, os.Stdin, frames, 3); err != nil {
		fmt.Fprintln(errs, err)
		return exitBroken
	}
	return 0
}

func hello(o options) extract.Hello {
	h := extract.Hello{
		Protocol: extract.Protocol, Version: version, MuPDF: mupdfVersion(), Tesseract: tesseractVersion(),
		Tessdata: o.tessdata, Languages: languagesIn(o.tessdata), Confinement: o.confined,
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
