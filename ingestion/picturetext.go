package ingestion

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"unicode"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// read reads the text in a picture with the recognition engines.
func (f *frames) read(ctx context.Context, p *manifest.Page) error {
	if !f.imageStrategy(config.StrategyImageOCR) {
		return nil
	}
	p.OCR = &manifest.PageOCR{Decided: true, Code: "picture", Reason: "picture: image_ocr is a strategy"}
	err := recognition{w: f.w}.byEngines(ctx, p, func(ctx context.Context) (bool, error) { return f.readHere(ctx, p) }, func(context.Context) ([]byte, string, error) {
		return pageFiles{w: f.w}.shown(p)
	})
	unrecognised(p)
	unsure(p, f.w.set.OCR.MinConfidence)
	return err
}

// shown returns the page's own picture.
func (f pageFiles) shown(p *manifest.Page) ([]byte, string, error) {
	if p.Image == nil {
		return nil, "", reading.Failed(failure.Unsupported, "it could not be decoded")
	}
	data, err := fs.ReadFile(f.w.store.bundle.FS(), p.Image.Path)
	if err != nil {
		return nil, "", fault.Storage("read "+p.Image.Path, err)
	}
	for _, mediaType := range []string{"image/png", "image/jpeg", "image/webp", "image/gif"} {
		if pictureExtension(mediaType, data) != "" {
			return data, mediaType, nil
		}
	}
	return nil, "", reading.Failed(failure.Unsupported, "services do not accept pictures of this kind")
}

// readHere asks the worker's own text recognition, and reports whether it answered.
func (f *frames) readHere(ctx context.Context, p *manifest.Page) (bool, error) {
	if f.refused != nil {
		p.OCR.Error = f.why()
		return false, nil
	}
	got, err := f.s.Page(ctx, extract.PageRequest{N: p.N, OCR: true, OCRDPI: f.w.set.OCR.DPI, Languages: f.w.set.OCR.Languages, MaxPixels: f.w.set.PDF.MaxPixels})
	if got.OCR != nil && noise(got.OCR) {
		p.OCR.Reason += fmt.Sprintf("; text found with %.0f %% confidence is treated as noise", percent(got.OCR.Confidence))
		leftOut(got.OCR)
		got.OCR.Text, got.OCR.Words = "", nil
		got.OCR.Doubts = slices.DeleteFunc(got.OCR.Doubts, func(d doubt.Doubt) bool { return d.Code != doubt.Empty }) // leaves are no doubtful text
	}
	lacking(p, got.Lacks)
	return pageFiles{w: f.w}.answered(ctx, p, got.OCR, err)
}

// leftOut makes the doubts about noise: few letters are no text, whose confidence nobody wants to know; many may be a page that could
// not be read.
func leftOut(o *extract.PageOCR) {
	if lettersIn(o.Text) < muchNoise {
		o.Doubts = slices.DeleteFunc(o.Doubts, func(d doubt.Doubt) bool { return d.Code == doubt.Recognition })
		return
	}
	if !doubt.Has(o.Doubts, doubt.Empty) {
		o.Doubts = doubt.Add(o.Doubts, doubt.Empty, fmt.Sprintf("text was found with only %.0f %% confidence and is left out; "+
			"check ingestion.ocr.languages, or take a sharper picture", percent(o.Confidence)))
	}
}

// muchNoise is how many letters leaves and bricks seldom look like. As many more likely are a page that could not be read.
const muchNoise = 60

// noise reports whether recognised text is not text.
func noise(o *extract.PageOCR) bool {
	return o.Confidence < photoConfidence || lettersIn(o.Text) < fewLetters
}

// fewLetters is fewer than any text that is worth keeping.
const fewLetters = 3

// lettersIn counts letters and digits.
func lettersIn(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
