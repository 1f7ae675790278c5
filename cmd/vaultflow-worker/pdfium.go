//go:build worker

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	pdfiumapi "github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// pdfiumVersion is that of the binding; the library does not tell its own.
const pdfiumVersion = "go-pdfium 1.19.8"

// pdfiumMemory is the most memory of PDFium in pages of 64 KiB: 1 GiB, which leaves room below the process's own limit.
const pdfiumMemory = 1 << 14

// compilers is how many goroutines turn PDFium into machine code. Each takes memory; a third gains little.
const compilers = 2

// startPDFium makes machine code of PDFium, or takes what an earlier run left in the cache folder, and starts one instance.
// It takes 2.4 s on two processors without the cache and 0.1 s with it. PDFium sees no files but the fonts of the system, and
// those only when they are asked for: reading them takes time, and documents look the same on every machine without.
func startPDFium(cache codeCache, fonts bool) (pdfiumapi.Pdfium, error) {
	if cache != nil {
		if in, err := launchPDFium(cache, fonts); err == nil {
			return in, nil
		}
		// The folder cannot be written any more, and holds nothing for this build. It goes without.
	}
	return launchPDFium(nil, fonts)
}

// codeCache is a folder of PDFium's machine code.
type codeCache = wazero.CompilationCache

// openCodeCache opens the folder, which asks for its name: it is done before the system calls for that are given up. It returns nil
// when there is no folder, or it cannot be used: PDFium does without.
func openCodeCache(dir string) codeCache {
	if dir == "" {
		return nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil
	}
	return cache
}

func launchPDFium(cache codeCache, fonts bool) (pdfiumapi.Pdfium, error) {
	runtime := wazero.NewRuntimeConfig().WithMemoryLimitPages(pdfiumMemory)
	if cache != nil {
		runtime = runtime.WithCompilationCache(cache)
	}
	files := wazero.NewFSConfig()
	if fonts && opens(fontFolders[0]) {
		files = files.WithFSMount(fontFiles{}, "/")
	}
	ctx := experimental.WithCompilationWorkers(context.Background(), compilers)
	pool, err := webassembly.Init(webassembly.Config{
		Context: ctx, MaxTotal: 1, RuntimeConfig: runtime, FSConfig: files,
		Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	in, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	return in, nil
}

// warm fills the cache folder with the machine code of PDFium. It reads no document.
func warm(cache string) error {
	if cache == "" {
		return errors.New("name the folder: -pdfium-cache")
	}
	code, err := wazero.NewCompilationCacheWithDir(cache)
	if err != nil {
		return fmt.Errorf("open the cache of machine code: %w", err)
	}
	in, err := launchPDFium(code, false)
	if err != nil {
		return err
	}
	return in.Close()
}

// pdfium is a document that PDFium opened. Used by one goroutine.
type pdfium struct {
	in    pdfiumapi.Pdfium
	doc   references.FPDF_DOCUMENT
	pages int

	data     []byte // to open copies of
	password string
}

// openPDFium opens a document with the first password that fits; the empty one is always tried. The error is a
// *extract.Error of code needs_password when none did.
func openPDFium(in pdfiumapi.Pdfium, data []byte, passwords []string) (*pdfium, error) {
	for _, password := range append([]string{""}, passwords...) {
		// A reader, not the bytes: those would be copied into PDFium's memory.
		opened, err := in.OpenDocument(&requests.OpenDocument{FileReader: bytes.NewReader(data), FileReaderSize: int64(len(data)), Password: &password})
		if errors.Is(err, pdfiumerrors.ErrPassword) {
			continue
		}
		if err != nil {
			return nil, &extract.Error{Code: extract.CodeCorrupt, Message: "PDFium cannot open the document: " + err.Error()}
		}
		count, err := in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
		if err != nil {
			return nil, fmt.Errorf("count the pages: %w", err)
		}
		return &pdfium{in: in, doc: opened.Document, pages: count.PageCount, data: data, password: password}, nil
	}
	message := "the document is encrypted and needs a password"
	if n := len(passwords); n > 0 {
		message = fmt.Sprintf("the document is encrypted, and none of the %d passwords that are known opens it", n)
	}
	return nil, &extract.Error{Code: extract.CodeNeedsPassword, Message: message}
}

// unlocked gives the document without its encryption, for readers that take no password.
func (p *pdfium) unlocked() ([]byte, error) {
	var b bytes.Buffer
	if _, err := p.in.FPDF_SaveAsCopy(&requests.FPDF_SaveAsCopy{Document: p.doc, Flags: requests.SaveFlagRemoveSecurity, FileWriter: &b}); err != nil {
		return nil, fmt.Errorf("take the encryption off: %w", err)
	}
	return b.Bytes(), nil
}

// page names a page, counted from 1. PDFium keeps the last one that was named loaded.
func (p *pdfium) page(n int) requests.Page {
	return requests.Page{ByIndex: &requests.PageByIndex{Document: p.doc, Index: n - 1}}
}

// size is that of a page as it is displayed, in points.
func (p *pdfium) size(n int) (width, height float64, err error) {
	got, err := p.in.GetPageSize(&requests.GetPageSize{Page: p.page(n)})
	if err != nil {
		return 0, 0, fmt.Errorf("measure: %w", err)
	}
	return got.Width, got.Height, nil
}

// hasForm says whether the document has fields to fill in.
func (p *pdfium) hasForm() bool {
	got, err := p.in.FPDF_GetFormType(&requests.FPDF_GetFormType{Document: p.doc})
	return err == nil && got.FormType != enums.FPDF_FORMTYPE_NONE
}

// describe collects what a document says of itself, where MuPDF cannot.
func (p *pdfium) describe() extract.Document {
	field := func(tag string) string {
		got, err := p.in.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: p.doc, Tag: tag})
		if err != nil {
			return ""
		}
		return metaText(got.Value)
	}
	return extract.Document{
		Pages: p.pages, Title: field("Title"), Author: field("Author"), Subject: field("Subject"), Created: metaTime(field("CreationDate")),
		Renderer: extract.RenderPDFium, Version: pdfiumVersion, Outline: p.outline(),
	}
}

// tidy closes what was opened in PDFium. What cannot be closed goes with the process.
func tidy(closers ...func() error) {
	for _, closer := range closers {
		if err := closer(); err != nil {
			fmt.Fprintln(os.Stderr, "pdfium:", err)
		}
	}
}
