package ocr

import (
	"image"
	"image/draw"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// Letters in no word are found, those in words are not. Rules, dots and the boxes of a form are no letters.
func TestUnreadRows_findsLetters(t *testing.T) {
	t.Parallel()
	page := pdftest.Drawing(900, 500, 150, "The first line of it", "", "", "The second line of it")
	form := image.NewGray(page.Rect)
	draw.Draw(form, form.Rect, image.White, image.Point{}, draw.Src)
	for i := range 20 {
		draw.Draw(form, image.Rect(50+30*i, 100, 72+30*i, 122), image.Black, image.Point{}, draw.Src)
		draw.Draw(form, image.Rect(53+30*i, 103, 69+30*i, 119), image.White, image.Point{}, draw.Src)
		draw.Draw(form, image.Rect(50+30*i, 200, 53+30*i, 203), image.Black, image.Point{}, draw.Src)
	}
	draw.Draw(form, image.Rect(50, 300, 800, 304), image.Black, image.Point{}, draw.Src)
	first := Word{Text: "The", Rect: image.Rect(80, 95, 450, 125)}
	second := Word{Text: "The", Rect: image.Rect(80, 225, 450, 260)}
	for name, c := range map[string]struct {
		img   *image.Gray
		words []Word
		want  int
	}{
		"none read": {page, nil, 2}, "none read, askew": {raster.Turn(page, 4), nil, 2}, "one read": {page, []Word{first}, 1}, "all read": {page, []Word{first, second}, 0},
		"a form": {form, nil, 0}, "noise": {pdftest.Noise(900, 700, 3), nil, 0}, "a pixel": {image.NewGray(image.Rect(0, 0, 1, 1)), nil, 0},
	} {
		if got := unreadRows(c.img, c.words); len(got) != c.want {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
}

// A few words that could not be read are all that is on their page. What passes for words in noise is not.
func TestRead_doubtsUnreadWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		img  *image.Gray
		want bool
	}{"a line": {pdftest.Drawing(900, 500, 150, "", "", "The first line of it"), true}, "noise": {pdftest.Noise(900, 700, 3), false}} {
		box := image.Rectangle{}
		for _, m := range marksIn(c.img) {
			box = box.Union(m.box)
		}
		if name == "noise" {
			box = image.Rect(100, 100, 500, 140)
		}
		engine := &badly{at: box}
		r := NewReader(withTessdata(t, "eng"), func(string) Engine { return engine })
		got, err := r.Read(c.img, []string{"auto"})
		if err != nil {
			t.Fatal(err)
		}
		if doubt.Has(got.Doubts, doubt.Empty) != c.want {
			t.Errorf("%s: doubts %q", name, got.Doubts)
		}
	}
}

// badly is an engine that reads three words at a place, and is sure of none.
type badly struct {
	scripted
	at image.Rectangle
}

func (b *badly) Recognise(*image.Gray, []string, Division) (words []Word, err error) {
	for i, text := range []string{"MesibHuta", "CTOsJ1a", "TaM,"} {
		at := b.at
		at.Min.X, at.Max.X = at.Min.X+i*at.Dx()/3, at.Min.X+(i+1)*at.Dx()/3
		words = append(words, Word{Text: text, Confidence: 20, Rect: at, Block: 1, Paragraph: 1, Line: 1})
	}
	return words, nil
}

// A page of which one word in six is unsure is doubtful, whatever its mean confidence is.
func TestDoubts_countsUnsureWords(t *testing.T) {
	t.Parallel()
	words := make([]Word, 60)
	for unsure, want := range map[int]bool{0: false, 6: false, 10: true} {
		for i := range words {
			if words[i].Confidence = 95; i < unsure {
				words[i].Confidence = 50
			}
		}
		if got := doubt.Has(attempt{}.doubts(words, 85, version{}), doubt.Recognition); got != want {
			t.Errorf("%d unsure words: %v", unsure, got)
		}
	}
}

// Prices that no word covers are cells. A mark before each line is none.
func TestUnreadCells_findsColumns(t *testing.T) {
	t.Parallel()
	lines := []string{"2.40                    Bread", "1.10                    Milk", "3.70                    Butter", "4.25                    Eggs"}
	page := pdftest.Drawing(1000, 400, 150, lines...)
	cells := unread(page, nil, 0, func(row []mark) bool { return len(row) > 1 })
	if len(cells) != 8 {
		t.Fatalf("%d cells", len(cells))
	}
	var words []Word
	for i, c := range cells {
		if c.Min.X > 200 {
			words = append(words, Word{Text: "Name", Rect: c.Inset(-2), Confidence: 95, Line: i})
		}
	}
	if got := unreadCells(page, words); len(got) != 4 {
		t.Errorf("cells %v", got)
	}
	if got := tornBands(words, unreadCells(page, words)); len(got) != 1 {
		t.Errorf("bands %v", got)
	}
	down := Word{Text: "ONHBONUGDW", Rect: image.Rect(60, 0, 160, 400), Confidence: 20}
	if got := unreadCells(page, append(words, down)); len(got) != 4 {
		t.Errorf("behind a line that runs down: %v", got)
	}
	var names []Word
	for _, w := range words {
		names = append(names, Word{Text: "Name", Rect: image.Rect(160, w.Rect.Min.Y, 400, w.Rect.Max.Y), Confidence: 95})
	}
	if got := unreadCells(pdftest.Drawing(1000, 400, 150, "0       Bread", "0       Milk", "0       Butter", "0       Eggs"), names); len(got) != 0 {
		t.Errorf("marks are cells: %v", got)
	}
}
