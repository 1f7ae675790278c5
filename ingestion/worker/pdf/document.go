// Package pdf answers requests about one PDF: it reads and draws pages with MuPDF, with PDFium what MuPDF cannot do, and
// cuts pages out with pdfcpu. MuPDF is handed in as a function, so that the package builds without cgo.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"math"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker"
	"github.com/vaultflow/vaultflow/ingestion/worker/metadata"
	"github.com/vaultflow/vaultflow/ingestion/worker/ocr"
	"github.com/vaultflow/vaultflow/ingestion/worker/pdfium"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// Libraries are what a document is read with.
type Libraries struct {
	MuPDF func(data []byte) (MuPDF, error)
	Code  pdfium.Code // PDFium's machine code; nil: it is compiled when it is needed
	OCR   *ocr.Reader
}

// Document is an open PDF.
type Document struct {
	info  extract.Document
	by    *renderers
	texts *texts
	lost  *losses // nil of a file that is no PDF
	ocr   *ocr.Reader

	blank   bool          // the page that was read last has nothing on it
	damage  layout.Damage // of that page
	last    drawing       // of which a part was requested: a page has several formulas
	boxes   []pageBox     // of the pages, once a part of one was requested
	noBoxes error         // why there are none
}

// drawing is a page as it was drawn.
type drawing struct {
	n     int
	dpi   float64
	asked choice
	by    choice
	img   *image.RGBA
}

var (
	_ worker.Document = (*Document)(nil)
	_ worker.Cutter   = (*Document)(nil)
	_ worker.Attacher = (*Document)(nil)
)

// Open opens a document. It looks for the header itself and drops what is before it, as mail gateways put there: MuPDF's
// binding guesses from the first bytes, would take other kinds of files too, and crashes on some.
func Open(data []byte, o extract.Open, libraries Libraries) (*Document, error) {
	begin := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-"))
	if o.MediaType == extract.MediaXPS && bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		begin, o.Renderer = 0, extract.RenderMuPDF
	}
	if begin < 0 {
		return nil, &extract.Error{Code: failure.NotPDF, Message: "the file does not begin like a PDF"}
	}
	by := &renderers{libraries: libraries, setting: o.Renderer, data: data[begin:]}
	pages, err := by.open(o)
	switch {
	case err != nil:
		return nil, err
	case pages <= 0:
		return nil, &extract.Error{Code: failure.Corrupt, Message: "the document has no pages"}
	case pages > metadata.MaxPages:
		return nil, &extract.Error{Code: failure.TooLarge, Message: fmt.Sprintf("the document declares %d pages", pages)}
	}
	by.traces = findTraces(by.data)
	by.coloured = by.traces.coloured
	info := describe(by)
	d := &Document{info: info, by: by, texts: newTexts(by, info, o.Alone), ocr: libraries.OCR}
	if o.MediaType != extract.MediaXPS {
		d.lost = newLosses(by.data)
		d.info.CutOff = d.lost.cutOff
	}
	return d, nil
}

// describe returns what is known about the document, and who draws its pages.
func describe(by *renderers) extract.Document {
	info := by.reader().Describe()
	info.Encrypted = info.Encrypted || by.locked()
	info.Forms = info.Forms || by.second != nil && by.second.HasForm()
	info.Tagged = info.Tagged || by.traces.structure
	info.XFA = by.traces.dynamic
	if by.traces.attached {
		if second, err := by.pdfium(); err == nil {
			info.Attached = second.AttachedNames()
		}
	}
	if usual := by.standing(); usual.pdfium {
		info.Renderer, info.Version = extract.RenderPDFium, pdfium.Version
		info.Code, info.Reason = usual.reason.code, usual.reason.String()
	}
	return info
}

// About returns what is known about the document.
func (d *Document) About() extract.Document { return d.info }

