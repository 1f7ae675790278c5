package ocr

import (
	"image"
	"image/color"
	"image/draw"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
)

func TestWritten_putsTablesInTheirPlace(t *testing.T) {
	t.Parallel()
	words := set(0, []string{"The committee met in March."})
	at := func(text string, x, row int) {
		words = append(words, Word{Text: text, Confidence: 90, Rect: image.Rect(x, 200+40*row, x+12*len(text), 222+40*row), Block: 2, Line: row})
	}
	for row, cells := range [][3]string{{"Item", "2023", "2024"}, {"Rent", "410", ""}, {"Energy", "", "912"}, {"Travel", "120", "95"}} {
		for c, text := range cells {
			if text != "" {
				at(text, 50+250*c, row)
			}
		}
	}
	words = append(words, Word{Text: "Thanks", Rect: image.Rect(50, 450, 122, 472), Block: 3})
	want := "The committee met in March.\n\n| Item | 2023 | 2024 |\n| --- | --- | --- |\n| Rent | 410 |  |\n| Energy |  | 912 |\n| Travel | 120 | 95 |\n\nThanks"
	var unread []image.Rectangle
	marks := func() []image.Rectangle { return unread }
	if got, doubts := written(words, nil, marks); got != want || len(doubts) > 0 {
		t.Errorf("%q, %v", got, doubts)
	}
	unread = []image.Rectangle{image.Rect(560, 240, 572, 262)} // in the empty cell of the rent
	if _, doubts := written(words, nil, marks); !doubt.Has(doubts, doubt.Table) {
		t.Errorf("an empty cell that is not empty: %v", doubts)
	}
	for i := range words {
		words[i].Confidence = 50 // as of the signs of a diagram
	}
	if got, doubts := written(words, nil, marks); strings.Contains(got, "|") || !doubt.Has(doubts, doubt.Table) {
		t.Errorf("badly read: %q, %v", got, doubts)
	}
}

// Letters are 12 high and the rules of the grid 2 thick. A heading has strokes that are as long as those of small cells.
func TestRulesIn_findGrids(t *testing.T) {
	t.Parallel()
	img := image.NewGray(image.Rect(0, 0, 900, 600))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	ink := func(r image.Rectangle) { draw.Draw(img, r, image.Black, image.Point{}, draw.Src) }
	for x := range 60 {
		ink(image.Rect(60+13*x, 500, 68+13*x, 512))
	}
	for i := range 4 {
		ink(image.Rect(100, 200+40*i, 702, 202+40*i))
		ink(image.Rect(100+200*i, 200, 102+200*i, 322))
	}
	ink(image.Rect(100, 20, 104, 120)) // a large E
	for i := range 3 {
		ink(image.Rect(100, 20+48*i, 150, 24+48*i))
	}
	rules, high := rulesIn(img)
	grid := inGrids(rules, high)
	if high != 12 || len(grid) != 8 {
		t.Fatalf("letters %d high, %d rules, %d in grids", high, len(rules), len(grid))
	}
	clean := without(img, grid, high)
	for _, p := range []image.Point{{300, 201}, {301, 260}, {701, 300}} {
		if clean.At(p.X, p.Y) != (color.Gray{Y: 255}) {
			t.Errorf("%v is still ink", p)
		}
	}
	for _, p := range []image.Point{{102, 60}, {120, 70}, {62, 505}} {
		if clean.At(p.X, p.Y) != (color.Gray{Y: 0}) {
			t.Errorf("%v of a letter is gone", p)
		}
	}
	if img.GrayAt(300, 201).Y != 0 {
		t.Error("the picture itself was changed")
	}
}
