package pagepng

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/bits"
	"sync"

	"github.com/vaultflow/vaultflow/ingestion/worker/pagepng/deflate"
)

// The types of colour (W3C PNG, third edition, section 11.2.1).
const (
	greyscale = 0
	truecolor = 2
	indexed   = 3
)

// Encode returns the picture as PNG, and a colour may differ by 1 of 255 where that makes a palette possible. Grey, palette and opaque pictures
// that [Reduce] returns are written here; the standard library writes all others.
func Encode(img image.Image) ([]byte, error) {
	if many, ok := img.(*image.RGBA); ok {
		if few := nearPalette(many); few != nil {
			img = few
		}
	}
	e, ok := encoderOf(img)
	if !ok {
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
			return nil, fmt.Errorf("encode as PNG: %w", err)
		}
		return b.Bytes(), nil
	}
	return e.encode(), nil
}

// encoder writes one picture.
type encoder struct {
	width, height int
	colour        byte
	depth         int // bits of a sample
	pixel         int // samples of a pixel
	palette       color.Palette
	line          func(to []byte, y int) // writes the samples of a line
}

// encoderOf returns how to write a picture, and false for one that is not written here.
func encoderOf(img image.Image) (encoder, bool) {
	e := encoder{width: img.Bounds().Dx(), height: img.Bounds().Dy(), depth: 8, pixel: 1}
	switch img := img.(type) {
	case *image.Gray:
		e.colour = greyscale
		e.line = func(to []byte, y int) { copy(to, img.Pix[y*img.Stride:]) }
	case *image.Paletted:
		e.colour, e.palette = indexed, img.Palette
		e.depth = depthOf(len(img.Palette))
		e.line = func(to []byte, y int) { pack(to, img.Pix[y*img.Stride:][:e.width], e.depth) }
	case *image.RGBA:
		e.colour, e.pixel = truecolor, 3
		e.line = func(to []byte, y int) { dropAlpha(to, row(img, y)) }
		if !isOpaque(img) {
			return e, false
		}
	default:
		return e, false
	}
	return e, e.width > 0 && e.height > 0 && len(e.palette) <= 256 && (e.colour != indexed || len(e.palette) > 0)
}

// isOpaque reports whether the paper behind the picture shows nowhere.
func isOpaque(img *image.RGBA) bool {
	all := uint64(opaque<<32 | opaque) // two pixels
	for y := range img.Rect.Dy() {
		line := row(img, y)
		for ; len(line) >= 8; line = line[8:] {
			all &= binary.LittleEndian.Uint64(line) | 0x0100000001000000
		}
		if len(line) > 0 {
			all &= uint64(colourAt(line, 0)) | opaque<<32
		}
	}
	return all == opaque<<32|opaque
}

// depthOf returns how many bits an index needs: 1, 2, 4 or 8.
func depthOf(colours int) int {
	return 1 << bits.Len(uint(bits.Len(uint(max(colours, 2)-1))-1)) //nolint:gosec // positive
}

// pack writes indices with that many bits each, the first in the highest bits.
func pack(to, indices []byte, depth int) {
	if depth == 8 {
		copy(to, indices)
		return
	}
	clear(to)
	each := 8 / depth
	for x, v := range indices {
		to[x/each] |= v << (8 - depth - x%each*depth)
	}
}

// dropAlpha copies red, green and blue.
func dropAlpha(to, from []byte) {
	for ; len(to) >= 4; from, to = from[4:], to[3:] {
		binary.LittleEndian.PutUint32(to, binary.LittleEndian.Uint32(from)) // the next pixel overwrites the alpha
	}
	copy(to, from[:3])
}

func (e encoder) encode() []byte {
	var out bytes.Buffer
	out.Grow(e.width*e.height/16 + 1024)
	out.WriteString("\x89PNG\r\n\x1a\n")
	head := binary.BigEndian.AppendUint32(nil, uint32(e.width))         //nolint:gosec // positive, and pictures are limited
	head = binary.BigEndian.AppendUint32(head, uint32(e.height))        //nolint:gosec // likewise
	chunk(&out, "IHDR", append(head, byte(e.depth), e.colour, 0, 0, 0)) //nolint:gosec // at most 8
	if e.colour == indexed {
		colours := make([]byte, 0, 3*len(e.palette))
		for _, c := range e.palette {
			r, g, b, _ := c.RGBA()
			colours = append(colours, byte(r>>8), byte(g>>8), byte(b>>8)) //nolint:gosec // 16 bits each
		}
		chunk(&out, "PLTE", colours)
	}
	begin := out.Len()
	out.WriteString("\x00\x00\x00\x00IDAT")
	e.compress(&out)
	data := out.Bytes()[begin:]
	binary.BigEndian.PutUint32(data, uint32(len(data)-8)) //nolint:gosec // the picture is in memory
	out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data[4:])))
	chunk(&out, "IEND", nil)
	return out.Bytes()
}

// chunk writes a chunk: length, type, data, checksum (section 5.3).
func chunk(out *bytes.Buffer, kind string, data []byte) {
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data)))) //nolint:gosec // short
	begin := out.Len()
	out.WriteString(kind)
	out.Write(data)
	out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(out.Bytes()[begin:])))
}

// compress writes the lines, each behind the number of its filter, which is always none: runs of flat colour compress best as they are.
func (e encoder) compress(out *bytes.Buffer) {
	z := writers.Get().(*deflate.Writer) //nolint:forcetypeassert // the pool holds nothing else
	defer writers.Put(z)
	z.Reset(out.AvailableBuffer(), 1+(e.width*e.pixel*e.depth+7)/8, e.pixel)
	for y := range e.height {
		line := z.Line()
		line[0] = 0
		e.line(line[1:], y)
	}
	out.Write(z.Close())
}

var writers = sync.Pool{New: func() any { return new(deflate.Writer) }}