// Page answers a request about a page.
func (d *Document) Page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	by := d.by.choose(r.N, r.Other)
	if r.Rect == nil {
		d.last = drawing{}
	}
	out := extract.Page{N: r.N}
	var err error
	if out.WidthPt, out.HeightPt, err = d.by.size(r.N, by); err != nil {
		return extract.Page{}, err
	}
	out.Label = d.by.reader().Label(r.N)
	if r.Text {
		if err := d.readText(r, by, &out); err != nil {
			return extract.Page{}, err
		}
	}
	if r.Image {
		if by, err = d.readImage(ctx, r, by, &out); err != nil {
			return extract.Page{}, err
		}
	}
	if (r.Text || r.Image && r.Rect == nil) && d.lost != nil {
		out.Lost = d.lost.of(r.N, d.blank, d.damage)
	}
	if r.Text && d.texts.compare != nil {
		d.texts.compare()
	}
	if r.OCR {
		if by, err = d.recognise(r, by, &out); err != nil {
			return extract.Page{}, err
		}
		if r.Text && r.Merge {
			d.texts.merge(r.N, &out)
		}
	}
	if why := by.reason.String(); (r.Image || r.OCR) && (by.renderer() != d.info.Renderer || why != d.info.Reason) {
		out.Renderer, out.Code, out.Reason = by.renderer(), by.reason.code, why
	}
	return out, nil
}

// readText adds the text layer. MuPDF reads it wherever it can, and PDFium the pages whose fonts MuPDF does not know.
func (d *Document) readText(r extract.PageRequest, by choice, out *extract.Page) (err error) {
	read := choice{pdfium: d.by.mupdf == nil || by.pdfium && (r.Other || by.reason.code == missingFonts), reason: by.reason}
	if out.Text, read, err = d.texts.read(r.N, read); err != nil {
		return err
	}
	if !r.Formulas {
		out.Text.Markdown, out.Text.Formulas = unmarked(out.Text.Markdown), nil
	}
	if r.Letters {
		out.Text.Letters = d.texts.letters(r.N)
	}
	if read.pdfium && d.by.mupdf != nil {
		out.Renderer, out.Code, out.Reason = read.renderer(), read.reason.code, read.reason.String()
	}
	d.look(r, by, out)
	d.blank, d.damage = out.Text.Evidence.Blank(), d.texts.damage
	return nil
}

// unmarked removes the marks of formulas, each of which is a paragraph.
func unmarked(text string) string {
	mark := string(layout.FormulaMark)
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n\n"+mark, ""), mark+"\n\n")
}

// look adds to the evidence of a page's text what the text layer does not have: whether anything is drawn on a page that has
// no text inside its margin. If the page cannot be drawn, that stays unknown.
func (d *Document) look(r extract.PageRequest, by choice, out *extract.Page) {
	e := &out.Text.Evidence
	e.Tagged = d.info.Tagged
	if e.Chars > e.MarginChars {
		d.lookInPictures(r, by, out)
		return
	}
	if d.fieldsRead(r.N, by) {
		by = choice{} // MuPDF draws a page without its fields: what is drawn in them need not be recognised
	}
	dpi := raster.Fit(out.WidthPt, out.HeightPt, inkDPI, raster.OCRSide, r.MaxPixels)
	img, _, err := d.by.draw(r.N, out.WidthPt, out.HeightPt, dpi, by)
	if err != nil {
		return
	}
	found := inkOf(raster.Grey(img))
	e.Ink = &found
}

// fieldsRead reports whether PDFium draws a page for its fields, and nothing in them is without text.
func (d *Document) fieldsRead(n int, by choice) bool {
	if by.reason.code != hasForm || d.by.mupdf == nil {
		return false
	}
	found, err := d.by.annotationsOn(n)
	return err == nil && found.AllRead()
}

// rowsDPI is the resolution in which letters in pictures are searched for. Those of 8-point type have 7 pixels.
const rowsDPI = 130

// leastPicture is the share of the page that pictures cover in which letters are searched for: less is a logo.
const leastPicture = 0.03

