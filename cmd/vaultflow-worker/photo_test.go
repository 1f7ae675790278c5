package main

import (
	"image"
	"image/draw"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/phototest"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// read recognises a picture in the language that it is written in.
func read(t testing.TB, picture []byte) *extract.PageOCR {
	t.Helper()
	s, _ := opened(t, picture, extract.KindImage)
	return ask(t, s, extract.PageRequest{N: 1, OCR: true, Languages: []string{extract.AutoLanguage}}).OCR
}

// A page photographed askew, in bad light and with specks is read, and its words are where they are in the photograph. Without
// the corrections, half of the characters of the first are wrong, and all of the others.
func TestWorker_readsPhotographs(t *testing.T) {
	t.Parallel()
	for _, number := range []uint64{1, 8, 12} { // perspective and a shadow; 15° and many specks; half the light
		made, err := phototest.Make(1, number)
		if err != nil {
			t.Fatal(err)
		}
		got := read(t, made.JPEG)
		if rate := errorRate(got.Text, []string{made.Text}); rate > 0.05 || len(got.Doubts) > 0 {
			t.Errorf("%d: %.3f of the characters are wrong, doubts %v, %s", number, rate, got.Doubts, got.Reason)
		}
		first, last := got.Words[0], got.Words[len(got.Words)-1]
		c := made.Camera.Corners
		if !strings.HasPrefix(made.Text, first.Text) || float64(first.X0) < c[0][0] || float64(first.Y0) < c[0][1]-c[0][1]/2 || last.Y1 < first.Y1 || float64(last.Y1) > c[2][1] {
			t.Errorf("%d: the first word, %q, is at %d,%d, the last at %d,%d; the corners of the page are at %.0f", number, first.Text, first.X0, first.Y0, last.X1, last.Y1, c)
		}
	}
}

func TestWorker_readsSkewAndNoise(t *testing.T) {
	t.Parallel()
	page := pdftest.Drawing(1240, 1000, 150, prose...)
	for name, img := range map[string]*image.Gray{"14°": raster.Turn(page, 14), "-33°": raster.Turn(page, -33), "noise": specked(page, 12), "grain": grained(page, 45)} {
		if got := read(t, encoded(t, img)); errorRate(got.Text, prose) > 0.03 {
			t.Errorf("%s: %.3f of the characters are wrong: %s", name, errorRate(got.Text, prose), got.Reason)
		}
	}
}

// A panel on a slide is no sheet on a table: the text around it is read too.
func TestWorker_readsAroundPanels(t *testing.T) {
	t.Parallel()
	slide := pdftest.Drawing(1240, 1000, 150, "Report of the society, second quarter", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "Adopted by the members in March")
	for i, v := range slide.Pix {
		slide.Pix[i] = uint8(int(v) * 200 / 255)
	}
	card := pdftest.Drawing(1000, 620, 150, prose[:11]...)
	draw.Draw(slide, image.Rect(120, 180, 1120, 800), card, image.Point{}, draw.Src)
	if got := read(t, encoded(t, slide)); !strings.Contains(got.Text, "second quarter") || !strings.Contains(got.Text, "Adopted by") || !strings.Contains(got.Text, "treasurer") {
		t.Errorf("%s: %q", got.Reason, got.Text)
	}
}

// specked makes every so many pixels black or white.
func specked(img *image.Gray, every int) *image.Gray {
	out := image.NewGray(img.Rect)
	copy(out.Pix, img.Pix)
	state := uint64(7)
	for at := 0; at < len(out.Pix); at += 1 + int(state%uint64(2*every)) {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		out.Pix[at] = uint8(255 * (state >> 40 & 1))
	}
	return out
}

// A page is read in its own language. If that is not installed, it is doubtful, and the doubt names the package.
func TestWorker_findsOutTheLanguage(t *testing.T) {
	t.Parallel()
	report, err := sandbox.Self(t.Context(), program(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, language, word string
		lines                []string
	}{
		{"German", "deu", "Großvater", []string{
			"Sein Großvater hatte das Boot selbst gebaut, aus Lärchenholz", "und mit kupfernen Nägeln, in einem einzigen Frühjahr. Der Weg",
			"führte durch den Wald, und niemand kannte die Zeit vor der", "Mühle. Ein Arzt kam um Mitternacht, völlig durchnässt, und", "bat nur um heißes Wasser und eine Kerze für die Nacht.",
		}},
		{"Russian", "rus", "мельница", []string{
			"Старая мельница стояла там, где река делает поворот,", "и никто в деревне не помнил времени без неё. Зимой", "колесо замерзало, и дети катались на коньках до вечера.",
		}},
	} {
		got := read(t, encoded(t, pdftest.Drawing(1500, 700, 200, c.lines...)))
		if !slices.Contains(report.Languages, c.language) {
			if advice := "tesseract-ocr-" + c.language; !strings.Contains(doubt.Words(got.Doubts), advice) {
				t.Errorf("%s: the doubts %v do not name %s (%s)", c.name, got.Doubts, advice, got.Reason)
			}
			continue
		}
		if !slices.Equal(got.Languages, []string{c.language}) || !strings.Contains(got.Text, c.word) || len(got.Doubts) > 0 {
			t.Errorf("%s: read in %v, doubts %v: %q", c.name, got.Languages, got.Doubts, got.Text)
		}
	}
}

// A page in a script that was not asked for is never silently empty.
func TestWorker_namesAnotherScript(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, encoded(t, pdftest.Drawing(1500, 700, 200, "Старая мельница стояла там, где река делает поворот,", "и никто в деревне не помнил времени без неё. Зимой", "колесо замерзало, и дети катались на коньках до вечера.")), extract.KindImage)
	got := ask(t, s, extract.PageRequest{N: 1, OCR: true, Languages: []string{"eng"}}).OCR
	if !strings.Contains(doubt.Words(got.Doubts), "rus") {
		t.Errorf("doubts %v, %s: %q", got.Doubts, got.Reason, got.Text)
	}
}

// grained is a page as a camera in the dark takes it: the letters are soft, and every pixel is wrong.
func grained(page *image.Gray, sigma float64) *image.Gray {
	random := rand.New(rand.NewPCG(1, 1))
	out := image.NewGray(page.Rect)
	for y := range page.Rect.Dy() {
		for x := range page.Rect.Dx() {
			sum, n := 0, 0
			for i := max(y-1, 0); i <= min(y+1, page.Rect.Max.Y-1); i++ {
				for j := max(x-1, 0); j <= min(x+1, page.Rect.Max.X-1); j++ {
					sum, n = sum+int(page.GrayAt(j, i).Y), n+1
				}
			}
			shade := 50 + 0.7*float64(sum/n) + sigma*random.NormFloat64()
			out.Pix[y*out.Stride+x] = uint8(min(max(shade, 0), 255))
		}
	}
	return out
}
