package pdfium

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// Limits of what is read of a page.
const (
	maxObjects   = 20_000
	maxWideChars = 64 // characters whose font is checked
	fineness     = 64 // units of PDFium's whole device coordinates for a point
)

// Text reads the text of a page with its places, and its links and pictures.
func (d *Document) Text(n int) (layout.Page, error) {
	width, height, err := d.Size(n)
	if err != nil {
		return layout.Page{}, err
	}
	out := layout.Page{Width: width, Height: height}
	got, err := d.in.GetPageTextStructured(&requests.GetPageTextStructured{
		Page: d.page(n), Mode: requests.GetPageTextStructuredModeRects, CollectFontInformation: true,
	})
	if err != nil {
		return layout.Page{}, fmt.Errorf("read text: %w", err)
	}
	for _, rect := range got.Rects {
		text := strings.TrimSpace(layout.Normal(rect.Text))
		at := rect.PointPosition
		box, err := d.displayed(n, width, height, at.Left, at.Top, at.Right, at.Bottom)
		if err != nil {
			return layout.Page{}, err
		}
		if text == "" || box.X0 > width || box.X1 < 0 || box.Y0 > height || box.Y1 < 0 {
			continue
		}
		line := layout.Line{Text: text, Box: box, Size: box.Y1 - box.Y0}
		if font := rect.FontInformation; font != nil {
			line.Font = font.Name
			line.Bold = strings.Contains(strings.ToLower(font.Name), "bold")
			line.Italic = strings.Contains(strings.ToLower(font.Name), "italic") || strings.Contains(strings.ToLower(font.Name), "oblique")
			if font.Size > 1 && font.Size < 1000 {
				line.Size = font.Size
			}
		}
		out.Lines = joinRun(out.Lines, line)
	}
	if out.Links, err = d.Links(n); err != nil {
		return layout.Page{}, err
	}
	out.Pictures, err = d.pictures(n, width, height)
	return out, err
}

// PlainText returns the text of a page in the order of the file, without places. It is much faster than Text.
func (d *Document) PlainText(n int) (string, error) {
	got, err := d.in.GetPageText(&requests.GetPageText{Page: d.page(n)})
	if err != nil {
		return "", fmt.Errorf("read text: %w", err)
	}
	return strings.ToValidUTF8(got.Text, "\uFFFD"), nil
}

// joinRun adds a run of text to the lines: to the last line if it continues that one in another font.
func joinRun(lines []layout.Line, run layout.Line) []layout.Line {
	if len(lines) == 0 {
		return append(lines, run)
	}
	last := &lines[len(lines)-1]
	shared := min(last.Box.Y1, run.Box.Y1) - max(last.Box.Y0, run.Box.Y0)
	gap := run.Box.X0 - last.Box.X1
	if shared < 0.5*min(last.Box.Y1-last.Box.Y0, run.Box.Y1-run.Box.Y0) || gap < -0.5*run.Size || gap > 1.2*run.Size {
		return append(lines, run)
	}
	if gap > 0.12*run.Size {
		last.Text += " "
	}
	last.Text += run.Text
	last.Box = layout.Box{X0: min(last.Box.X0, run.Box.X0), Y0: min(last.Box.Y0, run.Box.Y0), X1: max(last.Box.X1, run.Box.X1), Y1: max(last.Box.Y1, run.Box.Y1)}
	return lines
}

// displayed returns where a rectangle in the page's own coordinates is on the page as displayed.
func (d *Document) displayed(n int, width, height, left, top, right, bottom float64) (layout.Box, error) {
	var x, y [2]float64
	for i, corner := range [2][2]float64{{left, top}, {right, bottom}} {
		at, err := d.in.FPDF_PageToDevice(&requests.FPDF_PageToDevice{
			Page: d.page(n), SizeX: int(width * fineness), SizeY: int(height * fineness), PageX: corner[0], PageY: corner[1],
		})
		if err != nil {
			return layout.Box{}, fmt.Errorf("place text: %w", err)
		}
		x[i], y[i] = float64(at.DeviceX)/fineness, float64(at.DeviceY)/fineness
	}
	return layout.Box{X0: min(x[0], x[1]), Y0: min(y[0], y[1]), X1: max(x[0], x[1]), Y1: max(y[0], y[1])}, nil
}

// pictures returns the places of the pictures of a page, without those inside groups of objects.
func (d *Document) pictures(n int, width, height float64) ([]layout.Box, error) {
	count, err := d.in.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: d.page(n)})
	if err != nil {
		return nil, fmt.Errorf("count objects: %w", err)
	}
	var out []layout.Box
	for i := range min(count.Count, maxObjects) {
		object, err := d.in.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: d.page(n), Index: i})
		if err != nil {
			continue
		}
		kind, err := d.in.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil || kind.Type != enums.FPDF_PAGEOBJ_IMAGE {
			continue
		}
		bounds, err := d.in.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: object.PageObject})
		if err != nil {
			continue
		}
		box, err := d.displayed(n, width, height, float64(bounds.Left), float64(bounds.Top), float64(bounds.Right), float64(bounds.Bottom))
		if err != nil {
			return nil, err
		}
		out = append(out, box)
	}
	return out, nil
}

// NeedsFonts reports whether a page has Chinese, Japanese or Korean text whose fonts are not in the file.
func (d *Document) NeedsFonts(n int) bool {
	loaded, err := d.in.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: d.page(n)})
	if err != nil {
		return false
	}
	defer tidy(func() error {
		_, err := d.in.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
		return err
	})
	count, err := d.in.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: loaded.TextPage})
	if err != nil {
		return false
	}
	asked := 0
	for i := 0; i < count.Count && asked < maxWideChars; i++ {
		char, err := d.in.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: loaded.TextPage, Index: i})
		if err != nil || !IsWide(rune(char.Unicode)) { //nolint:gosec // a character
			continue
		}
		asked++
		if embedded, err := d.embedded(loaded.TextPage, i); err == nil && !embedded {
			return true
		}
	}
	return false
}

// embedded reports whether the font of a character is in the file.
func (d *Document) embedded(text references.FPDF_TEXTPAGE, i int) (bool, error) {
	object, err := d.in.FPDFText_GetTextObject(&requests.FPDFText_GetTextObject{TextPage: text, Index: i})
	if err != nil {
		return false, err
	}
	font, err := d.in.FPDFTextObj_GetFont(&requests.FPDFTextObj_GetFont{PageObject: object.TextObject})
	if err != nil {
		return false, err
	}
	is, err := d.in.FPDFFont_GetIsEmbedded(&requests.FPDFFont_GetIsEmbedded{Font: font.Font})
	if err != nil {
		return false, err
	}
	return is.IsEmbedded, nil
}

// IsWide reports whether a character is Chinese, Japanese or Korean.
func IsWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}
