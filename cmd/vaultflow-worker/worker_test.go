package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // pictures of pages
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// worker gives the configuration for the real program.
func program(t testing.TB) sandbox.Config {
	t.Helper()
	path, reason := built()
	if path == "" {
		t.Skip(reason)
	}
	cache, err := warmed()
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.Config{Worker: path, PageTimeout: 60 * time.Second, OpenTimeout: 60 * time.Second, Cache: cache}
}

func start(t testing.TB, c sandbox.Config, data []byte, kind string) (*sandbox.Session, extract.Document, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "document")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, doc, err := c.Start(context.Background(), f, extract.Open{Kind: kind})
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, doc, err
}

func opened(t testing.TB, data []byte, kind string) (*sandbox.Session, extract.Document) {
	t.Helper()
	s, doc, err := start(t, program(t), data, kind)
	if err != nil {
		t.Fatal(err)
	}
	return s, doc
}

func ask(t testing.TB, s *sandbox.Session, r extract.PageRequest) extract.Page {
	t.Helper()
	page, err := s.Page(context.Background(), r)
	if err != nil {
		t.Fatalf("page %d: %v", r.N, err)
	}
	return page
}

var scanLines = []string{
	"The quick brown fox jumps over the lazy dog.",
	"Invoice number 4711 from March 2026",
	"Total amount due: 1234.50 EUR",
}

// wantWords fails unless nearly all words of the lines were read.
func wantWords(t *testing.T, got string, lines ...string) {
	t.Helper()
	var missing []string
	words := strings.Fields(strings.Join(lines, " "))
	for _, word := range words {
		if !strings.Contains(got, word) {
			missing = append(missing, word)
		}
	}
	if len(missing)*10 > len(words) {
		t.Errorf("%d of %d words were not read: %q in\n%s", len(missing), len(words), missing, got)
	}
}

func TestWorker_readsTextExactly(t *testing.T) {
	t.Parallel()
	lines := append([]pdftest.Line{pdftest.Heading("Annual report")}, pdftest.Text(
		"Revenue grew by 12 % in all re-", "gions, to *1000* units.", "", "Café – “quoted” text.", "", "• first point", "• second point",
	)...)
	s, doc := opened(t, pdftest.New().Info("Prüfung", "A. Author").TextPage(lines...).BlankPage().Outline("Start", 1).Outline("End", 2).Bytes(), extract.KindPDF)
	if doc.Pages != 2 || doc.Title != "Prüfung" || doc.Author != "A. Author" || doc.Created != "2026-01-02T03:04:05Z" || doc.Encrypted {
		t.Errorf("document: %+v", doc)
	}
	if want := fmt.Sprint([]extract.OutlineItem{{Level: 1, Title: "Start", Page: 1}, {Level: 1, Title: "End", Page: 2}}); fmt.Sprint(doc.Outline) != want {
		t.Errorf("outline: %v, want %s", doc.Outline, want)
	}
	page := ask(t, s, extract.PageRequest{N: 1, Text: true})
	want := "# Annual report\n\nRevenue grew by 12 % in all regions, to \\*1000\\* units.\n\nCafé – “quoted” text.\n\n- first point\n- second point"
	if page.Text.Markdown != want {
		t.Errorf("markdown:\n%s\nwant:\n%s", page.Text.Markdown, want)
	}
	if e := page.Text.Evidence; e.Chars < 80 || e.Unmapped+e.Invisible != 0 || e.PictureCover != 0 {
		t.Errorf("evidence: %+v", e)
	}
	if page.WidthPt != 595 || page.HeightPt != 842 {
		t.Errorf("page of %g × %g pt", page.WidthPt, page.HeightPt)
	}
	if blank := ask(t, s, extract.PageRequest{N: 2, Text: true, OCR: true}); blank.Text.Plain != "" || blank.OCR.Text != "" {
		t.Errorf("a blank page gave %q and %q", blank.Text.Plain, blank.OCR.Text)
	}
}

