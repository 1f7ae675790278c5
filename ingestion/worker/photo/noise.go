package photo

import "image"

// A speck is a pixel that is far from all of its neighbours. Letters have none, except for a dot of the smallest type.
const (
	speckHeight = 40
	manySpecks  = 0.004 // of all pixels; clean pages are below a tenth of that
	badScan     = 0.02  // photographs of grass and gravel are below
)

// specks returns the share of specks, measured on every third row. It is 0 unless they are all over the picture, as noise is: the
// dots of a dotted line or of a bar code are in one place.
func specks(img *image.Gray) float64 {
	const parts = 8 // of a side
	w, h := img.Rect.Dx(), img.Rect.Dy()
	var in, of [parts * parts]int
	for y := 1; y < h-1; y += 3 {
		for x := 1; x < w-1; x++ {
			part := y*parts/h*parts + x*parts/w
			if of[part]++; isSpeck(img, y*img.Stride+x) {
				in[part]++
			}
		}
	}
	found, seen, noisy := 0, 0, 0
	for part, n := range in {
		if found, seen = found+n, seen+of[part]; float64(n) > manySpecks/2*float64(of[part]) {
			noisy++
		}
	}
	if noisy*4 < len(in)*3 {
		return 0
	}
	return float64(found) / float64(seen)
}

// isSpeck compares a pixel with its eight neighbours. Of these, one may be a speck too.
func isSpeck(img *image.Gray, at int) bool {
	v, s := int(img.Pix[at]), img.Stride
	// Most pixels are like the one before: this comparison alone sorts them out.
	if d := v - int(img.Pix[at-1]); d < speckHeight && d > -speckHeight {
		if d := v - int(img.Pix[at+1]); d < speckHeight && d > -speckHeight {
			return false
		}
	}
	above, below := 0, 0
	for _, i := range [8]int{at - s - 1, at - s, at - s + 1, at - 1, at + 1, at + s - 1, at + s, at + s + 1} {
		switch d := v - int(img.Pix[i]); {
		case d >= speckHeight:
			above++
		case d <= -speckHeight:
			below++
		}
	}
	return max(above, below) >= 7
}

// withoutSpecks replaces pixels that are much lighter or darker than the median of the nine around them by that median. All
// others stay, so that thin strokes stay as well.
func withoutSpecks(img *image.Gray) *image.Gray {
	out := image.NewGray(img.Rect)
	copy(out.Pix, img.Pix)
	w, h, s := img.Rect.Dx(), img.Rect.Dy(), img.Stride
	for y := 1; y < h-1; y++ {
		for x := 1; x < w-1; x++ {
			at := y*s + x
			m := median9(img.Pix[at-s-1:at-s+2], img.Pix[at-1:at+2], img.Pix[at+s-1:at+s+2])
			if d := int(img.Pix[at]) - int(m); d > speckHeight/2 || d < -speckHeight/2 {
				out.Pix[at] = m
			}
		}
	}
	return out
}

// median9 returns the median of three rows of three: the median of the largest minimum, the middle median and the smallest maximum.
func median9(a, b, c []uint8) uint8 {
	al, am, ah := ordered(a[0], a[1], a[2])
	bl, bm, bh := ordered(b[0], b[1], b[2])
	cl, cm, ch := ordered(c[0], c[1], c[2])
	_, m, _ := ordered(am, bm, cm)
	_, out, _ := ordered(max(al, bl, cl), m, min(ah, bh, ch))
	return out
}

func ordered(a, b, c uint8) (low, mid, high uint8) {
	low, high = min(a, b, c), max(a, b, c)
	return low, max(min(a, b), min(max(a, b), c)), high
}

// smoothed replaces each pixel by a mean of the 25 around it, weighed by 1, 4, 6, 4 and 1 both ways. At the left and right edge
// that takes pixels of the other edge, two at most.
func smoothed(img *image.Gray) *image.Gray {
	across, out := image.NewGray(img.Rect), image.NewGray(img.Rect)
	mixed(across.Pix, img.Pix, 1)
	mixed(out.Pix, across.Pix, out.Stride)
	return out
}

func mixed(to, from []uint8, step int) {
	copy(to, from)
	for i := 2 * step; i < len(from)-2*step; i++ {
		sum := uint(from[i-2*step]) + 4*uint(from[i-step]) + 6*uint(from[i]) + 4*uint(from[i+step]) + uint(from[i+2*step])
		to[i] = uint8(sum / 16) //nolint:gosec // a mean of bytes
	}
}
