package photo

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/phototest"
)

func shot(t testing.TB, number uint64) (*image.Gray, phototest.Record) {
	t.Helper()
	made, err := phototest.Make(1, number)
	if err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(bytes.NewReader(made.JPEG))
	if err != nil {
		t.Fatal(err)
	}
	return grey(img), made.Record
}

func grey(img image.Image) *image.Gray {
	out := image.NewGray(img.Bounds())
	draw.Draw(out, out.Rect, img, image.Point{}, draw.Src)
	return out
}

// A sheet on a table is found by its corners, whichever way it lies; the corners are those that the camera saw. One of them may be
// out of the picture.
func TestSheet_isFound(t *testing.T) {
	t.Parallel()
	for _, number := range []uint64{1, 3, 30} { // 7° with perspective and specks; 131°; 36° with perspective
		img, record := shot(t, number)
		if share := specks(img); share > manySpecks {
			img = withoutSpecks(img)
		}
		if off := offCorners(img, record.Camera.Corners, 0); off > 0.006*float64(img.Rect.Dy()) {
			t.Errorf("%d: the corners are off by %.1f pixels", number, off)
		}
		left := math.Inf(1)
		for _, c := range record.Camera.Corners {
			left = min(left, c[0])
		}
		if off := offCorners(img, record.Camera.Corners, int(left)+record.Camera.Width/25); off > 0.02*float64(img.Rect.Dy()) {
			t.Errorf("%d: with a corner out of the picture, the corners are off by %.1f pixels", number, off)
		}
	}
}

// offCorners returns by how much the corners are off that are found after some pixels are cut off at the left.
func offCorners(img *image.Gray, corners [4][2]float64, left int) float64 {
	part := image.NewGray(image.Rect(0, 0, img.Rect.Dx()-left, img.Rect.Dy()))
	draw.Draw(part, part.Rect, img, image.Pt(left, 0), draw.Src)
	got, ok := sheet(part)
	if !ok || got.within(part.Rect) != (left == 0) {
		return math.Inf(1)
	}
	off := math.Inf(1)
	for first := range 4 {
		most := 0.0
		for i, c := range got {
			most = max(most, c.far(point{corners[(i+first)%4][0] - float64(left), corners[(i+first)%4][1]}))
		}
		off = min(off, most)
	}
	return off
}

// What needs nothing is the same picture afterwards: pages that fill the picture, frames and panels that are drawn, photographs
// of other things.
func TestCorrect_leavesTheRestAlone(t *testing.T) {
	t.Parallel()
	page := pdftest.Drawing(1200, 1600, 150, "The committee met on 14 March 2026 to review the annual", "accounts of the society. Dr. Helen Marsh took the chair.")
	framed := grey(page)
	fill(framed, image.Rect(60, 800, 1140, 1500), 90)
	fill(framed, image.Rect(80, 820, 1120, 1480), 235)
	screen := grey(page)
	for i, v := range screen.Pix { // light letters on a dark ground that gets darker
		screen.Pix[i] = uint8(255 - int(v)*(205+30*(i%screen.Stride)/screen.Stride)/255)
	}
	dotted := grey(page)
	for i := range 400 * 400 / 9 { // a field of dots, such as a bar code has
		dotted.Pix[(1000+i/133*3)*dotted.Stride+300+i%133*3] = 0
	}
	for name, img := range map[string]*image.Gray{
		"a page":       page,
		"dots":         dotted,
		"a panel":      framed,
		"a screen":     screen,
		"no text":      pdftest.Noise(900, 700, 3),
		"empty":        image.NewGray(image.Rect(0, 0, 400, 400)),
		"one pixel":    image.NewGray(image.Rect(0, 0, 1, 1)),
		"a strip":      image.NewGray(image.Rect(0, 0, 9000, 3)),
		"small prints": pdftest.Drawing(300, 200, 72, "small type", "in a small picture"),
	} {
		if got := Correct(img); got.Picture != img {
			t.Errorf("%s: %q", name, got.Said)
		}
	}
}

func fill(img *image.Gray, r image.Rectangle, shade uint8) {
	draw.Draw(img, r, image.NewUniform(color.Gray{Y: shade}), image.Point{}, draw.Src)
}

// The place of a word on the corrected page leads back to where it is in the photograph.
func TestPage_leadsBack(t *testing.T) {
	t.Parallel()
	back := projection(100, 200, quad{{10, 20}, {90, 30}, {80, 220}, {5, 200}})
	for _, c := range []struct{ x, y, u, v float64 }{{0, 0, 10, 20}, {100, 0, 90, 30}, {100, 200, 80, 220}, {0, 200, 5, 200}} {
		if u, v := back.At(c.x, c.y); math.Hypot(u-c.u, v-c.v) > 1e-6 {
			t.Errorf("%g,%g leads to %g,%g", c.x, c.y, u, v)
		}
	}
	mark := image.Rect(600, 100, 640, 120)
	img := image.NewGray(image.Rect(0, 0, 800, 600))
	fill(img, img.Rect, 255)
	fill(img, mark, 0)
	for name, turned := range map[string]Page{
		"by 5°":              Plain(img).Turned(5),
		"by -30° and thrice": Plain(img).Turned(-30).Quartered(3),
		"once":               Plain(img).Quartered(1),
	} {
		got := turned.Back.Box(darkIn(turned.Picture))
		if !mark.In(got.Inset(-3)) || !got.In(mark.Inset(-40)) {
			t.Errorf("%s: %v, the mark is at %v", name, got, mark)
		}
	}
}

// darkIn is the box around the dark pixels.
func darkIn(img *image.Gray) image.Rectangle {
	var r image.Rectangle
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if img.Pix[y*img.Stride+x] < 128 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

func BenchmarkCorrect(b *testing.B) {
	page := pdftest.Drawing(2480, 3508, 300, "The committee met on 14 March 2026 to review the annual")
	for b.Loop() {
		Correct(page)
	}
}
