package pdftest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

const scanDPI = 200

type picture struct {
	width, height int
	filter        string
	data          []byte
}

// scanned draws lines of 12 points as a scanner would see them on a page of the builder's size.
func scanned(b *Builder, lines []string, seed uint64) *picture {
	img := Drawing(int(b.width*b.scanDPI/72), int(b.height*b.scanDPI/72), b.scanDPI, lines...)
	soil(img, seed)
	p := &picture{width: img.Rect.Dx(), height: img.Rect.Dy()}
	if b.lossless {
		p.filter, p.data = "FlateDecode", deflated(img.Pix)
	} else {
		p.filter, p.data = "DCTDecode", encode(img)
	}
	return p
}

// Photo gives a JPEG file with lines of text, as a camera would make one of a page.
func Photo(width, height int, lines ...string) []byte {
	img := Drawing(width, height, scanDPI, lines...)
	soil(img, 7)
	return encode(img)
}

// Drawing draws lines of 12 points black on white at a resolution.
func Drawing(width, height int, dpi float64, lines ...string) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // the font is part of the module
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 12, DPI: dpi, Hinting: font.HintingFull})
	if err != nil {
		panic(err)
	}
	pen := font.Drawer{Dst: img, Src: image.Black, Face: face}
	left, step := int(dpi), int(dpi*12*1.6/72)
	if left > width/10 {
		left = width / 10
	}
	for i, line := range lines {
		pen.Dot = fixed.P(left, left+(i+1)*step)
		pen.DrawString(line)
	}
	return img
}

// soil greys the paper and adds grain, the same for the same seed.
func soil(img *image.Gray, seed uint64) {
	state := seed*0x9E3779B97F4A7C15 + 1
	for i, v := range img.Pix {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		img.Pix[i] = uint8(16 + int(v)*222/255 + int(state>>60))
	}
	for i := range 40 { // specks
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		x, y := int(state%uint64(img.Rect.Dx())), int((state>>20)%uint64(img.Rect.Dy()))
		img.SetGray(x, y, color.Gray{Y: uint8(40 + i)})
	}
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

func encode(img image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 80}); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// Bitmap gives a Windows bitmap in black and white with run-length encoding, a form that not every reader knows.
func Bitmap(img *image.Gray) []byte {
	const head, runLength8 = 14 + 40 + 8, 1
	var runs []byte
	for y := img.Rect.Dy() - 1; y >= 0; y-- { // from the bottom up
		runs = append(runs, runsOf(img.Pix[y*img.Stride:][:img.Rect.Dx()])...)
		runs = append(runs, 0, 0) // end of line
	}
	runs = append(runs, 0, 1) // end of picture
	b := append([]byte("BM"), make([]byte, head-2)...)
	for at, v := range map[int]int{
		2: head + len(runs), 10: head, 14: 40, 18: img.Rect.Dx(), 22: img.Rect.Dy(), 26: 1 | 8<<16, 30: runLength8, 34: len(runs), 46: 2, 58: 0xffffff,
	} {
		binary.LittleEndian.PutUint32(b[at:], uint32(v))
	}
	return append(b, runs...)
}

// runsOf writes a line as pairs of a length and a colour.
func runsOf(line []uint8) []byte {
	var out []byte
	for i := 0; i < len(line); {
		n, colour := 1, line[i]>>7
		for i+n < len(line) && n < 255 && line[i+n]>>7 == colour {
			n++
		}
		out, i = append(out, byte(n), colour), i+n
	}
	return out
}
