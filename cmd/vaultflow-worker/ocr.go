package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// box is a recognised word and where it stands in the structure of the page.
type box struct {
	word                   string
	rect                   image.Rectangle
	confidence             float64
	block, paragraph, line int
}

// engine recognises the words of a PNG picture.
type engine interface {
	recognise(png []byte, languages []string) ([]box, error)
	close()
}

// reader turns pictures of pages into text. It has one engine for the life of the process.
type reader struct {
	tessdata string
	engine   engine // nil until it is needed
}

func newReader(tessdata string) *reader { return &reader{tessdata: tessdata} }

func (r *reader) close() {
	if r.engine != nil {
		r.engine.close()
	}
}

// poor is the confidence below which a page may stand on its head: pages that do reach about 26, legible ones 90.
const poor = 60.0

// read recognises a picture. The words are given as they stand when the page is upright, whichever way it was scanned.
func (r *reader) read(img *image.Gray, languages []string) (*extract.PageOCR, error) {
	if err := r.ready(languages); err != nil {
		return nil, err
	}
	out := &extract.PageOCR{Engine: "tesseract " + tesseractVersion(), Width: img.Rect.Dx(), Height: img.Rect.Dy()}
	if blank(img) {
		out.Reason = "the picture is blank"
		return out, nil
	}
	best, err := r.recognise(img, languages)
	if err != nil {
		return nil, err
	}
	if best.letters > 0 && best.mean < poor {
		// Lines that run down are read as well as those that run right: a half turn is what is left to try. Tesseract's own
		// detection of directions takes a third more time, on every page.
		next, err := r.recognise(turned(turned(img)), languages)
		if err != nil {
			return nil, err
		}
		if next.score > best.score*1.5 && next.mean > best.mean {
			best, out.Rotation = next, 180
		}
	}
	if turn := facing(best.boxes); turn != 0 {
		turnBoxes(best.boxes, turn, img.Rect.Size())
		out.Rotation = (out.Rotation + turn) % 360
		if turn != 180 {
			out.Width, out.Height = out.Height, out.Width
		}
	}
	if out.Rotation != 0 {
		out.Reason = fmt.Sprintf("the page has to be turned by %d degrees to be read", out.Rotation)
	}
	out.Text, out.Words, out.Confidence = textOf(best.boxes), wordsOf(best.boxes, out.Width, out.Height), best.mean
	return out, nil
}

// reading is what was recognised in one direction.
type reading struct {
	boxes       []box
	letters     int
	mean, score float64 // confidence of a character, and of all of them
}

func (r *reader) recognise(img *image.Gray, languages []string) (reading, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, img); err != nil {
		return reading{}, fmt.Errorf("encode for recognition: %w", err)
	}
	boxes, err := r.engine.recognise(b.Bytes(), languages)
	if err != nil {
		return reading{}, fmt.Errorf("recognise: %w", err)
	}
	out := reading{boxes: slices.DeleteFunc(boxes, func(b box) bool { return strings.TrimSpace(b.word) == "" })}
	for _, b := range out.boxes {
		n := utf8.RuneCountInString(b.word)
		out.letters += n
		out.score += b.confidence * float64(n)
	}
	if out.letters > 0 {
		out.mean = out.score / float64(out.letters)
	}
	return out, nil
}

// ready makes the engine, after a look at whether its data is there: the library ends badly without.
func (r *reader) ready(languages []string) error {
	for _, language := range languages {
		if _, err := os.Stat(filepath.Join(r.tessdata, language+".traineddata")); !extract.ValidLanguage(language) || err != nil {
			return &extract.Error{Code: extract.CodeUnsupported, Message: fmt.Sprintf("language data for %q is not installed in %q", language, r.tessdata)}
		}
	}
	if r.engine == nil {
		r.engine = newEngine(r.tessdata)
	}
	if r.engine == nil {
		return &extract.Error{Code: extract.CodeUnsupported, Message: "this worker has no text recognition"}
	}
	return nil
}

// textOf rebuilds the text from the words: a line for a line, an empty one between paragraphs and blocks.
func textOf(boxes []box) string {
	var b strings.Builder
	for i, word := range boxes {
		if i > 0 {
			before := boxes[i-1]
			switch {
			case before.block != word.block || before.paragraph != word.paragraph:
				b.WriteString("\n\n")
			case before.line != word.line:
				b.WriteString("\n")
			default:
				b.WriteString(" ")
			}
		}
		b.WriteString(normal(word.word))
	}
	return b.String()
}

func wordsOf(boxes []box, width, height int) []extract.Word {
	words := make([]extract.Word, 0, len(boxes))
	page := image.Rect(0, 0, width, height)
	for _, b := range boxes {
		at := b.rect.Intersect(page)
		words = append(words, extract.Word{
			Text: normal(b.word), X0: at.Min.X, Y0: at.Min.Y, X1: at.Max.X, Y1: at.Max.Y, Confidence: min(max(b.confidence, 0), 100),
		})
	}
	return words
}

// blank says whether a picture has hardly any contrast.
func blank(img *image.Gray) bool {
	low, high := slices.Min(img.Pix), slices.Max(img.Pix)
	return high-low < 40
}

// turned gives the picture turned by 90 degrees clockwise.
func turned(img *image.Gray) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewGray(image.Rect(0, 0, h, w))
	for y := range h {
		for x := range w {
			out.Pix[x*out.Stride+h-1-y] = img.Pix[y*img.Stride+x]
		}
	}
	return out
}
