package extract

import (
	"math"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
)

// PageRequest requests parts of one page. The parts are independent: a caller first requests the text, decides from its
// [Evidence] whether the page needs recognition, and then requests that and the picture.
type PageRequest struct {
	N         int           `json:"n"` // counted from 1
	Text      bool          `json:"text,omitempty"`
	Image     bool          `json:"image,omitempty"`
	OCR       bool          `json:"ocr,omitempty"`
	DPI       float64       `json:"dpi,omitempty"`        // of the picture; 0 = 150
	OCRDPI    float64       `json:"ocr_dpi,omitempty"`    // of what is recognised; 0 = 200
	MaxSide   int           `json:"max_side,omitempty"`   // longest side of the picture in pixels; 0 = 2000
	MaxPixels int64         `json:"max_pixels,omitempty"` // most pixels of any rendering; 0 = 40 million
	Format    string        `json:"format,omitempty"`     // "auto" (also ""), "png" or "jpeg"
	Languages []string      `json:"languages,omitempty"`  // of Tesseract, as "eng"; empty = eng
	MaxBytes  int64         `json:"max_bytes,omitempty"`  // most bytes of the picture, which gets smaller until it fits; 0 = MaxPicture
	Rect      *content.Rect `json:"rect,omitempty"`       // only this part of the page as the picture; of a PDF
	Displayed bool          `json:"displayed,omitempty"`  // Rect is in points of the page as displayed, from its upper left corner
	Formulas  bool          `json:"formulas,omitempty"`   // with Text: mark formulas that only a picture shows
	Letters   bool          `json:"letters,omitempty"`    // with Text: what each renderer reads, to compare it with an answer
	Merge     bool          `json:"merge,omitempty"`      // with Text and OCR: the text has the recognised words of pictures too, where the layer has none
	Other     bool          `json:"other,omitempty"`      // not with the renderer that would be chosen: it failed. Only where Open left the choice
}

// encloses reports whether the corners of r enclose an area of a possible page.
func encloses(r content.Rect) bool {
	for _, v := range []float64{r.X1, r.Y1, r.X2, r.Y2} {
		if !within(math.Abs(v), maxSidePt) {
			return false
		}
	}
	return r.X1 != r.X2 && r.Y1 != r.Y2
}

// Page holds the requested parts of a page. The others are nil.
type Page struct {
	N        int        `json:"n"`
	WidthPt  float64    `json:"width_pt"` // as displayed, after /Rotate, in points of 1/72 inch
	HeightPt float64    `json:"height_pt"`
	Label    string     `json:"label,omitempty"`
	Renderer string     `json:"renderer,omitempty"` // of the picture, else of the text, when it is not the document's
	Code     string     `json:"code,omitempty"`     // of the reason
	Reason   string     `json:"reason,omitempty"`   // why, for people: the code, a colon, words
	Lost     string     `json:"lost,omitempty"`     // why something of the page is missing; with Text or Image
	Text     *PageText  `json:"text,omitempty"`
	Image    *PageImage `json:"image,omitempty"`
	OCR      *PageOCR   `json:"ocr,omitempty"`
	Lacks    string     `json:"-"` // why the page is below the quality that was asked for; the reader sets it
}

// PageText is the text layer of a page.
type PageText struct {
	Markdown string   `json:"markdown"`
	Plain    string   `json:"plain"`
	Besides  string   `json:"besides,omitempty"` // Markdown of the values of form fields and of annotations, which the two above do not have
	Evidence Evidence `json:"evidence"`

	Doubts   []doubt.Doubt  `json:"doubts,omitempty"`   // about Markdown and Plain
	Edges    []string       `json:"edges,omitempty"`    // what is printed at the edge of the page and left out of Markdown and Plain; without page numbers and running heads
	Formulas []content.Rect `json:"formulas,omitempty"` // if requested: where the formulas marked in Markdown are on the page as displayed, from its upper left corner

	Letters []string `json:"letters,omitempty"` // if requested: the text as each renderer has it, with running heads, in no order
}

// Evidence shows whether a text layer can be trusted.
type Evidence struct {
	Chars        int     `json:"chars"`         // letters, digits, signs; no blanks
	Unmapped     int     `json:"unmapped"`      // of these, glyphs without a character (U+FFFD, private use)
	Invisible    int     `json:"invisible"`     // of these, characters that stand over a picture that hides them
	PictureCover float64 `json:"picture_cover"` // share of the page area that pictures cover, 0 to 1
	MarginChars  int     `json:"margin_chars"`  // of Chars, in the outer margin (a tenth of each side)
	Pictures     int     `json:"pictures"`
	Fonts        int     `json:"fonts"`
	Hidden       int     `json:"hidden,omitempty"` // besides Chars: characters that nobody can see on the page, and that were left out
	Drawn        int     `json:"drawn,omitempty"`  // letters in fonts that draw them (Type 3), which may not say what they are
	Tagged       bool    `json:"tagged,omitempty"` // the document declares that its text has structure
	Unread       int     `json:"unread,omitempty"` // rows of letters in pictures, where the layer has no text; of a page with text inside its margin
	Ink          *Ink    `json:"ink,omitempty"`    // of a page without text inside its margin; nil if it was not measured
}

// Blank reports whether the page was drawn and nothing is on it but specks.
func (e Evidence) Blank() bool { return e.Chars == 0 && e.Ink != nil && e.Ink.All < MinInk }

// MinInk is less than a letter of 8 points on A4 takes, and more than the specks of an empty sheet of paper do.
const MinInk = 0.00001

// Ink is how much of a page is not of the paper's shade, seen from far: shares of its area, 0 to 1.
type Ink struct {
	All   float64 `json:"all"`
	Inner float64 `json:"inner"` // of the area inside the outer margin
}

// PageImage is a picture of a page. Bytes travel in a frame of their own after the page's.
type PageImage struct {
	MediaType string  `json:"media_type"` // image/png or image/jpeg
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	DPI       float64 `json:"dpi"` // that was used, after the caps
	Size      int     `json:"size"`
	Bytes     []byte  `json:"-"`
	Identity  string  `json:"identity,omitempty"` // SHA-256 of the page's grey raster at a fixed low resolution; empty if not known
}

// AutoLanguage represents the language that a page is written in, which the worker finds out.
const AutoLanguage = "auto"

// PageOCR is what recognition found on a page.
type PageOCR struct {
	Text       string  `json:"text"`
	Words      []Word  `json:"words,omitempty"`
	Confidence float64 `json:"confidence"`     // mean over the characters, 0 to 100
	Rotation   int     `json:"rotation"`       // degrees clockwise that the page was turned before it was read
	Skew       float64 `json:"skew,omitempty"` // degrees clockwise by which its lines are off, once it is turned
	Engine     string  `json:"engine"`         // as "tesseract 5.3.0"
	Reason     string  `json:"reason,omitempty"`
	Width      int     `json:"width"` // of the picture that the boxes refer to: the page after Rotation, with its skew
	Height     int     `json:"height"`

	Languages []string      `json:"languages,omitempty"` // that it was read in; empty: those that were asked for
	Doubts    []doubt.Doubt `json:"doubts,omitempty"`
}

// Word is a recognised word with its box in pixels of the picture that was read.
type Word struct {
	Text       string  `json:"text"`
	X0         int     `json:"x0"`
	Y0         int     `json:"y0"`
	X1         int     `json:"x1"`
	Y1         int     `json:"y1"`
	Confidence float64 `json:"confidence"` // 0 to 100
}
