package main

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// prose is text of the kind that is scanned: sentences, names, amounts, dates.
var prose = []string{
	"The committee met on 14 March 2026 to review the annual",
	"accounts of the society. Dr. Helen Marsh took the chair and",
	"welcomed seventeen members; four had sent their apologies.",
	"Income rose from 48,250 to 51,900 pounds, mostly because of",
	"higher subscriptions, while the cost of printing fell by 12%.",
	"",
	"It was agreed that the library should open on two evenings a",
	"week, and that a new catalogue be ordered before the summer.",
	"Mr. Quigley asked whether the roof had been inspected. The",
	"treasurer answered that a report (ref. 7731/B) would follow.",
	"",
	"Nobody objected to the proposal to exchange journals with the",
	"Zurich museum: its collection of maps is known to be superb,",
	"and the postage would hardly exceed the present budget.",
}

// narrow is the same for columns.
var narrow = []string{
	"A river that bends will", "carry its sand from the", "outer bank to the inner", "one. In time the loop", "grows until its neck is",
	"cut through by a flood,", "and a lake is left in the", "fields where the water", "used to turn. Such lakes", "fill with reeds, then with",
	"peat, and at last no more", "than a curved hollow tells", "the walker what happened.",
}

var wide = []string{
	"Geologists call this an", "oxbow. Maps of the same", "valley drawn a hundred", "years apart show dozens", "of them, each at another",
	"stage. The oldest can be", "dated by the pollen that", "settled on their floors:", "birch below, hazel next,", "and rye at the very top,",
	"which is how we know when", "the first farmers came to", "this part of the country.",
}

// typeset gives a picture of a page at 300 dpi that MuPDF has set, in Helvetica or in Times.
func typeset(t testing.TB, width float64, size float64, serif bool, lines ...string) *image.Gray {
	t.Helper()
	set := pdftest.Text(lines...)
	for i := range set {
		set[i].Size = size
	}
	data := pdftest.New().PageSize(width, 430).TextPage(set...).Bytes()
	if serif { // of the same length, since the file's table counts bytes
		data = bytes.ReplaceAll(data, []byte("/BaseFont /Helvetica /Encoding"), []byte("/BaseFont/Times-Roman/Encoding"))
	}
	s, _ := opened(t, data, extract.KindPDF)
	made := ask(t, s, extract.PageRequest{N: 1, Image: true, DPI: 300, MaxSide: 10_000, Format: "png"}).Image
	img, err := png.Decode(bytes.NewReader(made.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	return greyPicture(img)
}

func greyPicture(img image.Image) *image.Gray {
	grey := image.NewGray(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(grey, grey.Rect, img, img.Bounds().Min, draw.Src)
	return grey
}

// beside puts two pictures of one height next to each other.
func beside(a, b *image.Gray) *image.Gray {
	out := image.NewGray(image.Rect(0, 0, a.Rect.Dx()+b.Rect.Dx(), a.Rect.Dy()))
	draw.Draw(out, a.Rect, a, image.Point{}, draw.Src)
	draw.Draw(out, b.Rect.Add(image.Pt(a.Rect.Dx(), 0)), b, image.Point{}, draw.Src)
	return out
}

// errorRate is the number of characters to insert, delete or replace, as a share of those that should be there. Blanks and line
// ends count as one blank.
func errorRate(got string, want []string) float64 {
	a, b := []rune(strings.Join(strings.Fields(got), " ")), []rune(strings.Join(strings.Fields(strings.Join(want, " ")), " "))
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range b {
			cost := diagonal
			if r != s {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return float64(row[len(b)]) / float64(len(b))
}

func TestErrorRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got  string
		want float64
	}{{"abc  de\nf", 0}, {"abc de", 0.25}, {"", 1}, {"abX de f", 0.125}} {
		if rate := errorRate(c.got, []string{"abc de", "f"}); rate != c.want {
			t.Errorf("%q: %g, want %g", c.got, rate, c.want)
		}
	}
}

// The accuracy that vaultflow promises of its own text recognition: at most 2 % of the characters of an upright page are wrong, at
// most 4 % of one that lies on a side, on its head or is skewed.
func TestWorker_recognitionErrorRate(t *testing.T) {
	t.Parallel()
	columns := append(append([]string{}, narrow...), wide...)
	pages := []struct {
		name string
		img  *image.Gray
		want []string
	}{
		{"sans 11 pt", typeset(t, 595, 11, false, prose...), prose},
		{"serif 11 pt", typeset(t, 595, 11, true, prose...), prose},
		{"serif 14 pt", typeset(t, 595, 14, true, prose...), prose},
		{"sans 9 pt", typeset(t, 595, 9, false, prose...), prose},
		{"two columns, serif 11 pt", beside(typeset(t, 270, 11, true, narrow...), typeset(t, 270, 11, true, wide...)), columns},
	}
	worst := map[bool]float64{}
	for i, p := range pages {
		img := p.img
		for _, turn := range []struct {
			degrees int
			skew    float64
		}{{0, 0}, {90, 0}, {180, 0}, {270, 0}, {0, 3}, {90, -3}, {180, 3}, {0, -8}} {
			if i > 0 && (turn.degrees == 180 && turn.skew != 0 || turn.skew == -8) {
				continue // once is enough
			}
			upright := turn.degrees == 0 && turn.skew == 0
			if quick := i == 1 && (turn.degrees == 0 || turn.skew == 0) && turn.skew != -8 || upright; !quick && !long() {
				continue // `make test-long` reads all of them
			}
			scan := raster.Turn(img, turn.skew)
			for range turn.degrees / 90 {
				scan = raster.Quarter(scan)
			}
			for kind, data := range map[string][]byte{extract.KindPDF: pdftest.New().PicturePage(scan, 300).Bytes(), extract.KindImage: encoded(t, scan)} {
				if kind == extract.KindImage && (i != 1 || turn.degrees != 90 && !long()) {
					continue // it is read the same way
				}
				s, _ := opened(t, data, kind)
				o := ask(t, s, extract.PageRequest{N: 1, OCR: true, OCRDPI: 300}).OCR
				_ = s.Close()
				rate, limit := errorRate(o.Text, p.want), 0.04
				if upright {
					limit = 0.02
				}
				worst[upright] = max(worst[upright], rate)
				name := fmt.Sprintf("%s, turned by %d, skewed by %g, as %s", p.name, turn.degrees, turn.skew, kind)
				t.Logf("%s: %.2f %%, confidence %.0f, found %d and %.2f", name, rate*100, o.Confidence, o.Rotation, o.Skew)
				if rate > limit {
					t.Errorf("%s: %.1f %% of the characters are wrong:\n%s", name, rate*100, o.Text)
				}
				if o.Rotation != (360-turn.degrees)%360 || o.Skew < turn.skew-0.3 || o.Skew > turn.skew+0.3 {
					t.Errorf("%s: found to be turned by %d and skewed by %.2f", name, o.Rotation, o.Skew)
				}
			}
		}
	}
	t.Logf("worst: upright %.2f %%, turned or skewed %.2f %%", worst[true]*100, worst[false]*100)
}

func encoded(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
