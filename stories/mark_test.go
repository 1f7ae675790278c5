//go:build unix

package stories

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // pages and photographs
	_ "image/png"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// A mark is a number in black and white blocks near the lower edge of a picture, by which the service recognises it however it
// was encoded, scaled or turned grey.
const (
	markLeft, markTop     = 0.10, 0.90 // of the picture
	markRight, markBottom = 0.90, 0.94
	markCells             = 28 // two to begin, 16 of the number, 8 to check it, two to end
)

// cellsOf are the blocks of a mark, true for black.
func cellsOf(n int) (cells [markCells]bool) {
	word := 0b10<<26 | n<<10 | checkOf(n)<<2 | 0b01
	for i := range cells {
		cells[i] = word>>(markCells-1-i)&1 == 1
	}
	return cells
}

func checkOf(n int) int { return (n*37 ^ n>>8 ^ 0xA5) & 0xFF }

// placed returns where a cell is in a picture of a size.
func placed(i int, width, height float64) pdftest.Rule {
	step := (markRight - markLeft) * width / markCells
	return pdftest.Rule{X0: markLeft*width + float64(i)*step, Y0: markTop * height, X1: markLeft*width + float64(i+1)*step, Y1: markBottom * height}
}

// markPage puts a mark onto the last page of a PDF, whose size is in points.
func markPage(b *pdftest.Builder, n int, width, height float64) {
	var black []pdftest.Rule
	for i, is := range cellsOf(n) {
		if is {
			black = append(black, placed(i, width, height))
		}
	}
	b.Fill(1, pdftest.Rule{X0: 0.08 * width, Y0: 0.89 * height, X1: 0.92 * width, Y1: 0.95 * height}).Fill(0, black...)
}

// markPicture puts a mark onto a picture.
func markPicture(img draw.Image, n int) {
	width, height := float64(img.Bounds().Dx()), float64(img.Bounds().Dy())
	for i, is := range cellsOf(n) {
		at, shade := placed(i, width, height), image.White
		if is {
			shade = image.Black
		}
		draw.Draw(img, image.Rect(int(at.X0), int(at.Y0), int(at.X1), int(at.Y1)), shade, image.Point{}, draw.Src)
	}
}

// readMark returns the number on a picture, false when there is none.
func readMark(data []byte) (n int, ok bool) {
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return 0, false
	}
	shades := [markCells]int{}
	for i := range shades {
		shades[i] = shadeOf(img, placed(i, float64(img.Bounds().Dx()), float64(img.Bounds().Dy())))
	}
	limit := (shades[0] + shades[1]) / 2
	word := 0
	for _, shade := range shades {
		word <<= 1
		if shade < limit {
			word |= 1
		}
	}
	n = word >> 10 & 0xFFFF
	return n, word>>26 == 0b10 && word&0b11 == 0b01 && word>>2&0xFF == checkOf(n) && shades[1]-shades[0] > 60
}

// shadeOf is the mean shade of the middle of a block.
func shadeOf(img image.Image, at pdftest.Rule) int {
	sum, count := 0, 0
	w, h := at.X1-at.X0, at.Y1-at.Y0
	for y := int(at.Y0 + 0.3*h); y <= int(at.Y1-0.3*h); y++ {
		for x := int(at.X0 + 0.3*w); x <= int(at.X1-0.3*w); x++ {
			sum += int(color.GrayModel.Convert(img.At(img.Bounds().Min.X+x, img.Bounds().Min.Y+y)).(color.Gray).Y)
			count++
		}
	}
	return sum / max(count, 1)
}

func TestMark_survives(t *testing.T) {
	t.Parallel()
	for n, size := range map[int][2]int{0: {1240, 1755}, 1: {300, 200}, 1234: {640, 480}, 65535: {2000, 900}} {
		for _, kind := range []string{"jpg", "png"} {
			if got, ok := readMark(photo(n, size[0], size[1], kind)); !ok || got != n {
				t.Errorf("mark %d on %v as %s is read as %d, %v", n, size, kind, got, ok)
			}
		}
	}
	if n, ok := readMark(pdftest.Photo(640, 480, "Nothing is marked here.")); ok {
		t.Errorf("a picture without a mark is read as %d", n)
	}
}
