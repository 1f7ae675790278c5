package main

import (
	"fmt"
	"image"
	"image/draw"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// The cells of a ruled calendar that was scanned with 300 dpi are read, and not taken for rules because their letters are large. If
// Tesseract is told 70 dpi, it reads next to nothing of it.
func TestWorker_readsRuledCells(t *testing.T) {
	t.Parallel()
	const wide, high, thick = 460, 300, 5
	page := image.NewGray(image.Rect(0, 0, 7*wide+200, 5*high+200))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	names := []string{"Dentist", "School closed", "Piano lesson", "Birthday", "Library", "Football", "Shopping"}
	var want []string
	for day := range 35 {
		at := image.Pt(100+day%7*wide, 100+day/7*high)
		cell := image.Rectangle{Min: at, Max: at.Add(image.Pt(wide+thick, high+thick))}
		draw.Draw(page, cell, image.Black, image.Point{}, draw.Src)
		draw.Draw(page, cell.Inset(thick), image.White, image.Point{}, draw.Src)
		lines := []string{fmt.Sprint(day + 10)}
		if day%3 > 0 {
			lines = append(lines, names[day%7])
		}
		want = append(want, lines...)
		text := pdftest.Drawing(wide*4, high*2, 300, lines...)
		draw.Draw(page, cell.Inset(2*thick), text, image.Pt(inkLeft(text)-10, 150), draw.Src)
	}
	got, read := " "+strings.Join(strings.Fields(read(t, encoded(t, page)).Text), " ")+" ", 0
	for _, text := range want {
		if strings.Contains(got, text) {
			read++
		}
	}
	if read < len(want)-2 {
		t.Errorf("%d of %d entries were read:\n%s", read, len(want), got)
	}
}

// inkLeft returns where the first letter of a drawing begins.
func inkLeft(img *image.Gray) int {
	for x := range img.Rect.Dx() {
		for y := range img.Rect.Dy() {
			if img.GrayAt(x, y).Y < 128 {
				return x
			}
		}
	}
	return 0
}
