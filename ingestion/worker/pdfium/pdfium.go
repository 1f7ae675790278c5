// Package pdfium reads and draws PDFs with PDFium, which runs as WebAssembly: it needs no cgo, sees no files but the fonts of
// the system, and is bounded in memory.
package pdfium

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

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker/metadata"
)

// Version is the version of the binding; the library does not report its own.
const Version = "go-pdfium 1.19.8"

// maxMemory limits PDFium's memory, in pages of 64 KiB: 1 GiB, which is below the process's own limit.
const maxMemory = 1 << 14

// compilers is how many goroutines compile PDFium to machine code. Each takes memory, and a third saves little time.
const compilers = 2

// Instance is PDFium with memory of its own.
type Instance = pdfiumapi.Pdfium

// Start starts an instance of PDFium, with the machine code of an earlier run if there is any. It takes 2.4 s on two
// processors without that code and 0.1 s with it. The fonts of the system are visible only on request: reading them takes
// time, and without them documents look the same on every machine.
func Start(code Code, fonts bool) (Instance, error) {
	if code != nil {
		if in, err := launch(code, fonts); err == nil {
			return in, nil
		}
		// The folder has no code for this build, and can no longer be written.
	}
	return launch(nil, fonts)
}

// Code is a folder of PDFium's machine code.
type Code = wazero.CompilationCache

// OpenCode opens the folder. It needs the folder's name, so call it before the process drops the system calls for that. It returns
// nil if there is no folder or it cannot be used: PDFium works without.
func OpenCode(dir string) Code {
	if dir == "" {
		return nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil
	}
	return cache
}

func launch(code Code, fonts bool) (Instance, error) {
	runtime := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxMemory)
	if code != nil {
		runtime = runtime.WithCompilationCache(code)
	}
	files := wazero.NewFSConfig()
	if fonts && readable(fontFolders[0]) {
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
	keepFunctions(in)
	return in, nil
}

// Warm fills a folder with the machine code of PDFium. It reads no document.
func Warm(cache string) error {
	if cache == "" {
		return errors.New("name the folder: -pdfium-cache")
	}
	code, err := wazero.NewCompilationCacheWithDir(cache)
	if err != nil {
		return fmt.Errorf("open the cache of machine code: %w", err)
	}
	in, err := launch(code, false)
	if err != nil {
		return err
	}
	return in.Close()
}

// Document is a document that PDFium opened. It is used by one goroutine, and pages are counted from 1.
type Document struct {
	in    Instance
	doc   references.FPDF_DOCUMENT
	pages int

	data     []byte // to open copies of
	password string
}

// Open opens a document with the first password that fits; the empty one is always tried. If none fits, the error is an
// *extract.Error with the code needs_password.
func Open(in Instance, data []byte, passwords []string) (*Document, error) {
	for _, password := range append([]string{""}, passwords...) {
		// A reader, not the bytes: those would be copied into PDFium's memory.
		opened, err := in.OpenDocument(&requests.OpenDocument{FileReader: bytes.NewReader(data), FileReaderSize: int64(len(data)), Password: &password})
		if errors.Is(err, pdfiumerrors.ErrPassword) {
			continue
		}
		if err != nil {
			return nil, &extract.Error{Code: failure.Corrupt, Message: "PDFium cannot open the document: " + err.Error()}
		}
		count, err := in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
		if err != nil {
			return nil, fmt.Errorf("count the pages: %w", err)
		}
		return &Document{in: in, doc: opened.Document, pages: count.PageCount, data: data, password: password}, nil
	}
	message := "the document is encrypted and needs a password"
	if n := len(passwords); n > 0 {
		message = fmt.Sprintf("the document is encrypted, and none of the %d passwords that are known opens it", n)
	}
	return nil, &extract.Error{Code: failure.NeedsPassword, Message: message}
}

// OpenIn opens the document in another instance too.
func (d *Document) OpenIn(in Instance) (*Document, error) {
	return Open(in, d.data, []string{d.password})
}

// Pages returns the number of pages.
func (d *Document) Pages() int { return d.pages }

// Unlocked returns the document without its encryption, for readers that take no password.
func (d *Document) Unlocked() ([]byte, error) {
	var b bytes.Buffer
	if _, err := d.in.FPDF_SaveAsCopy(&requests.FPDF_SaveAsCopy{Document: d.doc, Flags: requests.SaveFlagRemoveSecurity, FileWriter: &b}); err != nil {
		return nil, fmt.Errorf("remove the encryption: %w", err)
	}
	return b.Bytes(), nil
}

// page names a page, counted from 1. PDFium keeps the last one that was named loaded.
func (d *Document) page(n int) requests.Page {
	return requests.Page{ByIndex: &requests.PageByIndex{Document: d.doc, Index: n - 1}}
}

// Size returns the size of a page as displayed, in points.
func (d *Document) Size(n int) (width, height float64, err error) {
	got, err := d.in.GetPageSize(&requests.GetPageSize{Page: d.page(n)})
	if err != nil {
		return 0, 0, fmt.Errorf("measure: %w", err)
	}
	return got.Width, got.Height, nil
}

// HasForm reports whether the document has fields to fill in.
func (d *Document) HasForm() bool {
	got, err := d.in.FPDF_GetFormType(&requests.FPDF_GetFormType{Document: d.doc})
	return err == nil && got.FormType != enums.FPDF_FORMTYPE_NONE
}

// Describe returns what the document says about itself.
func (d *Document) Describe() extract.Document {
	field := func(tag string) string {
		got, err := d.in.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: d.doc, Tag: tag})
		if err != nil {
			return ""
		}
		return metadata.Text(got.Value)
	}
	return extract.Document{
		Pages: d.pages, Title: field("Title"), Author: field("Author"), Subject: field("Subject"), Created: metadata.Time(field("CreationDate")),
		Renderer: extract.RenderPDFium, Version: Version, Outline: outline(d), Language: d.language(),
	}
}

// language returns the language of the text from the catalog (PDF 32000-1, §14.9.2), or "".
func (d *Document) language() string {
	got, err := d.in.FPDFCatalog_GetLanguage(&requests.FPDFCatalog_GetLanguage{Document: d.doc})
	if err != nil {
		return "" // the binding returns an error if there is none
	}
	return metadata.Language(metadata.Text(got.Language))
}

// Label returns the number that is printed on a page, if the catalog has it, or "".
func (d *Document) Label(n int) string {
	got, err := d.in.FPDF_GetPageLabel(&requests.FPDF_GetPageLabel{Document: d.doc, Page: n - 1})
	if err != nil {
		return ""
	}
	return metadata.Text(got.Label)
}

// tidy closes what was opened in PDFium. What cannot be closed ends with the process.
func tidy(closers ...func() error) {
	for _, closer := range closers {
		if err := closer(); err != nil {
			fmt.Fprintln(os.Stderr, "pdfium:", err)
		}
	}
}
