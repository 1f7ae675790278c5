package pagepng

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// sheet returns a white picture of the size with a function's colours in it.
func sheet(w, h int, at func(x, y int) color.RGBA) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, at(x, y))
		}
	}
	return img
}

// tinted returns a picture with this many colours, none of them grey.
func tinted(w, h, many int) *image.RGBA {
	return sheet(w, h, func(x, y int) color.RGBA {
		i := (y*w + x) % many
		return color.RGBA{R: uint8(i), G: uint8(i >> 8), B: uint8(255 - i%200), A: 255} //nolint:gosec // any colour will do
	})
}

func grey(x, y int) color.RGBA {
	v := uint8(x*7 ^ y*13) //nolint:gosec // likewise
	return color.RGBA{v, v, v, 255}
}

// What is written decodes to the same pixels, in the smallest of the forms that hold them.
func TestEncode_losesNothing(t *testing.T) {
	t.Parallel()
	translucent := sheet(9, 5, func(x, _ int) color.RGBA { return color.RGBA{A: uint8(x * 20)} }) //nolint:gosec // at most 180
	turned := tinted(70, 60, 99).SubImage(image.Rect(11, 7, 60, 41)).(*image.RGBA)
	for name, c := range map[string]struct {
		img  *image.RGBA
		form any
	}{
		"grey":               {sheet(33, 21, grey), &image.Gray{}},
		"one pixel":          {sheet(1, 1, grey), &image.Gray{}},
		"2 colours":          {tinted(17, 9, 2), &image.Paletted{}},
		"4 colours":          {tinted(17, 9, 4), &image.Paletted{}},
		"5 colours":          {tinted(18, 9, 5), &image.Paletted{}},
		"16 colours":         {tinted(19, 9, 16), &image.Paletted{}},
		"17 colours":         {tinted(40, 9, 17), &image.Paletted{}},
		"256 colours":        {tinted(40, 30, 256), &image.Paletted{}},
		"257 colours":        {sheet(257, 2, func(x, _ int) color.RGBA { return color.RGBA{uint8(x), uint8(x >> 8 * 9), uint8(x * 7), 255} }), &image.RGBA{}}, //nolint:gosec // any colour will do
		"part of a picture":  {turned, &image.Paletted{}},
		"translucent":        {translucent, &image.RGBA{}},
		"text":               {page(color.RGBA{A: 255}), &image.Gray{}},
		"grey, odd width":    {page(color.RGBA{A: 255}).SubImage(image.Rect(0, 0, 1233, 200)).(*image.RGBA), &image.Gray{}},
		"clear at first":     {sheet(48, 1, func(x, _ int) color.RGBA { return color.RGBA{A: uint8(x / 24 * 255)} }), &image.RGBA{}}, //nolint:gosec // 0 or 255
		"lines of one shade": {sheet(50, 50, func(_, y int) color.RGBA { return grey(1, y/9) }), &image.Gray{}},
	} {
		reduced := Reduce(c.img)
		if got, want := typeOf(reduced), typeOf(c.form); got != want {
			t.Errorf("%s: reduced to %s, want %s", name, got, want)
		}
		if !bytes.Equal(plain(encoded(t, reduced)), plain(c.img)) {
			t.Errorf("%s: other pixels", name)
		}
	}
}

// Of coloured print, which has hundreds of shades, each pixel is within 1 of 255, and paper and ink stay as they are.
func TestEncode_near(t *testing.T) {
	t.Parallel()
	paper, inks := color.RGBA{254, 253, 255, 255}, []color.RGBA{{A: 255}, {R: 200, G: 17, B: 30, A: 255}, {R: 3, G: 90, B: 201, A: 255}}
	img := sheet(600, 300, func(x, y int) color.RGBA {
		ink, v := inks[y/100], uint32(x%256) //nolint:gosec // below 256
		switch {
		case y%2 == 1 && x%5 == 0:
			return ink
		case y%2 == 1:
			return paper
		}
		mix := func(a, b uint8) uint8 { return uint8((uint32(a)*(255-v) + uint32(b)*v) / 255) } //nolint:gosec // a mean of bytes
		return color.RGBA{mix(ink.R, paper.R), mix(ink.G, paper.G), mix(ink.B, paper.B), 255}
	})
	if got := typeOf(Reduce(img)); got != "RGBA" {
		t.Fatalf("reduced to %s: too few colours for this test", got)
	}
	decoded := encoded(t, img)
	if got := typeOf(decoded); got != "palette" {
		t.Fatalf("written as %s", got)
	}
	if d := farthest(decoded, img); d != 1 {
		t.Errorf("a channel differs by %d", d)
	}
	for _, c := range append(inks, paper) {
		if !slices.Contains(decoded.(*image.Paletted).Palette, color.Color(c)) {
			t.Errorf("%v is not in the palette", c)
		}
	}
}