// lookInPictures counts the rows of letters in the pictures of a page where its layer has no text: a form that was scanned before it was
// filled in, or a table that was pasted as a picture.
func (d *Document) lookInPictures(r extract.PageRequest, by choice, out *extract.Page) {
	e, page := &out.Text.Evidence, d.texts.last
	if e.PictureCover < leastPicture || 2*e.Invisible > e.Chars || page.Turned {
		return
	}
	dpi := raster.Fit(out.WidthPt, out.HeightPt, rowsDPI, raster.OCRSide, r.MaxPixels)
	img, _, err := d.by.draw(r.N, out.WidthPt, out.HeightPt, dpi, by)
	if err != nil {
		return
	}
	scale := dpi / 72
	for _, row := range ocr.Rows(raster.Grey(img), linePlaces(page, scale)) {
		if inPicture(page, float64(row.Min.X+row.Max.X)/2/scale, float64(row.Min.Y+row.Max.Y)/2/scale) {
			e.Unread++
		}
	}
}

// readImage adds the picture of the page, and returns who drew it.
func (d *Document) readImage(ctx context.Context, r extract.PageRequest, by choice, out *extract.Page) (choice, error) {
	img, dpi, by, err := d.picture(r, out.WidthPt, out.HeightPt, by)
	if err != nil {
		return by, err
	}
	if !r.Text {
		d.blank, d.damage = r.Rect == nil && uniform(img), layout.Sound
	}
	d.damage = max(d.damage, d.by.damage)
	if r.Rect == nil && by.pdfium && by.reason.code == missingFonts {
		if d.emptyIn(img, r.N, dpi) {
			by.reason = reason{badFont, "Chinese, Japanese or Korean text without its fonts, and no font of this system draws it"}
		}
	}
	if out.Image, err = raster.Encode(ctx, img, r, dpi); err == nil && r.Rect == nil {
		out.Image.Identity = d.identity(r, out.WidthPt, out.HeightPt, by)
	}
	return by, err
}

// uniform reports whether all pixels of a picture are the same, as far as it has them in one piece.
func uniform(img image.Image) bool {
	var pix []byte
	switch img := img.(type) {
	case *image.Gray:
		pix = img.Pix
	case *image.RGBA:
		pix = img.Pix
	}
	return len(pix) > 4 && bytes.Equal(pix[4:], pix[:len(pix)-4])
}

// emptyIn reports whether a page has Chinese, Japanese or Korean text, and its picture shows none of it.
func (d *Document) emptyIn(img image.Image, n int, dpi float64) bool {
	second, err := d.by.forText()
	if err != nil {
		return false
	}
	page, err := second.Text(n)
	return err == nil && undrawn(page, img, dpi, pdfium.IsWide)
}

// identityDPI is the resolution of the raster by which a page is recognised in later versions of its document. It never changes.
const identityDPI = 36

// identity returns the identity of a page, or "" if it cannot be drawn.
func (d *Document) identity(r extract.PageRequest, width, height float64, by choice) string {
	img, _, err := d.by.draw(r.N, width, height, raster.Fit(width, height, identityDPI, identitySide, r.MaxPixels), by)
	if err != nil {
		return ""
	}
	return raster.Identity(img)
}

// identitySide is the longest side of the raster in pixels.
const identitySide = 1000

// recognise adds the text that OCR reads on the page, and returns who drew the page.
func (d *Document) recognise(r extract.PageRequest, by choice, out *extract.Page) (choice, error) {
	dpi := raster.Fit(out.WidthPt, out.HeightPt, r.OCRDPI, raster.OCRSide, r.MaxPixels)
	img, by, err := d.by.draw(r.N, out.WidthPt, out.HeightPt, dpi, by)
	if err != nil {
		return by, err
	}
	grey, covered := raster.Print(img), false
	if r.Text && r.Merge && !d.texts.last.Turned {
		covered = hide(grey, linePlaces(d.texts.last, dpi/72))
	}
	if out.OCR, err = d.ocr.Read(grey, r.Languages); err == nil && covered {
		out.OCR.Doubts = doubt.Add(out.OCR.Doubts, doubt.Recognition, "typed text lies on letters of its picture")
	}
	return by, err
}