func TestWorker_drawsWithinTheCaps(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, pdftest.New().TextPage(pdftest.Heading("Drawn")).ScanPage(scanLines...).Bytes(), extract.KindPDF)
	for name, c := range map[string]struct {
		r         extract.PageRequest
		mediaType string
		width     int
	}{
		"default":   {extract.PageRequest{N: 1}, "image/png", 1240},
		"side":      {extract.PageRequest{N: 1, MaxSide: 500}, "image/png", 353},
		"pixels":    {extract.PageRequest{N: 1, MaxPixels: 10_000}, "image/png", 84},
		"jpeg":      {extract.PageRequest{N: 1, Format: "jpeg"}, "image/jpeg", 1240},
		"auto scan": {extract.PageRequest{N: 2, Format: "auto"}, "image/jpeg", 1240},
		"png scan":  {extract.PageRequest{N: 2, Format: "png"}, "image/png", 1240},
	} {
		c.r.Image = true
		got := ask(t, s, c.r).Image
		config, _, err := image.DecodeConfig(bytes.NewReader(got.Bytes))
		if err != nil || got.MediaType != c.mediaType || config.Width != got.Width || config.Height != got.Height {
			t.Errorf("%s: %s of %d × %d, decoded %+v, %v", name, got.MediaType, got.Width, got.Height, config, err)
		}
		if got.Width < c.width-2 || got.Width > c.width+2 {
			t.Errorf("%s: %d pixels wide, want about %d", name, got.Width, c.width)
		}
	}
}

func TestWorker_recognisesScans(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, pdftest.New().PageSize(595, 400).ScanPage(scanLines...).StampedScanPage("received 3 March", scanLines...).
		InvisibleTextScan([]string{"an old layer"}, scanLines...).ScanPage(scanLines...).Rotated(90).ScanPage(scanLines...).Rotated(180).ScanPage(scanLines...).Rotated(270).Bytes(), extract.KindPDF)
	for n := 1; n <= 6; n++ {
		page := ask(t, s, extract.PageRequest{N: n, Text: true, OCR: true})
		wantWords(t, page.OCR.Text, scanLines...)
		if page.OCR.Confidence < 70 || len(page.OCR.Words) < 15 || page.OCR.Words[0].X1 <= page.OCR.Words[0].X0 {
			t.Errorf("page %d: confidence %.0f, %d words", n, page.OCR.Confidence, len(page.OCR.Words))
		}
		e := page.Text.Evidence
		if e.PictureCover < 0.98 || e.Pictures != 1 {
			t.Errorf("page %d: pictures cover %.2f: %+v", n, e.PictureCover, e)
		}
		switch n {
		case 2:
			if e.Chars != 14 || e.MarginChars != 14 {
				t.Errorf("stamp: %+v", e)
			}
		case 3:
			if e.Chars != 10 || e.Invisible != 10 {
				t.Errorf("invisible text: %+v", e)
			}
		case 4:
			if page.WidthPt != 400 {
				t.Errorf("rotated: %g pt wide", page.WidthPt)
			}
		}
		if want := map[int]int{4: 270, 5: 180, 6: 90}[n]; page.OCR.Rotation != want {
			t.Errorf("page %d: turned by %d, want %d", n, page.OCR.Rotation, want)
		}
		wantUpright(t, n, page.OCR)
	}
}

// wantUpright fails unless the boxes are those of a page that is not turned: "The quick", the first words, stand on a line,
// one after the other, in the upper left of it.
func wantUpright(t testing.TB, n int, o *extract.PageOCR) {
	t.Helper()
	if len(o.Words) < 2 || o.Width <= o.Height {
		t.Errorf("page %d: %d words on %d × %d", n, len(o.Words), o.Width, o.Height)
		return
	}
	the, quick := o.Words[0], o.Words[1]
	if the.X1 > quick.X0 || the.Y1 < quick.Y0 || the.X0 > o.Width/4 || the.Y0 > o.Height/2 {
		t.Errorf("page %d: the first words are at %+v and %+v of %d × %d", n, the, quick, o.Width, o.Height)
	}
}

// A JPEG passes through MuPDF's library or the system's, depending on how the program was linked; see make build.
func TestWorker_recognisesPhotos(t *testing.T) {
	t.Parallel()
	drawn := pdftest.Drawing(1400, 500, 200, scanLines...)
	var b bytes.Buffer
	if err := png.Encode(&b, drawn); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"jpeg": pdftest.Photo(1400, 500, scanLines...), "png": b.Bytes()} {
		s, doc := opened(t, data, extract.KindImage)
		if doc.Pages != 1 {
			t.Errorf("%s: %d pages", name, doc.Pages)
		}
		for range 2 { // the clash of libraries shows after the first picture
			page := ask(t, s, extract.PageRequest{N: 1, OCR: true, Image: true, MaxSide: 700})
			wantWords(t, page.OCR.Text, scanLines...)
			if page.Image.Width != 700 {
				t.Errorf("%s: %d pixels wide, want 700", name, page.Image.Width)
			}
		}
	}
}

