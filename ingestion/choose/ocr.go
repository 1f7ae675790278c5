package choose

import (
	"fmt"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Decision is whether text recognition reads a page's picture, and why.
type Decision struct {
	OCR   bool
	Code  string
	Words string // the evidence
}

// String returns the reason as the manifest records it.
func (d Decision) String() string { return d.Code + ": " + d.Words }

// The codes of decisions.
const (
	reasonNoText   = "no_text"         // OCR
	reasonOutlines = "outlines"        // OCR: no characters and no pictures, and yet something is drawn
	reasonMargin   = "margin_only"     // OCR, unless nothing is drawn inside the margin
	reasonUnmapped = "unmapped"        // OCR
	reasonStamp    = "stamp_on_scan"   // OCR
	reasonRedo     = "redo"            // OCR
	reasonGarbled  = "garbled"         // OCR, to compare the layer with
	reasonPicture  = "text_in_picture" // OCR, to add what the layer lacks
	reasonMisread  = "misread_layer"   // OCR: an OCR program wrote the layer, and not what the page shows
	reasonOCRFirst = "ocr_first"       // OCR, whatever the layer holds
	reasonUnknown  = "no_evidence"     // OCR: the text layer could not be read
	reasonBlank    = "blank"
	reasonOldLayer = "old_ocr_layer"
	reasonLayer    = "text_layer"
)

// Decisions that need no evidence.
var (
	OCRFirst = Decision{true, reasonOCRFirst, "pdf_ocr comes before pdf_text in the strategies"}
	NoLayer  = Decision{true, reasonUnknown, "the text layer could not be read"}
)

// BeatsLayer reports whether text that was recognised for this reason replaces a longer text layer: the layer cannot be read,
// or recognition was asked for despite it.
func BeatsLayer(code string) bool {
	return code == reasonUnmapped || code == reasonRedo || code == reasonMisread || code == reasonOCRFirst || code == reasonGarbled
}

// Misread is the decision about a layer of an OCR program after recognition found other words on pages of its document.
func (d Decision) Misread() Decision {
	return Decision{true, reasonMisread, d.Words + "; recognition finds other words on pages of this document"}
}

// Merged reports whether recognition adds to a text layer what only pictures show.
func Merged(code string) bool { return code == reasonPicture }

// Unmapped reports whether text was recognised because the layer has many characters without a meaning.
func Unmapped(code string) bool { return code == reasonUnmapped }

// Garbled reports whether text was recognised to find out if a text layer has the letters of its page.
func Garbled(code string) bool { return code == reasonGarbled }

// Checked is the decision after a look at the text of the layer, which may have other letters than the page shows. Fonts that draw their
// letters often have nothing but codes for them.
func (d Decision) Checked(layer string, e extract.Evidence) Decision {
	drawn := e.Drawn >= drawnLetters && 2*e.Drawn > e.Chars
	if (d.Code == reasonLayer || d.Code == reasonPicture) && (doubt.Gibberish(layer) || drawn && doubt.Coded(layer)) {
		return Decision{true, reasonGarbled, d.Words + "; hardly any word is frequent in a language"}
	}
	return d
}

// Confirmed is the decision after recognition found the words of the layer.
func (d Decision) Confirmed() Decision {
	return Decision{false, reasonLayer, d.Words + ", and yet recognition finds the same"}
}

// WrittenByOCR reports whether a text layer that was kept for this reason is an OCR program's, so that its letters may be wrong.
func WrittenByOCR(code string) bool { return code == reasonOldLayer }

const (
	unmappedShare  = 0.10 // of the characters; pymupdf4llm's threshold
	invisibleShare = 0.80 // of the characters: an OCR program wrote the layer, a stamp may have come later
	scanCover      = 0.50 // of the page: the pictures are the page
	pictureRows    = 3    // of letters in pictures: fewer may be a fence, or the name below a logo
	drawnLetters   = 50   // fewer may be a logo
	stampChars     = 50   // paperless' threshold: fewer outside of the margin are no text of a scanned page
)

// OCR decides for one page, from its evidence alone. A page number or a stamp does not make a scan digital. A text layer from
// an OCR program is kept unless redo is set. A page without characters is read if anything is drawn on it, because letters may
// be outlines or part of a picture. Tags decide nothing: programs write them for scans too.
func OCR(e extract.Evidence, redo bool) Decision {
	ocr, code, words := weigh(e, redo)
	return Decision{ocr, code, words + further(e)}
}

func weigh(e extract.Evidence, redo bool) (ocr bool, code, words string) {
	body := e.Chars - e.MarginChars
	share := func(n int) float64 { return float64(n) / float64(max(e.Chars, 1)) }
	cover := fmt.Sprintf("pictures cover %.0f %% of the page", e.PictureCover*100)
	invisible := fmt.Sprintf("%.0f %% of %d characters are invisible", share(e.Invisible)*100, e.Chars)
	old := share(e.Invisible) >= invisibleShare && e.Chars > 0
	switch {
	case e.Blank():
		return false, reasonBlank, "no characters and nothing drawn, " + cover
	case e.Chars == 0 && e.Pictures == 0 && e.PictureCover == 0:
		return true, reasonOutlines, "no characters and no pictures: letters may be drawn as outlines"
	case e.Chars == 0:
		return true, reasonNoText, "no characters, " + cover
	case old && redo:
		return true, reasonRedo, invisible + "; new recognition was requested"
	case share(e.Unmapped) > unmappedShare:
		return true, reasonUnmapped, fmt.Sprintf("%d of %d characters are unmapped", e.Unmapped, e.Chars)
	case old && body > 0:
		return false, reasonOldLayer, invisible + ": recognised by an earlier program"
	case e.PictureCover >= scanCover && body < stampChars:
		return true, reasonStamp, fmt.Sprintf("%d characters outside the margin, %s", body, cover)
	case body == 0:
		drawn := e.Ink == nil || e.Ink.Inner >= extract.MinInk
		return drawn, reasonMargin, fmt.Sprintf("all %d characters are in the margin, %s", e.Chars, cover)
	case e.Unread >= pictureRows:
		return true, reasonPicture, fmt.Sprintf("%d characters, and %d rows of letters in pictures that are not among them, %s", e.Chars, e.Unread, cover)
	}
	return false, reasonLayer, fmt.Sprintf("%d characters, %s", e.Chars, cover)
}

// further returns the evidence that only some pages have.
func further(e extract.Evidence) (words string) {
	if e.Ink != nil {
		words += fmt.Sprintf("; ink on %.3f %% of the page, %.3f %% inside the margin", e.Ink.All*100, e.Ink.Inner*100)
	}
	if e.Unmapped > 0 && float64(e.Unmapped) <= unmappedShare*float64(e.Chars) {
		words += fmt.Sprintf("; %d characters are unmapped", e.Unmapped)
	}
	if e.Tagged {
		words += "; tagged"
	}
	return words
}
