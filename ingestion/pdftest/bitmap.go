package pdftest

import (
	"encoding/binary"
	"image"
)

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
