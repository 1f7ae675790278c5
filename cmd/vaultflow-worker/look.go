//go:build worker

package main

import "github.com/vaultflow/vaultflow/ingestion/extract"

// look adds to the evidence of a page's text what MuPDF's text layer does not tell: whether anything is drawn on a page that
// has no text inside its margin. A page that cannot be drawn stays without that.
func (p *pdf) look(r extract.PageRequest, width, height float64, by choice, text *extract.PageText) {
	e := &text.Evidence
	e.Tagged = p.info.Tagged
	if e.Chars > e.MarginChars {
		return
	}
	img, _, err := p.draw(r.N, width, height, fit(width, height, inkDPI, ocrSide, r.MaxPixels), by)
	if err != nil {
		return
	}
	found := inkOf(forceGrey(img))
	e.Ink = &found
}
