package imaging

import (
	"image"
	"testing"

	xdraw "golang.org/x/image/draw"
)

// Bands leave no seams: the result is that of scaling in one go, but for rounding.
func TestScale_inBands(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{700, 531}, {64, 900}, {641, 63}, {1000, 1}} {
		img := image.NewRGBA(image.Rect(5, 7, 5+size.X, 7+size.Y)) // pictures need not begin at 0
		for i := range img.Pix {
			x, y := (i/4)%size.X, (i/4)/size.X
			img.Pix[i] = uint8((x*x/97 + y*3 + i%4*20) % 200)
			if i%4 == 3 {
				img.Pix[i] = 0xFF
			}
		}
		got, ok := scale(img, 333).(*image.RGBA)
		if !ok {
			t.Fatalf("%v: an opaque picture became another kind", size)
		}
		want := image.NewRGBA(got.Bounds())
		xdraw.CatmullRom.Scale(want, want.Bounds(), img, img.Bounds(), xdraw.Src, nil)
		if max(got.Bounds().Dx(), got.Bounds().Dy()) != 333 {
			t.Errorf("%v became %v", size, got.Bounds())
		}
		for i := range got.Pix {
			if d := int(got.Pix[i]) - int(want.Pix[i]); d < -6 || d > 6 {
				t.Fatalf("%v: byte %d is %d, in one go %d", size, i, got.Pix[i], want.Pix[i])
			}
		}
	}
}

// BenchmarkScale shows what a photograph of 12 Mpx takes: 53 MB, of which 36 MB are the pictures themselves.
func BenchmarkScale(b *testing.B) {
	img := image.NewYCbCr(image.Rect(0, 0, 4000, 3000), image.YCbCrSubsampleRatio420)
	b.ReportAllocs()
	for b.Loop() {
		scale(img, 2000)
	}
}
