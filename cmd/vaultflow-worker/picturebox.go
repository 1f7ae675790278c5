package main

import (
	"encoding/base64"
	"image"
	_ "image/jpeg" // sizes of embedded pictures
	_ "image/png"  // likewise
	"io"
	"strings"
)

// readPicture computes where a picture stands. MuPDF writes the matrix for the pixels of the picture, turning about its
// middle as CSS does, so that the size has to be read from the picture itself.
func readPicture(s string) (pictureBox, bool) {
	m := matrix.FindStringSubmatchIndex(s)
	if m == nil {
		return pictureBox{}, false
	}
	parts := strings.Split(s[m[2]:m[3]], ",")
	if len(parts) != 6 {
		return pictureBox{}, false
	}
	var k [6]float64
	for i, part := range parts {
		k[i] = number(strings.TrimSpace(part))
	}
	data, _, _ := strings.Cut(s[m[1]:], `"`)
	size, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, io.LimitReader(strings.NewReader(data), 1<<20)))
	if err != nil {
		return pictureBox{}, false
	}
	w, h := float64(size.Width), float64(size.Height)
	var box pictureBox
	for i, corner := range [4][2]float64{{-w / 2, -h / 2}, {w / 2, -h / 2}, {-w / 2, h / 2}, {w / 2, h / 2}} {
		x := k[0]*corner[0] + k[2]*corner[1] + w/2 + k[4]
		y := k[1]*corner[0] + k[3]*corner[1] + h/2 + k[5]
		if i == 0 {
			box = pictureBox{x, y, x, y}
		}
		box = pictureBox{min(box.x0, x), min(box.y0, y), max(box.x1, x), max(box.y1, y)}
	}
	return box, true
}

// cover gives the share of the page that pictures cover, counting what lies under two of them once.
func cover(width, height float64, boxes []pictureBox) float64 {
	const cells = 64
	covered := 0
	for row := range cells {
		for column := range cells {
			x, y := (float64(column)+0.5)*width/cells, (float64(row)+0.5)*height/cells
			for _, b := range boxes {
				if x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1 {
					covered++
					break
				}
			}
		}
	}
	return float64(covered) / (cells * cells)
}
