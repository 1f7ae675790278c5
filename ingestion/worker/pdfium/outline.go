package pdfium

import (
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker/metadata"
)

// maxDeep limits how deep an outline is read.
const maxDeep = 10

// outlineReader reads the table of contents of the file.
type outlineReader struct {
	doc  *Document
	left int // entries that may still be read
	out  []extract.OutlineItem
}

// outline returns the table of contents. In a hostile file, entries lead back to themselves and the binding follows them
// forever, so it first checks that the outline ends within limits.
func outline(d *Document) []extract.OutlineItem {
	r := outlineReader{doc: d, left: metadata.MaxOutline}
	if !r.ends(nil, maxDeep) {
		return nil
	}
	got, err := d.in.GetBookmarks(&requests.GetBookmarks{Document: d.doc})
	if err != nil {
		return nil
	}
	r.collect(got.Bookmarks, 1)
	return r.out
}

// ends reports whether the entries below one end within the limits.
func (r *outlineReader) ends(parent *references.FPDF_BOOKMARK, deep int) bool {
	first, err := r.doc.in.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: r.doc.doc, Bookmark: parent})
	if err != nil {
		return false
	}
	for at := first.Bookmark; at != nil; {
		if r.left--; r.left < 0 || deep == 0 || !r.ends(at, deep-1) {
			return false
		}
		next, err := r.doc.in.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: r.doc.doc, Bookmark: *at})
		if err != nil {
			return false
		}
		at = next.Bookmark
	}
	return true
}

func (r *outlineReader) collect(entries []responses.GetBookmarksBookmark, level int) {
	for _, entry := range entries {
		item := extract.OutlineItem{Level: level, Title: metadata.Text(entry.Title)}
		to := entry.DestInfo
		if to == nil && entry.ActionInfo != nil {
			to = entry.ActionInfo.DestInfo
		}
		if to != nil && to.PageIndex >= 0 && to.PageIndex < r.doc.pages {
			item.Page = to.PageIndex + 1
		}
		r.out = append(r.out, item)
		r.collect(entry.Children, level+1)
	}
}
