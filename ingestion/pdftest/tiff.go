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

// Compressions of TIFF.
const (
	tiffPlain = 1
	tiffJPEG  = 7
)

// TIFF gives a file with a page for each picture, as fax machines and scanners make them. It is not compressed.
func TIFF(orientation int, pages ...*image.Gray) []byte {
	t := newTIFF()
	for _, img := range pages {
		t.add(img.Rect.Dx(), img.Rect.Dy(), tiffPlain, orientation, img.Pix)
	}
	return t.Bytes()
}

// JPEGInTIFF gives a file with one page that is a grey JPEG, as newer scanners make them.
func JPEGInTIFF(width, height int, lines ...string) []byte {
	t := newTIFF()
	t.add(width, height, tiffJPEG, 1, Photo(width, height, lines...))
	return t.Bytes()
}

// tiffFile is a TIFF that grows by pages.
type tiffFile struct {
	bytes.Buffer
	link int // where the place of the next directory is to be written
}

func newTIFF() *tiffFile {
	t := &tiffFile{link: 4}
	t.WriteString("II*\x00\x00\x00\x00\x00")
	return t
}

func (t *tiffFile) add(width, height, compression, orientation int, data []byte) {
	strip := t.Len()
	t.Write(data)
	if t.Len()%2 == 1 {
		t.WriteByte(0)
	}
	binary.LittleEndian.PutUint32(t.Bytes()[t.link:], uint32(t.Len()))
	t.putDirectory([][2]int{
		{tiffWidth, width},
		{tiffHeight, height},
		{tiffBits, 8},
		{tiffCompression, compression},
		{tiffPhotometric, 1},
		{tiffStrip, strip},
		{tiffOrientation, orientation},
		{tiffRows, height},
		{tiffStripSize, len(data)},
	})
}

// putDirectory writes the entries of a page, and after them the link to the next one.
func (t *tiffFile) putDirectory(entries [][2]int) {
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(entries)))
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, 4) // LONG
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(b, uint32(e[1]))
	}
	t.Write(b)
	t.link = t.Len()
	t.Write(make([]byte, 4))
}
