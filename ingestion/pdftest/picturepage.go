package pdftest

import (
	"fmt"
	"image"
	"image/color"
)

// PicturePage adds a page that is a picture without loss and has no text; the page has the picture's size at a resolution.
func (b *Builder) PicturePage(img *image.Gray, dpi float64) *Builder {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	was := [2]float64{b.width, b.height}
	b.width, b.height = float64(width)*72/dpi, float64(height)*72/dpi
	b.add(&page{
		content: fmt.Sprintf("q %g 0 0 %g 0 0 cm /Im0 Do Q\n", b.width, b.height),
		picture: &picture{width: width, height: height, filter: "FlateDecode", data: deflated(img.Pix)},
	})
	b.width, b.height = was[0], was[1]
	return b
}

// OutlinePage adds a page on which lines of text are drawn as shapes: there are no characters and no picture in it.
func (b *Builder) OutlinePage(lines ...string) *Builder {
	const dpi = 200
	img := Drawing(int(b.width*dpi/72), int(b.height*dpi/72), dpi, lines...)
	content := []byte("0 g\n")
	for y := range img.Rect.Dy() {
		for x := 0; x < img.Rect.Dx(); x++ {
			from := x
			for x < img.Rect.Dx() && img.GrayAt(x, y).Y < 128 {
				x++
			}
			if x > from {
				content = fmt.Appendf(content, "%.2f %.2f %.2f %.2f re\n", float64(from)*72/dpi, b.height-float64(y+1)*72/dpi, float64(x-from)*72/dpi, 72.0/dpi)
			}
		}
	}
	return b.add(&page{content: string(append(content, "f\n"...))})
}

// NumberedPage adds a page with nothing but a number in its lower margin.
func (b *Builder) NumberedPage(number string) *Builder {
	return b.add(&page{content: fmt.Sprintf("BT /F1 9 Tf %g 24 Td %s Tj ET\n", b.width/2, literal(number))})
}

// Noise gives a picture without any text: clouds with a fine structure, the same for the same seed.
func Noise(width, height int, seed uint64) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, width, height))
	state := seed*0x9E3779B97F4A7C15 + 1
	next := func() int {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return int(state >> 33)
	}
	for range width * height / 300 {
		x, y, r, shade := next()%width, next()%height, 2+next()%18, uint8(next())
		for dy := -r; dy <= r; dy++ {
			for dx := -r; dx <= r; dx++ {
				if dx*dx+dy*dy <= r*r {
					img.SetGray(x+dx, y+dy, color.Gray{Y: shade})
				}
			}
		}
	}
	return img
}
