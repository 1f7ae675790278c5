package phototest

import (
	"image"
	"image/draw"
	"math/rand/v2"
	"strings"

	"github.com/go-fonts/liberation/liberationsansregular"
	"github.com/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The page is a sheet of A5 at 300 dpi. A photograph shows it at 120 to 280 dpi.
const (
	pageWidth, pageHeight = 1748, 2480
	margin                = 190
)

var fonts = []struct {
	name string
	data []byte
}{
	{"Liberation Serif", liberationserifregular.TTF},
	{"Liberation Sans", liberationsansregular.TTF},
	{"Go Regular", goregular.TTF},
	{"Go Medium", gomedium.TTF},
	{"Go Mono", gomono.TTF},
}

// typeset sets a text on a page, and returns it as it is printed, line by line. What does not fit is left out of both.
func typeset(random *rand.Rand, w *writing) (*image.Gray, string, error) {
	chosen := fonts[random.IntN(len(fonts))]
	w.font = chosen.name
	size := 9.5 + 2.5*random.Float64()
	if chosen.name == "Go Mono" {
		size = min(size, 10)
	}
	parsed, err := opentype.Parse(chosen.data)
	if err != nil {
		return nil, "", err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 300})
	if err != nil {
		return nil, "", err
	}
	title, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size * 1.4, DPI: 300})
	if err != nil {
		return nil, "", err
	}
	img := image.NewGray(image.Rect(0, 0, pageWidth, pageHeight))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	pen := &font.Drawer{Dst: img, Src: image.Black, Face: title}
	step := int(size * 300 / 72 * 1.5)
	y := margin + step
	var printed []string
	put := func(line string) {
		pen.Dot = fixed.P(margin, y)
		pen.DrawString(line)
		printed, y = append(printed, line), y+step
	}
	put(w.title)
	pen.Face, y = face, y+step
	for _, paragraph := range w.paragraphs {
		lines := broken(pen, paragraph, pageWidth-2*margin)
		if y+len(lines)*step > pageHeight-margin {
			break
		}
		if !w.listed {
			printed = append(printed, "")
		}
		for _, line := range lines {
			put(line)
		}
		if !w.listed {
			y += step / 2
		}
	}
	return img, strings.Join(printed, "\n"), nil
}

// broken breaks a paragraph into lines of at most this width in pixels.
func broken(pen *font.Drawer, paragraph string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(paragraph) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && pen.MeasureString(longer).Ceil() > width {
			lines, longer = append(lines, line), word
		}
		line = longer
	}
	return append(lines, line)
}
