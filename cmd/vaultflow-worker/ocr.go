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

// read recognises a picture. The words are given as they stand on the picture when it is upright, whichever way it was
// scanned: turned by a multiple of 90 degrees, but still skewed where it is, so that the boxes lie on a picture of the page.
func (r *reader) read(img *image.Gray, languages []string) (*extract.PageOCR, error) {
	if err := r.ready(languages); err != nil {
		return nil, err
	}
	out := &extract.PageOCR{Engine: "tesseract " + tesseractVersion(), Width: img.Rect.Dx(), Height: img.Rect.Dy()}
	if blank(img) {
		out.Reason = "the picture is blank"
		return out, nil
	}
	straight := img
	if out.Skew = skew(img); out.Skew != 0 {
		straight = turnedBy(img, -out.Skew)
	}
	size, quarter := straight.Rect.Size(), 0
	if out.Skew != 0 && !mayRunDown(languages) && linesRunDown(straight) {
		// Tesseract read such a page with two columns across them.
		straight, quarter = turned(straight), 90
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
		skewBoxes(best.boxes, out.Skew, size, image.Pt(out.Width, out.Height))
	}
	words, dropped := legible(best.boxes)
	out.Reason = turns(out.Rotation, out.Skew, dropped)
	sum, letters := score(words)
	out.Text, out.Words, out.Confidence = textOf(words), wordsOf(words, out.Width, out.Height), sum/float64(max(letters, 1))
	return out, nil
}

// mayRunDown says whether lines from top to bottom are usual in one of the languages.
func mayRunDown(languages []string) bool {
	return slices.ContainsFunc(languages, func(l string) bool {
		return strings.HasPrefix(l, "chi") || strings.HasPrefix(l, "jpn") || strings.HasPrefix(l, "kor")
	})
}

// turns says in words what was done to a page for it to be read, and what was left out.
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

// upright recognises a picture whichever way up it is. The boxes are those of the picture turned clockwise by turn.
func (r *reader) upright(img *image.Gray, languages []string) (best reading, turn int, err error) {
	if best, err = r.recognise(img, languages); err != nil {
		return best, 0, err
	}
	if best.letters > 0 && best.mean < poor {
		// Lines that run down are read as well as those that run right: a half turn is what is left to try. Tesseract's own
		// detection of directions takes a third more time, on every page.
		next, err := r.recognise(turned(turned(img)), languages)
		if err != nil {
			return best, 0, err
		}
		if next.score > best.score*1.5 && next.mean > best.mean {
			best, turn = next, 180
		}
	}
	if more := facing(best.boxes); more != 0 {
		turnBoxes(best.boxes, more, img.Rect.Size())
		turn = (turn + more) % 360
	}
	return best, turn, nil
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
	out.score, out.letters = score(out.boxes)
	out.mean = out.score / float64(max(out.letters, 1))
	return out, nil
}

// score sums the confidence of the characters of words.
func score(boxes []box) (sum float64, letters int) {
	for _, b := range boxes {
		n := utf8.RuneCountInString(b.word)
		letters += n
		sum += b.confidence * float64(n)
	}
	return sum, letters
}

// ready makes the engine, after a look at whether its data is there: the library ends badly without.
func (r *reader) ready(languages []string) error {
	for _, language := range languages {
		if !extract.ValidLanguage(language) || !opens(filepath.Join(r.tessdata, language+".traineddata")) {
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

// opens reports whether a file or a folder is there to be read. The worker may not ask for it without opening it.
func opens(path string) bool {
	f, err := os.Open(path) //nolint:gosec // language data and fonts
	if err != nil {
		return false
	}
	f.Close()
	return true
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
