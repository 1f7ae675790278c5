//go:build worker

package tesseract

// #include <tesseract/capi.h>
import "C"

import (
	"encoding/binary"
	"fmt"
	"image"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/otiai10/gosseract/v2"

	"github.com/vaultflow/vaultflow/ingestion/worker/ocr"
)

// Version returns the version of the linked library.
var Version = sync.OnceValue(gosseract.Version)

// Engine is one client for the whole process: Tesseract returns no memory, and two clients contend for the cores.
type Engine struct {
	client    *gosseract.Client
	tessdata  string
	languages []string
	orientation
}

var _ ocr.Engine = (*Engine)(nil)

// New returns an engine that takes its language data from a folder.
func New(tessdata string) *Engine {
	return &Engine{client: gosseract.NewClient(), tessdata: tessdata}
}

// Name returns the engine's name and version.
func (t *Engine) Name() string { return "tesseract " + Version() }

// Close frees the client.
func (t *Engine) Close() {
	_ = t.client.Close() // it always returns nil
	t.closeOrient()
}

// Recognise asks for words alone: asking for the text as well would read the picture twice. The page segmentation is
// set as a variable, because the binding forgets SetPageSegMode before the first picture. The picture is handed over as
// its library keeps it in memory.
func (t *Engine) Recognise(img *image.Gray, languages []string, by ocr.Division) ([]ocr.Word, error) {
	if !slices.Equal(languages, t.languages) {
		if err := t.setUp(languages); err != nil {
			return nil, err
		}
	}
	if err := t.client.SetVariable("tessedit_pageseg_mode", modeOf(by)); err != nil {
		return nil, err
	}
	if err := t.client.SetVariable("user_defined_dpi", strconv.Itoa(resolution(img.Rect.Size(), by))); err != nil {
		return nil, err
	}
	if err := t.client.SetImageFromBytes(serialized(img)); err != nil {
		return nil, fmt.Errorf("hand over the picture: %w", err)
	}
	found, err := t.client.GetBoundingBoxesVerbose()
	if err != nil {
		return nil, err
	}
	known := t.known()
	words := make([]ocr.Word, 0, len(found))
	for _, b := range found {
		words = append(words, ocr.Word{Text: b.Word, Rect: b.Box, Confidence: b.Confidence, Known: known[b.Box], Block: b.BlockNum, Paragraph: b.ParNum, Line: b.LineNum})
	}
	return words, nil
}

// serialized returns a picture as Leptonica's SPIX: a head of words, and lines of words with four pixels each, the first in the highest byte. It is
// read with one copy, where PNG takes two checksums.
func serialized(img *image.Gray) []byte {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	line := (w + 3) / 4 * 4
	out := make([]byte, 0, 28+h*line)
	out = append(out, "spix"...)
	for _, v := range [...]int{w, h, 8, line / 4, 0, h * line} { // bits of a pixel, words of a line, colours of a palette, bytes
		out = binary.NativeEndian.AppendUint32(out, uint32(v)) //nolint:gosec // pictures are limited
	}
	last := make([]byte, 4)
	for y := range h {
		from := img.Pix[y*img.Stride:][:w]
		for ; len(from) >= 4; from = from[4:] {
			out = binary.NativeEndian.AppendUint32(out, binary.BigEndian.Uint32(from))
		}
		if len(from) > 0 {
			clear(last)
			copy(last, from)
			out = binary.NativeEndian.AppendUint32(out, binary.BigEndian.Uint32(last))
		}
	}
	return out
}

// known returns the places of the recognised words that are in a dictionary of the languages. The binding has no call for it, so the
// library's object is asked, which the binding keeps in an unexported field.
func (t *Engine) known() map[image.Rectangle]bool {
	api := (*C.TessBaseAPI)(reflect.ValueOf(t.client).Elem().FieldByName("api").UnsafePointer())
	found := C.TessBaseAPIGetIterator(api)
	if found == nil {
		return nil
	}
	defer C.TessResultIteratorDelete(found)
	page := C.TessResultIteratorGetPageIterator(found)
	places := map[image.Rectangle]bool{}
	for more := true; more; more = C.TessResultIteratorNext(found, C.RIL_WORD) != 0 {
		if C.TessResultIteratorWordIsFromDictionary(found) == 0 {
			continue
		}
		var x0, y0, x1, y1 C.int
		C.TessPageIteratorBoundingBox(page, C.RIL_WORD, &x0, &y0, &x1, &y1)
		places[image.Rect(int(x0), int(y0), int(x1), int(y1))] = true
	}
	return places
}

// modeOf is how Tesseract divides a page: into columns (PSM_AUTO), or into lines that run across it (PSM_SINGLE_BLOCK).
func modeOf(by ocr.Division) string {
	if by == ocr.ByRows {
		return "6"
	}
	return "3"
}

func (t *Engine) setUp(languages []string) error {
	if err := t.client.SetTessdataPrefix(t.tessdata); err != nil {
		return err
	}
	if err := t.client.SetLanguage(languages...); err != nil {
		return err
	}
	t.languages = slices.Clone(languages)
	return nil
}

// resolution returns the one that is stated for a picture, in dots per inch. With 70, which the binding states, Tesseract keeps columns apart that
// are close, but takes strokes of large letters for rules, which are longer than a quarter of an inch and thinner than a twentieth, and drops the
// words in the cells of a table. Of drawn tables of 100 to 450 dpi, two thirds of the resolution of a page of A4, and at least 150, read most.
func resolution(size image.Point, by ocr.Division) int {
	if by != ocr.ByCells {
		return 70
	}
	return max(150, 2*int(float64(max(size.X, size.Y))/11.7)/3)
}
