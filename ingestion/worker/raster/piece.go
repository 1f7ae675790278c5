package raster

import "image"

// Piece is a connected part of a mask.
type Piece struct {
	At  []int // places in the mask
	Box image.Rectangle
}

// TakePiece returns the piece of a mask that is at start, and removes it from the mask. Places that touch at a corner are connected.
func TakePiece(mask []bool, width, start int) (p Piece) {
	height := len(mask) / width
	mask[start] = false
	p.At = []int{start}
	for i := 0; i < len(p.At); i++ {
		x, y := p.At[i]%width, p.At[i]/width
		p.Box = p.Box.Union(image.Rect(x, y, x+1, y+1))
		for ny := max(y-1, 0); ny <= min(y+1, height-1); ny++ {
			for nx := max(x-1, 0); nx <= min(x+1, width-1); nx++ {
				if next := ny*width + nx; mask[next] {
					mask[next] = false
					p.At = append(p.At, next)
				}
			}
		}
	}
	return p
}
