package pdftest

import (
	"encoding/binary"
	"image"
)

// Bitmap gives a Windows bitmap of one bit a pixel, a form that not every reader knows.
func Bitmap(img *image.Gray) []byte {
	const head = 14 + 40 + 8
	w, h := img.Rect.Dx(), img.Rect.Dy()
	stride := (w + 31) / 32 * 4
	b := append([]byte("BM"), make([]byte, head-2+stride*h)...)
	for at, v := range map[int]int{2: len(b), 10: head, 14: 40, 18: w, 22: h, 26: 1 | 1<<16, 34: stride * h, 46: 2, 58: 0xffffff} {
		binary.LittleEndian.PutUint32(b[at:], uint32(v)) //nolint:gosec // sizes of small pictures
	}
	for y := range h {
		row := b[head+(h-1-y)*stride:] // from the bottom up
		for x := range w {
			if img.Pix[y*img.Stride+x] > 127 {
				row[x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	return b
}
