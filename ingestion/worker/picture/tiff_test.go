package picture

import (
	"encoding/binary"
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

var sizes = cmp.AllowUnexported(storedSize{})

func TestTiffSizes_readsEachPage(t *testing.T) {
	t.Parallel()
	got := tiffSizes(pdftest.TIFF(6, pdftest.Drawing(60, 40, 72, "a"), pdftest.Drawing(30, 21, 72, "b")))
	want := []storedSize{{width: 60, height: 40, orientation: 6, compression: 1, bits: 8}, {width: 30, height: 21, orientation: 6, compression: 1, bits: 8}}
	if diff := cmp.Diff(want, got, sizes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got[0].upright() != image.Pt(40, 60) {
		t.Errorf("displayed as %v, want 40 × 60", got[0].upright())
	}
}

func TestTiffSizes_endsOnCircles(t *testing.T) {
	t.Parallel()
	file := pdftest.TIFF(1, pdftest.Drawing(60, 40, 72, "a"))
	copy(file[len(file)-4:], file[4:8]) // the next page is the first again
	if got := tiffSizes(file); len(got) != 1 {
		t.Errorf("%d pages, want 1", len(got))
	}
}

func TestReadByMuPDF_takesWhatOthersCannot(t *testing.T) {
	t.Parallel()
	img := pdftest.Drawing(60, 40, 72, "a")
	cases := map[string]struct {
		data        []byte
		unsupported bool
		want        int
	}{
		"one page":       {pdftest.TIFF(1, img), false, 0},
		"three pages":    {pdftest.TIFF(1, img, img, img), false, 3},
		"jpeg in tiff":   {pdftest.JPEGInTIFF(60, 40, "a"), false, 1},
		"odd bitmap":     {pdftest.Bitmap(img), true, 1},
		"usual bitmap":   {pdftest.Bitmap(img), false, 0},
		"a photo":        {pdftest.Photo(60, 40, "a"), true, 0},
		"empty":          {nil, true, 0},
		"half a tiff":    {pdftest.TIFF(1, img)[:100], true, 0},
		"half a bitmap":  {pdftest.Bitmap(img)[:20], true, 0},
		"no directories": {[]byte("II*\x00\xff\xff\xff\xff"), true, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := len(readByMuPDF(c.data, c.unsupported)); got != c.want {
				t.Errorf("%d pages, want %d", got, c.want)
			}
		})
	}
}

// FuzzTiffSizes: whatever comes, it ends, and no page is without a size.
func FuzzTiffSizes(f *testing.F) {
	f.Add(pdftest.TIFF(1, pdftest.Drawing(6, 4, 72), pdftest.Drawing(3, 2, 72)))
	f.Add(binary.BigEndian.AppendUint32([]byte("MM\x00*"), 8))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, size := range tiffSizes(in) {
			if size.width < 1 || size.height < 1 {
				t.Errorf("a page of %d × %d", size.width, size.height)
			}
		}
		bmpSize(in)
	})
}
