package pdfium

import (
	"fmt"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker/metadata"
)

// maxLinks limits the links that are read of a page, and the parts of one.
const maxLinks = 2000

// Links returns the places and targets of the links of a page. Those to anything but pages and addresses, such as scripts and
// files, are left out.
func (d *Document) Links(n int) ([]layout.Link, error) {
	width, height, err := d.Size(n)
	if err != nil {
		return nil, err
	}
	var out []layout.Link
	for from := 0; len(out) < maxLinks; {
		next, err := d.in.FPDFLink_Enumerate(&requests.FPDFLink_Enumerate{Page: d.page(n), StartPos: from})
		if err != nil {
			return nil, fmt.Errorf("list links: %w", err)
		}
		if next.Link == nil || next.NextStartPos == nil || *next.NextStartPos <= from {
			break
		}
		from = *next.NextStartPos
		link := d.target(*next.Link)
		if link == (layout.Link{}) {
			continue
		}
		for _, corners := range d.linkPlaces(*next.Link) {
			if link.Box, err = d.displayed(n, width, height, corners[0], corners[1], corners[2], corners[3]); err != nil {
				return nil, err
			}
			out = append(out, link)
		}
	}
	return out[:min(len(out), maxLinks)], nil
}

// target returns the page or address that a link leads to, or nothing.
func (d *Document) target(link references.FPDF_LINK) (to layout.Link) {
	if dest, err := d.in.FPDFLink_GetDest(&requests.FPDFLink_GetDest{Document: d.doc, Link: link}); err == nil && dest.Dest != nil {
		at, err := d.in.FPDFDest_GetDestPageIndex(&requests.FPDFDest_GetDestPageIndex{Document: d.doc, Dest: *dest.Dest})
		if err == nil && at.Index >= 0 && at.Index < d.pages {
			to.Page = at.Index + 1
		}
		return to
	}
	action, err := d.in.FPDFLink_GetAction(&requests.FPDFLink_GetAction{Link: link})
	if err != nil || action.Action == nil {
		return to
	}
	if uri, err := d.in.FPDFAction_GetURIPath(&requests.FPDFAction_GetURIPath{Document: d.doc, Action: *action.Action}); err == nil && uri.URIPath != nil {
		to.URI = bounded(*uri.URIPath)
	}
	return to
}

// linkPlaces returns the rectangles of a link in the page's own coordinates, as left, top, right and bottom: one for each
// line of its text, if the file has them.
func (d *Document) linkPlaces(link references.FPDF_LINK) [][4]float64 {
	var out [][4]float64
	if count, err := d.in.FPDFLink_CountQuadPoints(&requests.FPDFLink_CountQuadPoints{Link: link}); err == nil {
		for i := range min(count.Count, maxLinks) {
			quad, err := d.in.FPDFLink_GetQuadPoints(&requests.FPDFLink_GetQuadPoints{Link: link, QuadIndex: i})
			if err != nil || quad.Points == nil {
				continue
			}
			q := quad.Points
			out = append(out, [4]float64{
				float64(min(q.X1, q.X2, q.X3, q.X4)), float64(max(q.Y1, q.Y2, q.Y3, q.Y4)),
				float64(max(q.X1, q.X2, q.X3, q.X4)), float64(min(q.Y1, q.Y2, q.Y3, q.Y4)),
			})
		}
	}
	if len(out) > 0 {
		return out
	}
	rect, err := d.in.FPDFLink_GetAnnotRect(&requests.FPDFLink_GetAnnotRect{Link: link})
	if err != nil || rect.Rect == nil {
		return nil
	}
	r := rect.Rect
	return [][4]float64{{float64(r.Left), float64(r.Top), float64(r.Right), float64(r.Bottom)}}
}

// AttachedNames lists the files that are attached to the document, by their names. A name may be empty.
func (d *Document) AttachedNames() []string {
	count, err := d.in.FPDFDoc_GetAttachmentCount(&requests.FPDFDoc_GetAttachmentCount{Document: d.doc})
	if err != nil {
		return nil
	}
	var names []string
	for i := range min(count.AttachmentCount, extract.MaxAttached) {
		name := ""
		if file, err := d.in.FPDFDoc_GetAttachment(&requests.FPDFDoc_GetAttachment{Document: d.doc, Index: i}); err == nil {
			if got, err := d.in.FPDFAttachment_GetName(&requests.FPDFAttachment_GetName{Attachment: file.Attachment}); err == nil {
				name = metadata.Text(got.Name)
			}
		}
		names = append(names, name)
	}
	return names
}

// Attached returns the bytes of an attached file, counted from 1.
func (d *Document) Attached(n int) ([]byte, error) {
	file, err := d.in.FPDFDoc_GetAttachment(&requests.FPDFDoc_GetAttachment{Document: d.doc, Index: n - 1})
	if err != nil {
		return nil, fmt.Errorf("find attached file %d: %w", n, err)
	}
	got, err := d.in.FPDFAttachment_GetFile(&requests.FPDFAttachment_GetFile{Attachment: file.Attachment})
	if err != nil {
		return nil, fmt.Errorf("read attached file %d: %w", n, err)
	}
	return got.Contents, nil
}
