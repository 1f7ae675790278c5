package ocr

import (
	"image"
	"image/draw"
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// passing is an engine that passes over the first line of a page, and reads it in a part of the page.
type passing struct {
	scripted
	lines []Word
}

func (p *passing) Recognise(img *image.Gray, _ []string, by Division) (words []Word, err error) {
	for i, w := range p.lines {
		if at := w.Rect.Intersect(img.Rect); at == w.Rect && (i > 0 || by == ByRows) {
			w.Rect = w.Rect.Sub(img.Rect.Min)
			words = append(words, w)
		}
	}
	return words, nil
}

// A line that Tesseract passed over is read by itself and comes before the line below it. One that cannot be read leaves a doubt. Letters of few
// pixels touch one another: they are letters all the same.
func TestRead_readsMissedLines(t *testing.T) {
	t.Parallel()
	for _, dpi := range []float64{100, 200} {
		img := pdftest.Drawing(int(8*dpi), int(3*dpi), dpi, "Greta Holm", "Lindenstrasse 4 in", "Berlin near the lake")
		rows := Rows(img, nil)
		if len(rows) != 3 {
			t.Fatalf("%v dpi: rows %v", dpi, rows)
		}
		slices.SortFunc(rows, func(a, b image.Rectangle) int { return a.Min.Y - b.Min.Y })
		engine := &passing{}
		for i, text := range []string{"Greta", "Lindenstrasse", "Berlin"} {
			engine.lines = append(engine.lines, Word{Text: text, Confidence: 95, Rect: rows[i], Block: 1, Paragraph: 1, Line: i + 1})
		}
		read := func() (string, bool) {
			got, err := NewReader(withTessdata(t, "eng"), func(string) Engine { return engine }).read(img, []string{"eng"})
			if err != nil {
				t.Fatal(err)
			}
			return got.Text, doubt.Has(got.Doubts, doubt.Recognition)
		}
		if text, doubtful := read(); text != "Greta\nLindenstrasse\nBerlin" || doubtful {
			t.Errorf("%v dpi: %q, doubtful: %v", dpi, text, doubtful)
		}
		engine.lines[0].Confidence = 30
		if text, doubtful := read(); text != "Lindenstrasse\nBerlin" || !doubtful {
			t.Errorf("%v dpi, hardly read: %q, doubtful: %v", dpi, text, doubtful)
		}
	}
}

// Letters that touch one another are as many as their marks are wide.
func TestUnreadRows_countsThoseThatTouch(t *testing.T) {
	t.Parallel()
	row := func(widths ...int) *image.Gray {
		img := image.NewGray(image.Rect(0, 0, 400, 100))
		draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
		x := 50
		for _, w := range widths {
			draw.Draw(img, image.Rect(x, 40, x+w, 53), image.Black, image.Point{}, draw.Src)
			x += w + 3
		}
		return img
	}
	for name, c := range map[string]struct {
		img  *image.Gray
		want int
	}{"a name of two words": {row(12, 25, 11, 26), 1}, "four letters": {row(12, 9, 11, 7), 0}, "boxes": {row(26, 26, 26, 26), 0}} {
		if got := unreadRows(c.img, []Word{{Rect: image.Rect(0, 80, 40, 93)}}); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A row that is level with a line, or has none above or below it, has no certain place.
func TestInserted_isSureOfThePlace(t *testing.T) {
	t.Parallel()
	line := func(text string, x, y int) Word {
		return Word{Text: text, Rect: image.Rect(x, y, x+100, y+20), Block: 1, Paragraph: 1, Line: y}
	}
	words := []Word{line("one", 0, 0), line("two", 0, 30), line("far", 0, 200)}
	for name, c := range map[string]struct {
		x, y int
		want string
	}{
		"between":       {0, 60, "one\ntwo\nnew\nfar"},
		"apart":         {50, 110, "one\ntwo\n\nnew\n\nfar"},
		"level":         {300, 30, ""},
		"beside no one": {300, 100, ""},
		"above":         {20, -30, "new\none\ntwo\nfar"},
	} {
		got, ok := inserted(words, []Word{line("new", c.x, c.y)}, line("", c.x, c.y).Rect, 9)
		if ok != (c.want != "") || ok && textOf(got) != c.want {
			t.Errorf("%s: %q, %v", name, textOf(got), ok)
		}
	}
}