// A picture with colours that no 256 are near to keeps them all.
func TestEncode_notNear(t *testing.T) {
	t.Parallel()
	for name, img := range map[string]*image.RGBA{
		"far":      sheet(40, 30, func(x, y int) color.RGBA { return color.RGBA{uint8(x * 3), uint8(y * 3), 9, 255} }), //nolint:gosec // below 256
		"too many": sheet(90, 90, func(x, y int) color.RGBA { return color.RGBA{uint8(x), uint8(y), 9, 255} }),         //nolint:gosec // likewise
	} {
		if d := farthest(encoded(t, img), img); d != 0 {
			t.Errorf("%s: a channel differs by %d", name, d)
		}
	}
}

func encoded(t *testing.T, img image.Image) image.Image {
	t.Helper()
	data, err := Encode(img)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// farthest returns by how much a channel differs at most.
func farthest(a, b image.Image) (most int) {
	p, q := plain(a), plain(b)
	for i := range p {
		most = max(most, int(p[i])-int(q[i]), int(q[i])-int(p[i]))
	}
	return most
}

func typeOf(img any) string {
	switch img.(type) {
	case *image.Gray:
		return "grey"
	case *image.Paletted:
		return "palette"
	}
	return "RGBA"
}

func plain(img image.Image) []byte {
	out := image.NewNRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out.Pix
}

// MuPDF rounds the alpha of opaque pixels to 254 in transparency groups. Such a page is opaque, and still grey.
func TestReduce_roundedAlpha(t *testing.T) {
	t.Parallel()
	img := sheet(20, 20, grey)
	for i := 3; i < len(img.Pix); i += 12 {
		img.Pix[i] = 254
	}
	if got := typeOf(Reduce(img)); got != "grey" {
		t.Errorf("reduced to %s", got)
	}
	img = tinted(40, 30, 300)
	img.Pix[3] = 254
	if got := encoded(t, Reduce(img)); !slices.Equal(plain(got)[3:4], []uint8{255}) {
		t.Errorf("the first pixel is written with alpha %d", plain(got)[3])
	}
}

func FuzzEncode(f *testing.F) {
	f.Add(uint16(3), []byte("\x00\x00\x00\xff\x01\x01\x01\xff\x01\x02\x01\xff"))
	f.Add(uint16(1), []byte("\x00\x00\x00\xfe\xff\xff\xff\xff"))
	f.Add(uint16(2), []byte("\x07\x07\x07\xff\x07\x07\x07\xff\x07\x07\x08\xff"))
	f.Fuzz(func(t *testing.T, width uint16, pix []byte) {
		w := int(width%300) + 1
		img := image.NewRGBA(image.Rect(0, 0, w, max(1, len(pix)/4/w)))
		copy(img.Pix, pix)
		for i := range img.Pix {
			if i%4 == 3 {
				img.Pix[i] = 255
			}
		}
		data, err := Encode(Reduce(img))
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if d := farthest(decoded, img); d > 1 {
			t.Errorf("a channel differs by %d", d)
		}
	})
}

// page returns a page of text as a renderer draws it.
func page(ink color.RGBA) *image.RGBA {
	text := pdftest.Drawing(1240, 1754, 30, "the quick brown fox jumps over it")
	return sheet(text.Rect.Dx(), text.Rect.Dy(), func(x, y int) color.RGBA {
		v := uint32(text.GrayAt(x, y).Y)
		mix := func(c uint8) uint8 { return uint8((uint32(c)*(255-v) + 255*v) / 255) } //nolint:gosec // a mean of bytes
		return color.RGBA{mix(ink.R), mix(ink.G), mix(ink.B), 255}
	})
}

func BenchmarkEncode(b *testing.B) {
	for name, img := range map[string]*image.RGBA{
		"grey": page(color.RGBA{A: 255}), "palette": page(color.RGBA{B: 120, A: 255}), "colour": tinted(1240, 1754, 5000),
	} {
		b.Run(name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				data, err := Encode(Reduce(img))
				if err != nil {
					b.Fatal(err)
				}
				size = len(data)
			}
			b.ReportMetric(float64(size), "bytes")
		})
		b.Run(name+"/standard library", func(b *testing.B) {
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "bytes")
		})
	}
}

// A pixel through which the paper shows is seen wherever it is: pixels are looked at in pairs.
func TestIsOpaque(t *testing.T) {
	t.Parallel()
	for _, w := range []int{1, 2, 3, 8} {
		for x := range w {
			img := tinted(w, 3, 300)
			if !isOpaque(img) {
				t.Fatal("an opaque picture is not")
			}
			img.Pix[img.PixOffset(x, 2)+3] = 250
			if isOpaque(img) {
				t.Errorf("width %d, column %d: opaque", w, x)
			}
		}
	}
}
