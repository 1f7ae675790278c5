package extract

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
)

// Most of what a document may hold. They are far above any real file, and keep a lying worker from filling memory with
// many small things.
const (
	maxPages   = 1_000_000
	maxOutline = 100_000
	maxWords   = 100_000
	maxString  = 64 << 10
	maxSidePx  = 1 << 16
	maxSidePt  = 1 << 20
	maxCut     = 10_000
	maxDoubts  = 100

	// MaxAttached is the most attached files that are named.
	MaxAttached = 2000

	maxFormulas = 100
	maxEdges    = 100

	maxPasswords = 1000
)

func (h Hello) check() error {
	switch h.Confinement {
	case ConfinedFull, ConfinedLandlock, ConfinedFiles, ConfinedCalls, ConfinedLimits, ConfinedNot:
	default:
		return fmt.Errorf("confinement %.40q is unknown", h.Confinement)
	}
	if len(h.Languages) > 1000 || len(h.Notes) > 1000 {
		return fmt.Errorf("%d languages, %d notes", len(h.Languages), len(h.Notes))
	}
	return short(append(h.Languages, h.Version, h.MuPDF, h.Tesseract, h.Tessdata)...)
}

func (o Open) check() error {
	if o.Kind != KindPDF && o.Kind != KindImage {
		return fmt.Errorf("kind %.40q is unknown", o.Kind)
	}
	switch o.Renderer {
	case "", RenderAuto, RenderMuPDF, RenderPDFium:
	default:
		return fmt.Errorf("renderer %.40q is unknown", o.Renderer)
	}
	if len(o.Passwords) > maxPasswords {
		return fmt.Errorf("%d passwords", len(o.Passwords))
	}
	return short(append([]string{o.MediaType}, o.Passwords...)...)
}

func (d Document) check() error {
	if d.Pages < 0 || d.Pages > maxPages {
		return fmt.Errorf("%d pages", d.Pages)
	}
	if len(d.Outline) > maxOutline {
		return fmt.Errorf("outline of %d entries", len(d.Outline))
	}
	for _, item := range d.Outline {
		if item.Level < 1 || item.Level > 1000 || item.Page < 0 || item.Page > d.Pages {
			return fmt.Errorf("outline entry of level %d leads to page %d of %d", item.Level, item.Page, d.Pages)
		}
		if err := short(item.Title); err != nil {
			return err
		}
	}
	if len(d.Attached) > MaxAttached {
		return fmt.Errorf("%d attached files", len(d.Attached))
	}
	if err := short(d.Attached...); err != nil {
		return err
	}
	return short(d.Title, d.Author, d.Subject, d.Created, d.Language, d.Renderer, d.Code, d.Reason, d.Version)
}

func (r PageRequest) check() error {
	switch {
	case r.N < 1 || r.N > maxPages:
		return fmt.Errorf("page %d", r.N)
	case r.DPI < 0 || r.DPI > 4800 || r.OCRDPI < 0 || r.OCRDPI > 4800:
		return fmt.Errorf("dpi %g, for recognition %g", r.DPI, r.OCRDPI)
	case r.MaxSide < 0 || r.MaxPixels < 0:
		return fmt.Errorf("caps of %d and %d pixels", r.MaxSide, r.MaxPixels)
	case r.MaxBytes < 0 || r.MaxBytes > MaxPicture:
		return fmt.Errorf("a cap of %d bytes", r.MaxBytes)
	case r.Rect != nil && !encloses(*r.Rect):
		return fmt.Errorf("rectangle %+v", *r.Rect)
	}
	if err := checkLanguages(r.Languages); err != nil {
		return err
	}
	switch r.Format {
	case "", "auto", "png", "jpeg":
		return nil
	}
	return fmt.Errorf("format %.40q is unknown", r.Format)
}

// ValidLanguage reports whether a name can belong to Tesseract's language data. It becomes part of a path there.
func ValidLanguage(name string) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return name != "" && len(name) <= 40
}

// languageCode is how Tesseract names its data. Only models that somebody trained, and those of scripts, have other names.
var languageCode = regexp.MustCompile(`^[a-z]{3}(_[a-z_]+)?$`)

// IsLanguageCode reports whether a name has the form of Tesseract's names of languages, for which there are packages.
func IsLanguageCode(name string) bool { return languageCode.MatchString(name) }

func checkLanguages(list []string) error {
	if len(list) > 100 {
		return fmt.Errorf("%d languages", len(list))
	}
	for _, language := range list {
		if !ValidLanguage(language) {
			return fmt.Errorf("language %.40q is no name", language)
		}
	}
	return nil
}

func (e Error) check() error {
	if e.Code == "" || e.Page < 0 {
		return fmt.Errorf("error with code %.40q on page %d", e.Code, e.Page)
	}
	return short(string(e.Code), e.Message)
}