// picture draws a page or a part of it. The longest side limits the part, the pixels limit the whole page that is drawn.
func (d *Document) picture(r extract.PageRequest, width, height float64, by choice) (image.Image, float64, choice, error) {
	if r.Rect == nil {
		dpi := raster.Fit(width, height, r.DPI, r.MaxSide, r.MaxPixels)
		img, by, err := d.by.picture(r.N, width, height, dpi, by)
		return img, dpi, by, err
	}
	x0, y0, x1, y1, err := d.part(r, width, height)
	if err != nil {
		return nil, 0, by, err
	}
	dpi := min(raster.Fit(x1-x0, y1-y0, r.DPI, r.MaxSide, r.MaxPixels), raster.Fit(width, height, r.DPI, math.MaxInt32, r.MaxPixels))
	drawn := &d.last
	if drawn.n != r.N || drawn.dpi != dpi || drawn.asked != by {
		img, used, err := d.by.draw(r.N, width, height, dpi, by)
		if err != nil {
			return nil, 0, used, err
		}
		kept := *img
		kept.Pix = slices.Clone(img.Pix)
		*drawn = drawing{n: r.N, dpi: dpi, asked: by, by: used, img: &kept}
	}
	img, by := drawn.img, drawn.by
	scale := func(pt float64) int { return int(math.Round(pt * dpi / 72)) }
	part := image.Rect(scale(x0), scale(y0), max(scale(x1), scale(x0)+1), max(scale(y1), scale(y0)+1)).Add(img.Rect.Min).Intersect(img.Rect)
	if part.Empty() {
		return nil, 0, by, errors.New("the rectangle is not on the page")
	}
	cut := image.NewRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
	draw.Draw(cut, cut.Rect, img, part.Min, draw.Src)
	return cut, dpi, by, nil
}

// part returns the requested rectangle in points of the page as displayed, from its upper left corner.
func (d *Document) part(r extract.PageRequest, width, height float64) (x0, y0, x1, y1 float64, err error) {
	ax, ay, bx, by := r.Rect.X1, r.Rect.Y1, r.Rect.X2, r.Rect.Y2
	if !r.Displayed {
		at, err := d.boxOf(r.N, width, height)
		if err != nil {
			return 0, 0, 0, 0, err
		}
		ax, ay = at.displayed(ax, ay)
		bx, by = at.displayed(bx, by)
	}
	x0, x1 = max(0, min(ax, bx)), min(width, max(ax, bx))
	y0, y1 = max(0, min(ay, by)), min(height, max(ay, by))
	if x1 <= x0 || y1 <= y0 {
		return 0, 0, 0, 0, errors.New("the rectangle is not on the page")
	}
	return x0, y0, x1, y1, nil
}

// boxOf returns the box of a page.
func (d *Document) boxOf(n int, width, height float64) (pageBox, error) {
	if d.boxes == nil && d.noBoxes == nil {
		d.boxes, d.noBoxes = pageBoxes(d.by.data)
	}
	switch {
	case d.noBoxes != nil:
		return pageBox{}, fmt.Errorf("find the place of the rectangle: %w", d.noBoxes)
	case n <= len(d.boxes):
		return d.boxes[n-1], nil
	}
	return pageBox{x1: width, y1: height}, nil
}

// Cut makes a document of some of the pages.
func (d *Document) Cut(pages []int) (extract.Cut, error) {
	return cut(d.by.data, pages, d.info.Encrypted)
}

// Attached returns an attached file, counted from 1.
func (d *Document) Attached(n int) ([]byte, error) {
	second, err := d.by.pdfium()
	if err != nil {
		return nil, err
	}
	return second.Attached(n)
}

// undrawn reports whether a page has lines with characters for which like holds, and its picture is empty at their places.
func undrawn(page layout.Page, img image.Image, dpi float64, like func(rune) bool) bool {
	found := false
	for _, line := range page.Lines {
		if !strings.ContainsFunc(line.Text, like) {
			continue
		}
		found = true
		scale := dpi / 72
		area := image.Rect(int(line.Box.X0*scale), int(line.Box.Y0*scale), int(line.Box.X1*scale)+1, int(line.Box.Y1*scale)+1)
		if drawnIn(img, area.Add(img.Bounds().Min).Intersect(img.Bounds())) {
			return false
		}
	}
	return found
}

// drawnIn reports whether the pixels of an area differ.
func drawnIn(img image.Image, area image.Rectangle) bool {
	if area.Empty() {
		return false
	}
	first := img.At(area.Min.X, area.Min.Y)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if img.At(x, y) != first {
				return true
			}
		}
	}
	return false
}