func TestWorker_turnsPhotosByTheirEXIF(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, withOrientation(pdftest.Photo(600, 300, "Turn"), 6), extract.KindImage)
	page := ask(t, s, extract.PageRequest{N: 1, Image: true})
	if page.Image.Width != 300 || page.Image.Height != 600 || page.WidthPt != 300 {
		t.Errorf("picture of %d × %d, page %g pt wide; want 300 × 600", page.Image.Width, page.Image.Height, page.WidthPt)
	}
}

func TestWorker_readsStacksOfPictures(t *testing.T) {
	t.Parallel()
	wide, high := pdftest.Drawing(1400, 500, 200, scanLines...), raster.Quarter(pdftest.Drawing(1400, 500, 200, scanLines...))
	for name, c := range map[string]struct {
		data  []byte
		pages int
	}{
		"fax":          {pdftest.TIFF(1, wide, wide, high), 3},
		"turned fax":   {pdftest.TIFF(8, high, high), 2},
		"jpeg in tiff": {pdftest.JPEGInTIFF(1400, 500, scanLines...), 1},
		"odd bitmap":   {pdftest.Bitmap(wide), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, doc := opened(t, c.data, extract.KindImage)
			if doc.Pages != c.pages {
				t.Fatalf("%d pages, want %d", doc.Pages, c.pages)
			}
			for n := 1; n <= doc.Pages; n++ {
				page := ask(t, s, extract.PageRequest{N: n, OCR: true, Image: true, MaxSide: 700})
				wantWords(t, page.OCR.Text, scanLines...)
				if side := max(page.Image.Width, page.Image.Height); side > 700 || side < 695 {
					t.Errorf("page %d: picture of %d × %d, want 700 at most", n, page.Image.Width, page.Image.Height)
				}
				if whole := ask(t, s, extract.PageRequest{N: n, Image: true}).Image; float64(whole.Width) != page.WidthPt || float64(whole.Height) != page.HeightPt {
					t.Errorf("page %d: %d × %d pixels, want all of %g × %g", n, whole.Width, whole.Height, page.WidthPt, page.HeightPt)
				}
				if turn := page.OCR.Rotation; turn != 0 && n < 3 {
					t.Errorf("page %d: turned by %d", n, turn)
				}
			}
		})
	}
}

func TestWorker_findsTheHeaderOfAPDF(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, pdftest.WithPreamble(pdftest.New().TextPage(pdftest.Text("After the preamble")...).Bytes()), extract.KindPDF)
	if page := ask(t, s, extract.PageRequest{N: 1, Text: true}); page.Text.Plain != "After the preamble" {
		t.Errorf("got %q", page.Text.Plain)
	}
}

// withOrientation puts an EXIF segment with an orientation into a JPEG file.
func withOrientation(jpeg []byte, orientation byte) []byte {
	exif := append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), orientation, 0, 0, 0, 0, 0, 0)
	segment := append([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return append(append([]byte{0xff, 0xd8}, segment...), jpeg[2:]...)
}

func TestWorker_survivesHostileFiles(t *testing.T) {
	t.Parallel()
	secret := pdftest.New().TextPage(pdftest.Text("Secret")...)
	for name, c := range map[string]struct {
		data []byte
		kind string
		code failure.Code
		says string
	}{
		"password":    {secret.UserPassword("secret").Bytes(), extract.KindPDF, failure.NeedsPassword, ""},
		"huge count":  {pdftest.HugePageCount(), extract.KindPDF, failure.Corrupt, ""},
		"truncated":   {pdftest.Truncated(), extract.KindPDF, failure.Corrupt, "cut off"},
		"rubbish":     {pdftest.Rubbish(), extract.KindPDF, failure.Corrupt, ""},
		"a head":      {pdftest.Truncated()[:60], extract.KindPDF, failure.Corrupt, "cut off"},
		"a note":      {[]byte("# A note\n"), extract.KindPDF, failure.NotPDF, ""},
		"empty":       {nil, extract.KindPDF, failure.Corrupt, ""},
		"no picture":  {[]byte("GIF87 or not"), extract.KindImage, failure.Corrupt, ""},
		"broken jpeg": {pdftest.Photo(300, 300, "x")[:400], extract.KindImage, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, err := start(t, program(t), c.data, c.kind)
			if err == nil && c.code == "" {
				_, err = s.Page(context.Background(), extract.PageRequest{N: 1, Image: true, OCR: true})
			}
			e, ok := errors.AsType[*extract.Error](err)
			if !ok || e.Code != c.code && c.code != "" || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v (%+v), want code %q", err, e, c.code)
			}
		})
	}
}

