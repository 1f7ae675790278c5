package pdftest

import (
	"bytes"
	"encoding/binary"
	"image"
)

// Tags of TIFF 6.0 that a grey picture needs, and their order.
const (
	tiffWidth       = 256
	tiffHeight      = 257
	tiffBits        = 258
	tiffCompression = 259
	tiffPhotometric = 262
	tiffStrip       = 273
	tiffOrientation = 274
	tiffRows        = 278
	tiffStripSize   = 279
)

// TIFF gives a file with a page for each picture, as fax machines and scanners make them. It is not compressed.
func TIFF(orientation int, pages ...*image.Gray) []byte {
	var out bytes.Buffer
	out.WriteString("II*\x00")
	link := out.Len() // where the place of the next directory is written
	out.Write(make([]byte, 4))
	for _, img := range pages {
		strip := out.Len()
		out.Write(img.Pix)
		if out.Len()%2 == 1 {
			out.WriteByte(0)
		}
		binary.LittleEndian.PutUint32(out.Bytes()[link:], uint32(out.Len())) //nolint:gosec // small files
		link = putDirectory(&out, [][2]int{
			{tiffWidth, img.Rect.Dx()},
			{tiffHeight, img.Rect.Dy()},
			{tiffBits, 8},
			{tiffCompression, 1},
			{tiffPhotometric, 1},
			{tiffStrip, strip},
			{tiffOrientation, orientation},
			{tiffRows, img.Rect.Dy()},
			{tiffStripSize, len(img.Pix)},
		})
	}
	return out.Bytes()
}

// putDirectory writes the entries of a page and gives the place of its link to the next one.
func putDirectory(out *bytes.Buffer, entries [][2]int) (link int) {
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(entries))) //nolint:gosec // a handful
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0])) //nolint:gosec // a constant
		b = binary.LittleEndian.AppendUint16(b, 4)            // LONG
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(b, uint32(e[1])) //nolint:gosec // sizes of small pictures
	}
	out.Write(b)
	out.Write(make([]byte, 4))
	return out.Len() - 4
}
