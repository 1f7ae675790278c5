package main

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// A formula that cannot be written in LaTeX is marked above its text, and can be drawn by itself.
func TestWorker_drawsFormulas(t *testing.T) {
	t.Parallel()
	data := pdftest.New().PlacedPage([]pdftest.Placed{
		{Text: "The two sides of a river are equal in the following sense, which everybody knows:", X: 72, Y: 100},
		{Text: "a ~ b = c + d(x)", X: 200, Y: 130, Mono: true},
		{Text: "where the letters are what they were in the chapter before this one.", X: 72, Y: 160},
	}, nil).Bytes()
	data = bytes.ReplaceAll(data, []byte("/BaseFont /Courier "), []byte("/BaseFont  /CMMI10 ")) // of the same length, since the file's table counts bytes
	s, _ := opened(t, data, extract.KindPDF)
	text := ask(t, s, extract.PageRequest{N: 1, Text: true, Formulas: true}).Text
	inTurn(t, text.Markdown, "$", "everybody knows:\n\n\uFFFC\n\na ~ b = c + d(x)\n\nwhere the letters")
	if strings.Contains(text.Plain, "\uFFFC") || len(text.Formulas) != 1 {
		t.Fatalf("formulas at %v in\n%s", text.Formulas, text.Plain)
	}
	if plain := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text; strings.Contains(plain.Markdown, "\uFFFC") || plain.Formulas != nil || !strings.Contains(plain.Markdown, "knows:\n\na ~ b") {
		t.Errorf("nobody asked for formulas at %v in\n%s", plain.Formulas, plain.Markdown)
	}
	got := ask(t, s, extract.PageRequest{N: 1, Image: true, DPI: 72, Rect: &text.Formulas[0], Displayed: true, Format: "png"}).Image
	img, err := png.Decode(bytes.NewReader(got.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	ink := darkBox(greyPicture(img))
	if got.Width < 80 || got.Width > 160 || got.Height < 12 || got.Height > 40 || ink.Dx() < 50 || ink.Dy() < 6 || !ink.Inset(-1).In(img.Bounds()) {
		t.Errorf("a picture of %d × %d pixels with ink at %v", got.Width, got.Height, ink)
	}
}

// darkBox returns the box around the dark pixels.
func darkBox(img *image.Gray) (r image.Rectangle) {
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if img.GrayAt(x, y).Y < 128 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}
