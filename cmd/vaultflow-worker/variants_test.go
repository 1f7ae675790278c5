package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// oddTIFF is a TIFF of one strip: 32 by 16 pixels, all of the same sample values. Little-endian, as TIFF 6.0 says.
func oddTIFF(photometric, bits, samples, format int, strip []byte) []byte {
	const width, height, entries = 32, 16, 11
	order := binary.LittleEndian
	extra := 8 + 2 + entries*12 + 4 // the bits of each sample, which do not fit into the entry
	entry := func(tag, kind, count, value int) []byte {
		e := order.AppendUint16(nil, uint16(tag))
		e = order.AppendUint32(order.AppendUint16(e, uint16(kind)), uint32(count))
		return order.AppendUint32(e, uint32(value))
	}
	bitsAt := bits
	if samples > 2 {
		bitsAt = extra
	}
	out := append([]byte("II*\x00"), 8, 0, 0, 0)
	out = order.AppendUint16(out, entries)
	for _, e := range [][]byte{
		entry(256, 3, 1, width), entry(257, 3, 1, height), entry(258, 3, samples, bitsAt), entry(259, 3, 1, 1), entry(262, 3, 1, photometric),
		entry(273, 4, 1, extra+2*samples), entry(277, 3, 1, samples), entry(278, 3, 1, height), entry(279, 4, 1, len(strip)), entry(284, 3, 1, 1),
		entry(339, 3, 1, format),
	} {
		out = append(out, e...)
	}
	out = append(out, 0, 0, 0, 0)
	for range samples {
		out = order.AppendUint16(out, uint16(bits))
	}
	return append(out, strip...)
}

// oldBMP is a bitmap with the header of OS/2, 12 bytes, and a palette.
func oldBMP() []byte {
	order := binary.LittleEndian
	out := append([]byte("BM"), make([]byte, 12)...)
	out = order.AppendUint32(out, 12)
	for _, v := range []uint16{32, 16, 1, 8} {
		out = order.AppendUint16(out, v)
	}
	for i := range 256 {
		out = append(out, 0, 0, byte(i)) // blue, green, red
	}
	order.PutUint32(out[10:], uint32(len(out)))
	return append(out, bytes.Repeat([]byte{200}, 32*16)...)
}

// photoshopFile is a file of Photoshop with nothing but the picture that it keeps for others.
func photoshopFile(red, green, blue byte) []byte {
	out := append([]byte("8BPS\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03"), 0, 0, 0, 16, 0, 0, 0, 32, 0, 8, 0, 3)
	out = append(out, make([]byte, 4+4+4+2)...) // no palette, resources or layers; not compressed
	for _, v := range []byte{red, green, blue} {
		out = append(out, bytes.Repeat([]byte{v}, 32*16)...)
	}
	return out
}

// Pictures of kinds that Go's decoders do not know are drawn by MuPDF, in their size and colours.
func TestPicture_variants(t *testing.T) {
	t.Parallel()
	const pixels = 32 * 16
	for name, c := range map[string]struct {
		data    []byte
		r, g, b int // of every pixel
	}{
		"TIFF in CMYK":         {oddTIFF(5, 8, 4, 1, bytes.Repeat([]byte{0, 0, 0, 255}, pixels)), 35, 31, 32},
		"TIFF in 4-bit grey":   {oddTIFF(1, 4, 1, 1, bytes.Repeat([]byte{0x88}, pixels/2)), 0x88, 0x88, 0x88},
		"BMP of OS/2":          {oldBMP(), 200, 0, 0},
		"Photoshop":            {photoshopFile(10, 100, 200), 10, 100, 200},
		"PPM, a Netpbm format": {append([]byte("P6\n# made by hand\n32 16\n255\n"), bytes.Repeat([]byte{10, 100, 200}, pixels)...), 10, 100, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, doc := opened(t, c.data, extract.KindImage)
			got := ask(t, s, extract.PageRequest{N: 1, Image: true})
			img, _, err := image.Decode(bytes.NewReader(got.Image.Bytes))
			if err != nil || doc.Pages != 1 || img.Bounds() != image.Rect(0, 0, 32, 16) {
				t.Fatalf("%d pages, %v, %v", doc.Pages, img.Bounds(), err)
			}
			r, g, b, _ := img.At(16, 8).RGBA()
			if near(int(r>>8), c.r) > 12 || near(int(g>>8), c.g) > 12 || near(int(b>>8), c.b) > 12 {
				t.Errorf("a pixel of %d %d %d, want %d %d %d", r>>8, g>>8, b>>8, c.r, c.g, c.b)
			}
		})
	}
}

func near(a, b int) int { return max(a-b, b-a) }

// A picture of a pixel is smaller than a point, and still a picture.
func TestPicture_smallerThanAPoint(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, []byte("P3\n1 1\n255\n10 100 200\n"), extract.KindImage)
	if got := ask(t, s, extract.PageRequest{N: 1, Image: true}); got.Image == nil || got.Image.Width != 1 || got.Image.Height != 1 {
		t.Errorf("got %+v", got.Image)
	}
}

// What MuPDF would draw as noise, or half, or what is too large for a decoder, is refused.
func TestPicture_refuses(t *testing.T) {
	t.Parallel()
	const pixels = 32 * 16
	for name, c := range map[string]struct {
		data []byte
		code failure.Code
	}{
		"TIFF of floating numbers": {oddTIFF(1, 32, 1, 3, make([]byte, 4*pixels)), failure.Unsupported},
		"TIFF of signed numbers":   {oddTIFF(1, 16, 1, 2, make([]byte, 2*pixels)), failure.Unsupported},
		"TIFF that is torn":        {oddTIFF(1, 8, 1, 1, make([]byte, pixels))[:300], failure.Corrupt},
		"JPEG 2000 as large":       {[]byte("\x00\x00\x00\x0cjP  \r\n\x87\n\x00\x00\x00\x2djp2h\x00\x00\x00\x16ihdr\x00\x0f\x42\x40\x00\x0f\x42\x40\x00\x03\x07\x07\x00\x00"), failure.TooLarge},
		"JPEG 2000 without data":   {[]byte("\x00\x00\x00\x0cjP  \r\n\x87\n\x00\x00\x00\x2djp2h\x00\x00\x00\x16ihdr\x00\x00\x00\x40\x00\x00\x00\x40\x00\x03\x07\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), failure.Corrupt},
		"PPM of a million squared": {[]byte("P6\n1000000 1000000\n255\n123"), failure.TooLarge},
		"PPM without a size":       {[]byte("P6\n# nothing\n"), failure.Corrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, err := start(t, program(t), c.data, extract.KindImage)
			if err == nil {
				_, err = s.Page(t.Context(), extract.PageRequest{N: 1, Image: true})
			}
			e, ok := errors.AsType[*extract.Error](err)
			if !ok || e.Code != c.code {
				t.Error(fmt.Sprint("got ", err, ", want ", c.code))
			}
		})
	}
}
