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
	p.Box.Min = image.Pt(start%width, start/width)
	for i := 0; i < len(p.At); i++ {
		x, y := p.At[i]%width, p.At[i]/width
		p.Box.Min = image.Pt(min(p.Box.Min.X, x), min(p.Box.Min.Y, y))
		p.Box.Max = image.Pt(max(p.Box.Max.X, x+1), max(p.Box.Max.Y, y+1))
		left, right := max(x-1, 0), min(x+1, width-1)
		for ny := max(y-1, 0); ny <= min(y+1, height-1); ny++ {
			for next := ny*width + left; next <= ny*width+right; next++ {
				if mask[next] {
					mask[next] = false
					p.At = append(p.At, next)
				}
			}
		}
	}
	return p
}