func (p Page) check() error {
	switch {
	case p.N < 1 || p.N > maxPages:
		return fmt.Errorf("page %d", p.N)
	case !within(p.WidthPt, maxSidePt) || !within(p.HeightPt, maxSidePt):
		return fmt.Errorf("page %d of %g × %g pt", p.N, p.WidthPt, p.HeightPt)
	case p.TextBytes() > MaxText:
		return fmt.Errorf("%w: page %d has %d MB of text, more than the %d MB allowed", ErrTooMuch, p.N, p.TextBytes()>>20, MaxText>>20)
	case p.Text != nil && p.Text.Evidence.check() != nil:
		return fmt.Errorf("page %d: %w", p.N, p.Text.Evidence.check())
	case p.Text != nil && (len(p.Text.Formulas) > maxFormulas || slices.ContainsFunc(p.Text.Formulas, outside)):
		return fmt.Errorf("page %d: formulas at %+v", p.N, p.Text.Formulas)
	case p.Text != nil && (len(p.Text.Edges) > maxEdges || short(p.Text.Edges...) != nil):
		return fmt.Errorf("page %d: %d texts at its edge", p.N, len(p.Text.Edges))
	case p.Text != nil && checkDoubts(p.Text.Doubts) != nil:
		return fmt.Errorf("page %d: %w", p.N, checkDoubts(p.Text.Doubts))
	case p.Image != nil && p.Image.check() != nil:
		return fmt.Errorf("page %d: %w", p.N, p.Image.check())
	case p.OCR != nil && p.OCR.check() != nil:
		return fmt.Errorf("page %d: %w", p.N, p.OCR.check())
	}
	return short(p.Label, p.Renderer, p.Code, p.Reason, p.Lost)
}

func outside(r content.Rect) bool { return !encloses(r) }

// checkDoubts limits what a worker says about a text; [doubt.Clean] shortens it further.
func checkDoubts(list []doubt.Doubt) error {
	if len(list) > maxDoubts {
		return fmt.Errorf("%d doubts", len(list))
	}
	for _, d := range list {
		if err := short(d.Code, d.Words); err != nil {
			return err
		}
	}
	return nil
}

// TextBytes is the size of all text of a page; a worker sends at most [MaxText].
func (p Page) TextBytes() (n int) {
	if p.Text != nil {
		n += len(p.Text.Markdown) + len(p.Text.Plain) + len(p.Text.Besides)
		for _, letters := range slices.Concat(p.Text.Letters, p.Text.Edges) {
			n += len(letters)
		}
	}
	if p.OCR != nil {
		n += len(p.OCR.Text)
		for _, w := range p.OCR.Words {
			n += len(w.Text)
		}
	}
	return n
}

func (e Evidence) check() error {
	for _, n := range []int{e.Unmapped, e.Invisible, e.MarginChars} {
		if n < 0 || n > e.Chars {
			return fmt.Errorf("evidence counts %d of %d characters", n, e.Chars)
		}
	}
	if e.Pictures < 0 || e.Fonts < 0 || e.Unread < 0 || !within(e.PictureCover, 1) {
		return fmt.Errorf("evidence of %d pictures that cover %g", e.Pictures, e.PictureCover)
	}
	if e.Ink != nil && (!within(e.Ink.All, 1) || !within(e.Ink.Inner, 1)) {
		return fmt.Errorf("evidence of ink on %g and %g of the page", e.Ink.All, e.Ink.Inner)
	}
	return nil
}

func (i PageImage) check() error {
	switch {
	case i.MediaType != "image/png" && i.MediaType != "image/jpeg":
		return fmt.Errorf("picture of type %.40q", i.MediaType)
	case i.Width < 1 || i.Height < 1 || i.Width > maxSidePx || i.Height > maxSidePx:
		return fmt.Errorf("picture of %d × %d pixels", i.Width, i.Height)
	case i.Size < 1 || i.Size > MaxPicture || !within(i.DPI, 1e5):
		return fmt.Errorf("picture of %d bytes at %g dpi", i.Size, i.DPI)
	}
	return nil
}

// checkBytes compares what was announced with what came.
func (i PageImage) checkBytes() error {
	magic := []byte("\x89PNG\r\n\x1a\n")
	if i.MediaType == "image/jpeg" {
		magic = []byte("\xff\xd8\xff")
	}
	if len(i.Bytes) != i.Size || !bytes.HasPrefix(i.Bytes, magic) {
		return fmt.Errorf("%d bytes came that are not the %d of an %s", len(i.Bytes), i.Size, i.MediaType)
	}
	return nil
}

func (o PageOCR) check() error {
	if len(o.Words) > maxWords || !within(o.Confidence, 100) || o.Rotation%90 != 0 || o.Rotation < 0 || o.Rotation > 270 || !within(math.Abs(o.Skew), 45) {
		return fmt.Errorf("recognition of %d words, confidence %g, turned by %d, skewed by %g", len(o.Words), o.Confidence, o.Rotation, o.Skew)
	}
	for _, w := range o.Words {
		if w.X0 < 0 || w.Y0 < 0 || w.X1 < w.X0 || w.Y1 < w.Y0 || w.X1 > maxSidePx || w.Y1 > maxSidePx || !within(w.Confidence, 100) {
			return fmt.Errorf("word at %d,%d–%d,%d with confidence %g", w.X0, w.Y0, w.X1, w.Y1, w.Confidence)
		}
	}
	if err := checkDoubts(o.Doubts); err != nil {
		return err
	}
	if err := checkLanguages(o.Languages); err != nil {
		return err
	}
	return short(o.Engine, o.Reason)
}

func within(v, most float64) bool { return !math.IsNaN(v) && v >= 0 && v <= most }

func short(texts ...string) error {
	for _, s := range texts {
		if len(s) > maxString {
			return fmt.Errorf("a name or title of %d bytes", len(s))
		}
	}
	return nil
}
