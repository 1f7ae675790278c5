package mupdf

import (
	"encoding/base64"
	"image"
	_ "image/jpeg" // sizes of embedded pictures
	_ "image/png"  // likewise
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// readPicture computes the place of a picture. MuPDF writes the matrix for the pixels of the picture, turned about its
// middle as in CSS, so the size has to be read from the picture itself.
func readPicture(s string) (layout.Box, bool) {
	m := matrix.FindStringSubmatchIndex(s)
	if m == nil {
		return layout.Box{}, false
	}
	parts := strings.Split(s[m[2]:m[3]], ",")
	if len(parts) != 6 {
		return layout.Box{}, false
	}
	var k [6]float64
	for i, part := range parts {
		k[i] = number(strings.TrimSpace(part))
	}
	data, _, _ := strings.Cut(s[m[1]:], `"`)
	size, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, io.LimitReader(strings.NewReader(data), 1<<20)))
	if err != nil {
		return layout.Box{}, false
	}
	w, h := float64(size.Width), float64(size.Height)
	var box layout.Box
	for i, corner := range [4][2]float64{{-w / 2, -h / 2}, {w / 2, -h / 2}, {-w / 2, h / 2}, {w / 2, h / 2}} {
		x := k[0]*corner[0] + k[2]*corner[1] + w/2 + k[4]
		y := k[1]*corner[0] + k[3]*corner[1] + h/2 + k[5]
		if i == 0 {
			box = layout.Box{X0: x, Y0: y, X1: x, Y1: y}
		}
		box = layout.Box{X0: min(box.X0, x), Y0: min(box.Y0, y), X1: max(box.X1, x), Y1: max(box.Y1, y)}
	}
	return box, true
}
