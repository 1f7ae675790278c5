//go:build worker

package main

import (
	"fmt"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// choice is which renderer draws a page, and why it is not MuPDF. The reason is a code, a colon and words.
type choice struct {
	pdfium bool
	reason string
}

// fontsMissing begins the reason of pages whose text MuPDF neither draws nor understands: its binding has neither the fonts
// nor the tables of their characters.
const fontsMissing = "fonts: "

func (c choice) renderer() string {
	if c.pdfium {
		return extract.RenderPDFium
	}
	return extract.RenderMuPDF
}

// choose decides for a page. MuPDF is twice as fast; PDFium draws what MuPDF's binding does not. other asks for the one
// that would not be chosen, after that one ended the worker.
func (p *pdf) choose(n int, other bool) choice {
	if p.doc == nil {
		return choice{true, p.info.Reason}
	}
	switch p.renderer {
	case extract.RenderMuPDF:
		return choice{}
	case extract.RenderPDFium:
		return choice{true, p.info.Reason}
	}
	c := p.preferred(n)
	if !other {
		return c
	}
	if c.pdfium {
		return choice{false, "pdfium_failed: " + c.reason}
	}
	return choice{true, "mupdf_failed: it ended the worker or took too long on this page"}
}

func (p *pdf) preferred(n int) choice {
	if p.locked {
		return choice{true, p.info.Reason}
	}
	if !p.traces.annotations && !p.traces.wide {
		return choice{}
	}
	second, err := p.pdfium()
	if err != nil {
		return choice{false, "pdfium_failed: " + err.Error()}
	}
	if b, err := p.beside(n); err == nil && len(b.fields)+b.blank > 0 {
		return choice{true, fmt.Sprintf("form: %d fields", len(b.fields)+b.blank)}
	} else if err == nil && b.marks > 0 {
		return choice{true, fmt.Sprintf("annotations: %d", b.marks)}
	}
	if p.traces.wide && second.wide(n) {
		return choice{true, fontsMissing + "Chinese, Japanese or Korean text without its fonts"}
	}
	return choice{}
}

// beside gives what stands beside the contents of a page. It is kept for the next request, which is about the same page.
func (p *pdf) beside(n int) (besides, error) {
	if p.besideOf == n {
		return p.besides, p.noBesides
	}
	second, err := p.pdfium()
	if err == nil {
		p.besides, err = second.besides(n)
	}
	p.besideOf, p.noBesides = n, err
	return p.besides, err
}

// pdfium opens the document in PDFium, once.
func (p *pdf) pdfium() (*pdfium, error) {
	if p.second == nil && p.noSecond == nil {
		in, err := startPDFium(p.cache, p.traces.wide)
		if err == nil {
			p.second, err = openPDFium(in, p.data, nil)
		}
		p.noSecond = err
	}
	return p.second, p.noSecond
}
