package pdfium

import (
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker/metadata"
)

// Language returns the language of the text from the catalog (PDF 32000-1, §14.9.2), or "".
func (d *Document) Language() string {
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

// maxDeep limits how deep an outline is read.
const maxDeep = 10

// outline returns the table of contents of the file. In a hostile file, entries lead back to themselves and the binding
// follows them forever, so the outline is first checked to end within limits.
func (d *Document) outline() []extract.OutlineItem {
	left := metadata.MaxOutline
	if !d.ends(nil, maxDeep, &left) {
		return nil
	}
	got, err := d.in.GetBookmarks(&requests.GetBookmarks{Document: d.doc})
	if err != nil {
		return nil
	}
	var out []extract.OutlineItem
	d.collect(got.Bookmarks, 1, &out)
	return out
}

// ends reports whether the entries below one end within the limits.
func (d *Document) ends(parent *references.FPDF_BOOKMARK, deep int, left *int) bool {
	first, err := d.in.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: d.doc, Bookmark: parent})
	if err != nil {
		return false
	}
	for at := first.Bookmark; at != nil; {
		if *left--; *left < 0 || deep == 0 || !d.ends(at, deep-1, left) {
			return false
		}
		next, err := d.in.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: d.doc, Bookmark: *at})
		if err != nil {
			return false
		}
		at = next.Bookmark
	}
	return true
}

func (d *Document) collect(entries []responses.GetBookmarksBookmark, level int, out *[]extract.OutlineItem) {
	for _, entry := range entries {
		item := extract.OutlineItem{Level: level, Title: metadata.Text(entry.Title)}
		to := entry.DestInfo
		if to == nil && entry.ActionInfo != nil {
			to = entry.ActionInfo.DestInfo
		}
		if to != nil && to.PageIndex >= 0 && to.PageIndex < d.pages {
			item.Page = to.PageIndex + 1
		}
		*out = append(*out, item)
		d.collect(entry.Children, level+1, out)
	}
}
