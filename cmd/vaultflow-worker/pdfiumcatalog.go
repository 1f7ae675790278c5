//go:build worker

package main

import (
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// language is what the catalog says about the language of the text (PDF 32000-1, §14.9.2); empty when it says nothing.
func (p *pdfium) language() string {
	got, err := p.in.FPDFCatalog_GetLanguage(&requests.FPDFCatalog_GetLanguage{Document: p.doc})
	if err != nil {
		return "" // the binding calls its absence an error
	}
	return languageTag(metaText(got.Language))
}

// label is what is printed on a page as its number, where the catalog tells that; empty otherwise.
func (p *pdfium) label(n int) string {
	got, err := p.in.FPDF_GetPageLabel(&requests.FPDF_GetPageLabel{Document: p.doc, Page: n - 1})
	if err != nil {
		return ""
	}
	return metaText(got.Label)
}

// maxDeep is how deep an outline is read.
const maxDeep = 10

// outline is the table of contents that the file carries. Entries of files made to do harm lead back to themselves, and the binding follows
// them for ever: it is asked only for what ends within bounds.
func (p *pdfium) outline() []extract.OutlineItem {
	left := maxOutline
	if !p.ends(nil, maxDeep, &left) {
		return nil
	}
	got, err := p.in.GetBookmarks(&requests.GetBookmarks{Document: p.doc})
	if err != nil {
		return nil
	}
	var out []extract.OutlineItem
	p.collect(got.Bookmarks, 1, &out)
	return out
}

// ends says whether the entries below one end before the bounds are reached.
func (p *pdfium) ends(parent *references.FPDF_BOOKMARK, deep int, left *int) bool {
	first, err := p.in.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: p.doc, Bookmark: parent})
	if err != nil {
		return false
	}
	for at := first.Bookmark; at != nil; {
		if *left--; *left < 0 || deep == 0 || !p.ends(at, deep-1, left) {
			return false
		}
		next, err := p.in.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: p.doc, Bookmark: *at})
		if err != nil {
			return false
		}
		at = next.Bookmark
	}
	return true
}

func (p *pdfium) collect(entries []responses.GetBookmarksBookmark, level int, out *[]extract.OutlineItem) {
	for _, entry := range entries {
		item := extract.OutlineItem{Level: level, Title: metaText(entry.Title)}
		to := entry.DestInfo
		if to == nil && entry.ActionInfo != nil {
			to = entry.ActionInfo.DestInfo
		}
		if to != nil && to.PageIndex >= 0 && to.PageIndex < p.pages {
			item.Page = to.PageIndex + 1
		}
		*out = append(*out, item)
		p.collect(entry.Children, level+1, out)
	}
}
