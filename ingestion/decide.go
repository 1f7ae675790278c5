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
	reasonMargin   = "margin_only"   // OCR
	reasonUnmapped = "unmapped"      // OCR
	reasonStamp    = "stamp_on_scan" // OCR
	reasonRedo     = "redo"          // OCR
	reasonOCRFirst = "ocr_first"     // OCR, whatever the layer holds
	reasonOldLayer = "old_ocr_layer"
	reasonLayer    = "text_layer"
)

const (
	unmappedShare  = 0.10 // of the characters; pymupdf4llm's threshold
	invisibleShare = 0.80 // of the characters: an OCR program wrote the layer, a stamp may have come later
	scanCover      = 0.50 // of the page: the pictures are the page
	stampChars     = 50   // paperless' threshold: fewer outside of the margin are no text of a scanned page
)

// DecideOCR decides for one page, from its evidence alone. A page number or a stamp does not make a scan digital; a text
// layer that an OCR program wrote is kept unless redo is set; a page without any characters is read whatever else is on it,
// since letters may be drawn as outlines and nothing in the evidence tells those from a blank page.
func DecideOCR(e extract.Evidence, redo bool) OCRDecision {
	body := e.Chars - e.MarginChars
	share := func(n int) float64 { return float64(n) / float64(max(e.Chars, 1)) }
	cover := fmt.Sprintf("pictures cover %.0f %% of the page", e.PictureCover*100)
	old := share(e.Invisible) >= invisibleShare && e.Chars > 0
	switch {
	case e.Chars == 0 && e.Pictures == 0 && e.PictureCover == 0:
		return OCRDecision{true, reasonNoText, "no characters and no pictures: blank, or letters drawn as outlines"}
	case e.Chars == 0:
		return OCRDecision{true, reasonNoText, "no characters, " + cover}
	case old && redo:
		return OCRDecision{true, reasonRedo, fmt.Sprintf("%.0f %% of %d characters are invisible; recognition anew was asked for", share(e.Invisible)*100, e.Chars)}
	case share(e.Unmapped) > unmappedShare:
		return OCRDecision{true, reasonUnmapped, fmt.Sprintf("%d of %d characters have no meaning", e.Unmapped, e.Chars)}
	case old && body > 0:
		return OCRDecision{false, reasonOldLayer, fmt.Sprintf("%.0f %% of %d characters are invisible: recognised by an earlier program", share(e.Invisible)*100, e.Chars)}
	case e.PictureCover >= scanCover && body < stampChars:
		return OCRDecision{true, reasonStamp, fmt.Sprintf("%d characters outside the margin, %s", body, cover)}
	case body == 0:
		return OCRDecision{true, reasonMargin, fmt.Sprintf("all of %d characters stand in the margin, %s", e.Chars, cover)}
	}
	return OCRDecision{false, reasonLayer, fmt.Sprintf("%d characters, %s", e.Chars, cover)}
}
