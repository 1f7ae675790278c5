//go:build worker

package main

import (
	"time"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// Sampling ends early when it reads more, or takes longer, than this.
const (
	sampleBytes = 64 << 20 // of HTML, which holds the pictures of the pages
	sampleTime  = 3 * time.Second
)

// profileOf finds what the pages of the document have in common, once; when no other page may be read, what page knows
// alone. A page that cannot be read is left out.
func (p *pdf) profileOf(page layout.Page) layout.Profile {
	if p.alone {
		return layout.NewProfile([]layout.Page{page}, p.titles())
	}
	if p.profile != nil {
		return *p.profile
	}
	var pages []layout.Page
	read, begun := 0, time.Now()
	for _, n := range sampled(p.info.Pages) {
		if read > sampleBytes || time.Since(begun) > sampleTime {
			break
		}
		if p.doc == nil {
			if page, err := p.second.text(n); err == nil {
				pages = append(pages, page)
			}
			continue
		}
		text, err := p.doc.HTML(n-1, false)
		if err != nil {
			continue
		}
		read += len(text)
		pages = append(pages, readLayer(text))
	}
	made := layout.NewProfile(pages, p.titles())
	p.profile = &made
	return made
}

// titles are those of the outline.
func (p *pdf) titles() []layout.Title {
	var outline []layout.Title
	for _, item := range p.info.Outline {
		outline = append(outline, layout.Title{Text: item.Title, Level: item.Level, Page: item.Page})
	}
	return outline
}

// layer reads the text of a page with MuPDF, its links, and its rules where lines stand beside one another.
func (p *pdf) layer(n int) (layout.Page, error) {
	text, err := p.doc.HTML(n-1, false)
	if err != nil {
		return layout.Page{}, err
	}
	page := readLayer(text)
	page.Links = p.linksOf(n)
	if sideBySide(page) || len(page.Links) > 0 {
		if drawn, err := p.doc.SVG(n - 1); err == nil { // without it edges are estimates and rules unknown
			addDrawing(&page, drawn)
		}
	}
	return page, nil
}

// linksOf lists the links of a page. MuPDF says whether there are any, PDFium where they lie; without PDFium their text stays.
func (p *pdf) linksOf(n int) []layout.Link {
	if !p.traces.links {
		return nil
	}
	if any, err := p.doc.Links(n - 1); err != nil || len(any) == 0 {
		return nil
	}
	second, err := p.pdfium()
	if err != nil {
		return nil
	}
	links, err := second.links(n)
	if err != nil {
		return nil
	}
	return links
}