func TestWorker_keepsGiantPagesSmall(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, pdftest.GiantPage(), extract.KindPDF)
	pixels := int64(4_000_000)
	if long() {
		pixels = 40_000_000 // recognition takes ten seconds
	}
	page := ask(t, s, extract.PageRequest{N: 1, Image: true, OCR: true, Text: true, MaxSide: 2000, MaxPixels: pixels})
	if page.Image.Width > 2000 || page.Image.Height > 2000 || page.Image.Height < 1900 {
		t.Errorf("picture of %d × %d", page.Image.Width, page.Image.Height)
	}
	if !strings.Contains(page.Text.Plain, "A poster") {
		t.Errorf("text %q", page.Text.Plain)
	}
}

func TestWorker_goesOnAfterABadRequest(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, pdftest.New().TextPage(pdftest.Text("One")...).Bytes(), extract.KindPDF)
	for _, r := range []extract.PageRequest{{N: 2, Text: true}, {N: 1, OCR: true, Languages: []string{"xyz"}}} {
		e, ok := errors.AsType[*extract.Error](func() error { _, err := s.Page(context.Background(), r); return err }())
		if !ok || e.Ends() {
			t.Errorf("%+v: %v", r, e)
		}
	}
	if page := ask(t, s, extract.PageRequest{N: 1, Text: true}); page.Text.Plain != "One" {
		t.Errorf("got %q", page.Text.Plain)
	}
}

func TestWorker_opensWithoutPassword(t *testing.T) {
	t.Parallel()
	s, doc := opened(t, pdftest.New().TextPage(pdftest.Text("Anyone may read")...).OwnerPasswordOnly().Bytes(), extract.KindPDF)
	if page := ask(t, s, extract.PageRequest{N: 1, Text: true}); page.Text.Plain != "Anyone may read" || !doc.Encrypted {
		t.Errorf("got %q, %+v", page.Text.Plain, doc)
	}
}

func TestWorker_readsManyPages(t *testing.T) {
	t.Parallel()
	b := pdftest.New()
	for n := range 120 {
		b.TextPage(pdftest.Text(fmt.Sprintf("This is page %d", n+1))...)
	}
	s, doc := opened(t, b.Bytes(), extract.KindPDF)
	if doc.Pages != 120 {
		t.Fatalf("%d pages", doc.Pages)
	}
	for n := 1; n <= 120; n++ {
		if page := ask(t, s, extract.PageRequest{N: n, Text: true}); page.Text.Plain != fmt.Sprintf("This is page %d", n) {
			t.Fatalf("page %d: %q", n, page.Text.Plain)
		}
	}
}

func TestWorker_reportsItself(t *testing.T) {
	t.Parallel()
	report, err := sandbox.Self(t.Context(), program(t), []string{"eng"})
	if err != nil || report.MuPDF == "" || report.Tesseract == "" || len(report.Languages) == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if report.Confinement != extract.ConfinedLandlock {
		t.Skipf("this kernel gives %q only: %+v", report.Confinement, report.Problems)
	}
	c := program(t)
	c.RequireConfinement = true
	if _, err := sandbox.Self(t.Context(), c, nil); err != nil {
		t.Errorf("with confinement required: %v", err)
	}
}

func TestWorker_runsOutOfMemoryCleanly(t *testing.T) {
	t.Parallel()
	c := program(t)
	c.MemoryBytes = 150 << 20
	s, _, err := start(t, c, pdftest.GiantPage(), extract.KindPDF)
	if err == nil {
		_, err = s.Page(context.Background(), extract.PageRequest{N: 1, Image: true, DPI: 600, MaxSide: 30000, MaxPixels: 90_000_000})
	}
	if e, ok := errors.AsType[*extract.Error](err); !ok {
		t.Errorf("got %v", err)
	} else {
		t.Logf("%s: %s", e.Code, e.Message)
	}
}

func BenchmarkWorker(b *testing.B) {
	for name, r := range map[string]extract.PageRequest{"text": {N: 1, Text: true}, "picture": {N: 1, Image: true}, "ocr": {N: 2, OCR: true}, "scan evidence": {N: 2, Text: true}} {
		b.Run(name, func(b *testing.B) {
			lines := make([]string, 40)
			for i := range lines {
				lines[i] = scanLines[i%len(scanLines)]
			}
			s, _ := opened(b, pdftest.New().TextPage(pdftest.Text(lines...)...).ScanPage(lines...).Bytes(), extract.KindPDF)
			for b.Loop() {
				ask(b, s, r)
			}
		})
	}
}
