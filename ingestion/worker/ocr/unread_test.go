package ocr

import (
	"image"
	"image/draw"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
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
	second := Word{Text: "The", Rect: image.Rect(80, 190, 450, 225)}
	for name, c := range map[string]struct {
		img   *image.Gray
		words []Word
		want  int
	}{
		"none read": {page, nil, 2}, "one read": {page, []Word{first}, 1}, "all read": {page, []Word{first, second}, 0},
		"a form": {form, nil, 0}, "noise": {pdftest.Noise(900, 700, 3), nil, 0}, "a pixel": {image.NewGray(image.Rect(0, 0, 1, 1)), nil, 0},
	} {
		if got := unreadRows(c.img, c.words); len(got) != c.want {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
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
