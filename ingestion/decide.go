package ingestion

import (
	"fmt"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// OCRDecision says whether a page's picture is to be read, and why.
type OCRDecision struct {
	OCR   bool
	Code  string
	Words string // the evidence
}

// String is the reason as it stands in the manifest.
func (d OCRDecision) String() string { return d.Code + ": " + d.Words }

// The reasons of [OCRDecision].
const (
	reasonNoText   = "no_text"       // OCR
	reasonOutlines = "outlines"      // OCR: no characters and no pictures, and yet something is drawn
	reasonMargin   = "margin_only"   // OCR, unless nothing is drawn inside the margin
	reasonUnmapped = "unmapped"      // OCR
	reasonStamp    = "stamp_on_scan" // OCR
	reasonRedo     = "redo"          // OCR
	reasonOCRFirst = "ocr_first"     // OCR, whatever the layer holds
	reasonBlank    = "blank"
	reasonOldLayer = "old_ocr_layer"
	reasonLayer    = "text_layer"
)

const (
	unmappedShare  = 0.10 // of the characters; pymupdf4llm's threshold
	invisibleShare = 0.80 // of the characters: an OCR program wrote the layer, a stamp may have come later
	scanCover      = 0.50 // of the page: the pictures are the page
	stampChars     = 50   // paperless' threshold: fewer outside of the margin are no text of a scanned page
	// inkShare is less than a letter of 8 points on A4 takes, and more than the specks of an empty sheet of paper do.
	inkShare = 0.00001
)

// DecideOCR decides for one page, from its evidence alone. A page number or a stamp does not make a scan digital; a text
// layer that an OCR program wrote is kept unless redo is set; a page without characters is read when anything is drawn
// on it, since letters may be outlines or part of a picture. That a document is tagged decides nothing: programs that write
// tags write them for scans as well.
func DecideOCR(e extract.Evidence, redo bool) OCRDecision {
	ocr, code, words := weigh(e, redo)
	return OCRDecision{ocr, code, words + further(e)}
}

func weigh(e extract.Evidence, redo bool) (ocr bool, code, words string) {
	body := e.Chars - e.MarginChars
	share := func(n int) float64 { return float64(n) / float64(max(e.Chars, 1)) }
	cover := fmt.Sprintf("pictures cover %.0f %% of the page", e.PictureCover*100)
	invisible := fmt.Sprintf("%.0f %% of %d characters are invisible", share(e.Invisible)*100, e.Chars)
	old := share(e.Invisible) >= invisibleShare && e.Chars > 0
	switch {
	case e.Chars == 0 && e.Ink != nil && e.Ink.All < inkShare:
		return false, reasonBlank, "no characters and nothing drawn, " + cover
	case e.Chars == 0 && e.Pictures == 0 && e.PictureCover == 0:
		return true, reasonOutlines, "no characters and no pictures: letters may be drawn as outlines"
	case e.Chars == 0:
		return true, reasonNoText, "no characters, " + cover
	case old && redo:
		return true, reasonRedo, invisible + "; recognition anew was asked for"
	case share(e.Unmapped) > unmappedShare:
		return true, reasonUnmapped, fmt.Sprintf("%d of %d characters have no meaning", e.Unmapped, e.Chars)
	case old && body > 0:
		return false, reasonOldLayer, invisible + ": recognised by an earlier program"
	case e.PictureCover >= scanCover && body < stampChars:
		return true, reasonStamp, fmt.Sprintf("%d characters outside the margin, %s", body, cover)
	case body == 0:
		drawn := e.Ink == nil || e.Ink.Inner >= inkShare
		return drawn, reasonMargin, fmt.Sprintf("all of %d characters stand in the margin, %s", e.Chars, cover)
	}
	return false, reasonLayer, fmt.Sprintf("%d characters, %s", e.Chars, cover)
}

// further is the evidence that not every page has.
func further(e extract.Evidence) (words string) {
	if e.Ink != nil {
		words += fmt.Sprintf("; ink on %.3f %% of the page, %.3f %% inside the margin", e.Ink.All*100, e.Ink.Inner*100)
	}
	if e.Unmapped > 0 && float64(e.Unmapped) <= unmappedShare*float64(e.Chars) {
		words += fmt.Sprintf("; %d characters have no meaning", e.Unmapped)
	}
	if e.Tagged {
		words += "; tagged"
	}
	return words
}
