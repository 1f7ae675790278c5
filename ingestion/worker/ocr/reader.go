// Package ocr reads the text of pictures: it straightens a page, has an [Engine] recognise it, and drops what is noise.
package ocr

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

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// Word is a recognised word and its place in the structure of the page.
type Word struct {
	Text                   string
	Rect                   image.Rectangle
	Confidence             float64
	Block, Paragraph, Line int
}

// Engine recognises the words of PNG pictures. It is used by one goroutine.
type Engine interface {
	Name() string // with its version
	Recognise(png []byte, languages []string) ([]Word, error)
	Close()
}

// Reader turns pictures of pages into text. It keeps one engine for as long as the process runs.
type Reader struct {
	tessdata string
	start    func(tessdata string) Engine
	engine   Engine // nil until it is needed
}

// NewReader returns a reader that starts its engine with the first picture. Without start it reads nothing.
func NewReader(tessdata string, start func(tessdata string) Engine) *Reader {
	return &Reader{tessdata: tessdata, start: start}
}

// Close ends the engine.
func (r *Reader) Close() {
	if r.engine != nil {
		r.engine.Close()
	}
}

// poor is the confidence below which a page may be upside down: such pages reach about 26, upright ones 90.
const poor = 60.0

// Read recognises a picture, whichever way it was scanned. The places of the words are those on the upright picture, turned
// by a multiple of 90 degrees but still skewed, so that the words fit a picture of the page.
func (r *Reader) Read(img *image.Gray, languages []string) (*extract.PageOCR, error) {
	if err := r.ready(languages); err != nil {
		return nil, err
	}
	out := &extract.PageOCR{Engine: r.engine.Name(), Width: img.Rect.Dx(), Height: img.Rect.Dy()}
	if blank(img) {
		out.Reason = "the picture is blank"
		return out, nil
	}
	straight := img
	if out.Skew = skew(img); out.Skew != 0 {
		straight = raster.Turn(img, -out.Skew)
	}
	size, quarter := straight.Rect.Size(), 0
	if out.Skew != 0 && !mayRunDown(languages) && linesRunDown(straight) {
		// Tesseract read such a page with two columns across them.
		straight, quarter = raster.Quarter(straight), 90
	}
	best, turn, err := r.upright(straight, languages)
	if err != nil {
		return nil, err
	}
	turn = (turn + quarter) % 360
	if out.Rotation = turn; turn%180 != 0 {
		out.Width, out.Height = out.Height, out.Width
		size = image.Pt(size.Y, size.X)
	}
	if out.Skew != 0 {
		skewBoxes(best.words, out.Skew, size, image.Pt(out.Width, out.Height))
	}
	words, dropped := legible(best.words)
	out.Reason = turns(out.Rotation, out.Skew, dropped)
	sum, letters := score(words)
	out.Text, out.Words, out.Confidence = textOf(words), placesOf(words, out.Width, out.Height), sum/float64(max(letters, 1))
	return out, nil
}

// mayRunDown reports whether lines from top to bottom are usual in one of the languages.
func mayRunDown(languages []string) bool {
	return slices.ContainsFunc(languages, func(l string) bool {
		return strings.HasPrefix(l, "chi") || strings.HasPrefix(l, "jpn") || strings.HasPrefix(l, "kor")
	})
}

// turns describes how a page was turned before it was read, and what was left out.
func turns(rotation int, skew float64, dropped int) string {
	var said []string
	if rotation != 0 {
		said = append(said, fmt.Sprintf("the page has to be turned by %d degrees to be read", rotation))
	}
	if skew != 0 {
		said = append(said, fmt.Sprintf("its lines are skewed by %.1f degrees", skew))
	}
	if dropped > 0 {
		said = append(said, fmt.Sprintf("%d words taken for noise", dropped))
	}
	return strings.Join(said, "; ")
}

// upright recognises a picture whichever way up it is. The words are those of the picture turned clockwise by turn.
func (r *Reader) upright(img *image.Gray, languages []string) (best reading, turn int, err error) {
	if best, err = r.recognise(img, languages); err != nil {
		return best, 0, err
	}
	if best.letters > 0 && best.mean < poor {
		// Lines that run down are read as well as those that run right: a half turn is what is left to try. Tesseract's own
		// detection of directions takes a third more time, on every page.
		next, err := r.recognise(raster.Quarter(raster.Quarter(img)), languages)
		if err != nil {
			return best, 0, err
		}
		if next.score > best.score*1.5 && next.mean > best.mean {
			best, turn = next, 180
		}
	}
	if more := facing(best.words); more != 0 {
		turnBoxes(best.words, more, img.Rect.Size())
		turn = (turn + more) % 360
	}
	return best, turn, nil
}

// reading is the result of recognition in one direction.
type reading struct {
	words       []Word
	letters     int
	mean, score float64 // confidence of a character, and of all of them
}

func (r *Reader) recognise(img *image.Gray, languages []string) (reading, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, img); err != nil {
		return reading{}, fmt.Errorf("encode for recognition: %w", err)
	}
	words, err := r.engine.Recognise(b.Bytes(), languages)
	if err != nil {
		return reading{}, fmt.Errorf("recognise: %w", err)
	}
	out := reading{words: slices.DeleteFunc(words, func(b Word) bool { return strings.TrimSpace(b.Text) == "" })}
	out.score, out.letters = score(out.words)
	out.mean = out.score / float64(max(out.letters, 1))
	return out, nil
}

// score sums the confidence of the characters of words.
func score(words []Word) (sum float64, letters int) {
	for _, b := range words {
		n := utf8.RuneCountInString(b.Text)
		letters += n
		sum += b.Confidence * float64(n)
	}
	return sum, letters
}

// ready starts the engine. It looks for the language data first, because Tesseract ends the process when they are missing.
func (r *Reader) ready(languages []string) error {
	for _, language := range languages {
		if !extract.ValidLanguage(language) || !opens(filepath.Join(r.tessdata, language+".traineddata")) {
			return &extract.Error{Code: failure.Unsupported, Message: fmt.Sprintf("language data for %q is not installed in %q", language, r.tessdata)}
		}
	}
	if r.start == nil {
		return &extract.Error{Code: failure.Unsupported, Message: "this worker has no text recognition"}
	}
	if r.engine == nil {
		r.engine = r.start(r.tessdata)
	}
	return nil
}

// opens reports whether a file can be read. It opens the file, because a confined worker may not ask in any other way.
func opens(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// textOf rebuilds the text from the words: a line for a line, an empty one between paragraphs and blocks.
func textOf(words []Word) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			before := words[i-1]
			switch {
			case before.Block != word.Block || before.Paragraph != word.Paragraph:
				b.WriteString("\n\n")
			case before.Line != word.Line:
				b.WriteString("\n")
			default:
				b.WriteString(" ")
			}
		}
		b.WriteString(layout.Normal(word.Text))
	}
	return b.String()
}

func placesOf(found []Word, width, height int) []extract.Word {
	words := make([]extract.Word, 0, len(found))
	page := image.Rect(0, 0, width, height)
	for _, b := range found {
		at := b.Rect.Intersect(page)
		words = append(words, extract.Word{
			Text: layout.Normal(b.Text), X0: at.Min.X, Y0: at.Min.Y, X1: at.Max.X, Y1: at.Max.Y, Confidence: min(max(b.Confidence, 0), 100),
		})
	}
	return words
}

// blank reports whether a picture has hardly any contrast.
func blank(img *image.Gray) bool {
	low, high := slices.Min(img.Pix), slices.Max(img.Pix)
	return high-low < 40
}
