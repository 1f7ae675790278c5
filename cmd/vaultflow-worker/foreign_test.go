package main

import (
	"bytes"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// colours names the colours in the middle of a picture's quarters: upper left and right, lower left and right.
func colours(t testing.TB, got *extract.PageImage) string {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(got.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	b := img.Bounds()
	for _, at := range []image.Point{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		r, g, bl, _ := img.At(b.Min.X+b.Dx()*at.X/4, b.Min.Y+b.Dy()*at.Y/4).RGBA()
		name := "grey"
		switch {
		case r > 2*g && r > 2*bl:
			name = "red"
		case g > 2*r && g > 2*bl:
			name = "green"
		case bl > 2*r && bl > 2*g:
			name = "blue"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestWorker_decodesHEICAndAVIFUpright(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		width, height int
		want          string
	}{
		"quarters.heic": {333, 201, "red green blue grey"},
		"quarters.avif": {333, 201, "red green blue grey"},
		"turned.heic":   {201, 333, "green grey red blue"},
		"turned.avif":   {201, 333, "green grey red blue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "quarters.avif" && !long() {
				t.Skip("the decoder of AVIF takes four seconds to start; this picture is read in the tests that take minutes, the turned one always")
			}
			s, doc := opened(t, sample(t, name), extract.KindImage)
			if doc.Pages != 1 {
				t.Errorf("%d pages", doc.Pages)
			}
			page := ask(t, s, extract.PageRequest{N: 1, Image: true})
			if page.WidthPt != float64(c.width) || page.Image.Width != c.width || page.Image.Height != c.height {
				t.Errorf("%g points wide, %d × %d pixels, want %d × %d", page.WidthPt, page.Image.Width, page.Image.Height, c.width, c.height)
			}
			if got := colours(t, page.Image); got != c.want {
				t.Errorf("quarters are %s, want %s", got, c.want)
			}
			if small := ask(t, s, extract.PageRequest{N: 1, Image: true, MaxSide: 48, Format: "jpeg"}).Image; max(small.Width, small.Height) != 48 || small.MediaType != "image/jpeg" {
				t.Errorf("within 48 pixels: %d × %d, %s", small.Width, small.Height, small.MediaType)
			}
		})
	}
}

// resized is a HEIF file whose sizes begin with these bytes.
func resized(data []byte, size string) []byte {
	out := bytes.Clone(data)
	for at := 0; ; {
		next := bytes.Index(out[at:], []byte("ispe"))
		if next < 0 {
			return out
		}
		at += next + 8 // behind version and flags
		copy(out[at:], size)
	}
}

func TestWorker_refusesBombsBeforeDecoding(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"quarters.heic", "quarters.avif"} {
		data := sample(t, name)
		_, _, err := start(t, program(t), resized(data, "\x00\x00\x42\x68\x00\x00\x42\x68"), extract.KindImage)
		if e, ok := err.(*extract.Error); !ok || e.Code != failure.TooLarge || !strings.Contains(e.Message, "17000x17000") { //nolint:errorlint // as documented
			t.Errorf("%s of 17,000 × 17,000: %v", name, err)
		}
	}
}

func TestWorker_saysThatAPictureIsBroken(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"quarters.heic", "quarters.avif"} {
		data := sample(t, name)
		if _, _, err := start(t, program(t), data[:len(data)-50], extract.KindImage); err == nil || !strings.Contains(err.Error(), "cannot be decoded") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The decoder's binding gets these wrong; see minHEIC.
func TestWorker_refusesNarrowHEIC(t *testing.T) {
	t.Parallel()
	if _, _, err := start(t, program(t), resized(sample(t, "quarters.heic"), "\x00\x00\x00\x7f"), extract.KindImage); err == nil || !strings.Contains(err.Error(), "less than 128 pixels wide") {
		t.Errorf("127 pixels wide: %v", err)
	}
}

func TestWorker_drawsSVG(t *testing.T) {
	t.Parallel()
	const drawing = `<?xml version="1.0"?><!-- made <by hand> --><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd" [<!ENTITY a "b">]>
<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200" viewBox="0 0 40 20">
<rect width="20" height="10" fill="#dc1414"/><rect x="20" width="20" height="10" fill="#14c814"/><rect y="10" width="20" height="10" fill="#1414dc"/>
<image href="file:///etc/passwd" width="5" height="5"/></svg>`
	s, _ := opened(t, []byte(drawing), extract.KindImage)
	page := ask(t, s, extract.PageRequest{N: 1, Image: true})
	if got := page.Image; got.Width < 399 || got.Width > 401 || got.Height < 199 || got.Height > 201 || got.MediaType != "image/png" {
		t.Errorf("%d × %d, %s", got.Width, got.Height, got.MediaType)
	}
	if got := colours(t, page.Image); got != "red green blue grey" {
		t.Errorf("quarters are %s", got)
	}
	if small := ask(t, s, extract.PageRequest{N: 1, Image: true, MaxSide: 100}).Image; small.Width > 100 || small.Width < 97 {
		t.Errorf("within 100 pixels: %d × %d", small.Width, small.Height)
	}
	labelled, _ := opened(t, []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="600" height="100"><text x="10" y="60" font-size="40">Pump station 42</text></svg>`), extract.KindImage)
	if text := ask(t, labelled, extract.PageRequest{N: 1, OCR: true}).OCR.Text; !strings.Contains(text, "Pump station 42") {
		t.Errorf("its text is %q", text)
	}
}

// A picture that fits is encoded anew all the same: where it was taken and whatever hides in it stay behind.
func TestWorker_stripsMetadata(t *testing.T) {
	t.Parallel()
	photo := pdftest.Photo(200, 100, "a")
	block := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x00 GPS 59.91N 10.75E <script>")
	marked := append(append(bytes.Clone(photo[:2]), 0xFF, 0xE1, 0, byte(len(block)+2)), block...)
	marked = append(marked, photo[2:]...)
	s, _ := opened(t, append(marked, "polyglot tail"...), extract.KindImage)
	got := ask(t, s, extract.PageRequest{N: 1, Image: true}).Image
	if got.Width != 200 || bytes.Contains(got.Bytes, []byte("GPS")) || bytes.Contains(got.Bytes, []byte("polyglot")) {
		t.Errorf("%d wide; the place or the tail is still there: %v", got.Width, bytes.Contains(got.Bytes, []byte("GPS")))
	}
}

func TestWorker_keepsPicturesWithinBytes(t *testing.T) {
	t.Parallel()
	const most = 20_000
	scan, _ := opened(t, pdftest.New().ScanPage(scanLines...).Bytes(), extract.KindPDF)
	photo, _ := opened(t, pdftest.Photo(1200, 900, scanLines...), extract.KindImage)
	for name, s := range map[string]session{"page": scan, "picture": photo} {
		page, err := s.Page(t.Context(), extract.PageRequest{N: 1, Image: true, MaxBytes: most})
		if err != nil || page.Image.Size > most || page.Image.Width < 100 {
			t.Errorf("%s: %+v, %v", name, page.Image, err)
		}
	}
}
