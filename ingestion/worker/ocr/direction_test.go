package ocr

import (
	"image"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// inLine gives boxes of words that follow one another by a step.
func inLine(step image.Point, words ...string) []Word {
	at := image.Rect(1000, 1000, 1020, 1010)
	var out []Word
	for _, word := range words {
		out = append(out, Word{Text: word, Rect: at, Block: 1, Paragraph: 1, Line: 1})
		at = at.Add(step)
	}
	return out
}

func TestFacing_followsTheWords(t *testing.T) {
	t.Parallel()
	right, left, down, up := image.Pt(30, 2), image.Pt(-30, -2), image.Pt(-2, 30), image.Pt(2, -30)
	cases := map[string]struct {
		boxes []Word
		want  int
	}{
		"nothing":                {nil, 0},
		"one word":               {inLine(left, "a"), 0},
		"upright":                {inLine(right, "a", "b", "c"), 0},
		"on its head":            {inLine(left, "a", "b", "c"), 180},
		"turned right":           {inLine(down, "a", "b", "c"), 270},
		"turned left":            {inLine(up, "a", "b", "c"), 90},
		"hebrew upright":         {inLine(left, "שלום", "עולם", "טוב"), 0},
		"hebrew on its head":     {inLine(right, "שלום", "עולם", "טוב"), 180},
		"arabic, english before": {inLine(left, "abc", "مرحبا", "بالعالم"), 0},
		"japanese from the top":  {inLine(down, "日本", "語の", "本文"), 0},
		"no majority":            {append(inLine(right, "a", "b", "c"), inLine(up, "d", "e", "f")...), 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := facing(c.boxes); got != c.want {
				t.Errorf("turn by %d, want %d", got, c.want)
			}
		})
	}
}

func TestFacing_ignoresStepsBetweenLines(t *testing.T) {
	t.Parallel()
	boxes := inLine(image.Pt(-30, 0), "a", "b", "c")
	for i := range boxes {
		boxes[i].Line = i
	}
	if got := facing(boxes); got != 0 {
		t.Errorf("turn by %d, want 0", got)
	}
}

// A box has to move as the pixel under it does when the picture is turned.
func TestTurnRect_movesWithThePicture(t *testing.T) {
	t.Parallel()
	img := image.NewGray(image.Rect(0, 0, 7, 5))
	img.Pix[1*img.Stride+2] = 255
	spot, size := image.Rect(2, 1, 3, 2), img.Rect.Size()
	for degrees := 0; degrees < 360; degrees += 90 {
		if got := turnRect(spot, degrees, size); !got.In(img.Rect) || img.GrayAt(got.Min.X, got.Min.Y).Y != 255 || got.Size() != image.Pt(1, 1) {
			t.Errorf("by %d: %v, which is not the spot", degrees, got)
		}
		img = raster.Quarter(img)
	}
}
