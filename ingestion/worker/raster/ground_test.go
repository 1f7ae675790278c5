package raster_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math/rand/v2"
	"testing"

	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/phototest"
	"github.com/vaultflow/vaultflow/ingestion/worker/raster"
)

// Letters on coloured boxes become dark on light, whichever colours they have. Paper, and pictures on it, stay as they are.
func TestPrint_drawsLettersDark(t *testing.T) {
	t.Parallel()
	red, green, orange, navy, white := color.RGBA{200, 60, 60, 255}, color.RGBA{30, 138, 40, 255}, color.RGBA{245, 150, 30, 255}, color.RGBA{20, 30, 110, 255}, color.RGBA{255, 255, 255, 255}
	for name, c := range map[string]struct{ ground, ink color.RGBA }{
		"of the same lightness": {red, green}, "white on orange": {orange, white}, "white on navy": {navy, white}, "black on navy": {navy, color.RGBA{A: 255}},
		"pale grey": {color.RGBA{225, 225, 225, 255}, color.RGBA{190, 190, 190, 255}},
	} {
		page := pdftest.Drawing(800, 600, 150, "The committee met on 14 March", "", "", "", "", "", "", "", "to review the accounts")
		letters := pdftest.Drawing(600, 200, 150, "Total due 1,648.37", "by 14 March 2026")
		img := image.NewRGBA(page.Rect)
		draw.Draw(img, img.Rect, page, image.Point{}, draw.Src)
		at := image.Rect(80, 160, 680, 360)
		for y := range letters.Rect.Dy() {
			for x := range letters.Rect.Dx() {
				colour := c.ground
				if letters.GrayAt(x, y).Y < 128 {
					colour = c.ink
				}
				img.SetRGBA(at.Min.X+x, at.Min.Y+y, colour)
			}
		}
		for kind, picture := range map[string]image.Image{"": img, " in a JPEG": compressed(t, img)} {
			got, wrong := raster.Print(picture), 0
			for y := range letters.Rect.Dy() {
				for x := range letters.Rect.Dx() {
					if dark := got.GrayAt(at.Min.X+x, at.Min.Y+y).Y < 128; dark != (letters.GrayAt(x, y).Y < 128) {
						wrong++
					}
				}
			}
			if wrong*50 > letters.Rect.Dx()*letters.Rect.Dy() {
				t.Errorf("%s%s: %d pixels are wrong", name, kind, wrong)
			}
			if got.GrayAt(10, 10).Y < 250 {
				t.Errorf("%s%s: the paper is %d", name, kind, got.GrayAt(10, 10).Y)
			}
		}
	}
}

// On a dark screen, the letters of the page and of each box become dark, whether they are lighter or darker than their ground.
func TestPrint_invertsDarkScreens(t *testing.T) {
	t.Parallel()
	screen := color.RGBA{17, 27, 33, 255}
	white, black := color.RGBA{255, 255, 255, 255}, color.RGBA{A: 255}
	boxes := []struct{ ground, ink color.RGBA }{
		{screen, color.RGBA{233, 237, 239, 255}}, {color.RGBA{37, 211, 102, 255}, white}, {color.RGBA{220, 248, 198, 255}, black}, {color.RGBA{123, 31, 162, 255}, white},
	}
	letters := pdftest.Drawing(300, 80, 150, "Gate code 4821")
	img := image.NewRGBA(image.Rect(0, 0, 800, 800))
	draw.Draw(img, img.Rect, image.NewUniform(screen), image.Point{}, draw.Src)
	for i, c := range boxes {
		for y := range letters.Rect.Dy() {
			for x := range letters.Rect.Dx() {
				colour := c.ground
				if letters.GrayAt(x, y).Y < 128 {
					colour = c.ink
				}
				img.SetRGBA(100+x, 60+180*i+y, colour)
			}
		}
	}
	got := raster.Print(img)
	for i := range boxes {
		wrong := 0
		for y := range letters.Rect.Dy() {
			for x := range letters.Rect.Dx() {
				if dark := got.GrayAt(100+x, 60+180*i+y).Y < 128; dark != (letters.GrayAt(x, y).Y < 128) {
					wrong++
				}
			}
		}
		if wrong*50 > letters.Rect.Dx()*letters.Rect.Dy() {
			t.Errorf("box %d: %d pixels are wrong", i, wrong)
		}
	}
}

// Messages of a chat and fields of a payment slip are light boxes on a ground, and no letters of it.
func TestPrint_readsLightBoxes(t *testing.T) {
	t.Parallel()
	letters := pdftest.Drawing(300, 80, 150, "Gate code 4821")
	for name, c := range map[string]struct{ ground, box color.RGBA }{
		"messages": {color.RGBA{229, 221, 213, 255}, color.RGBA{255, 255, 255, 255}}, "pale boxes on white": {color.RGBA{255, 255, 255, 255}, color.RGBA{227, 242, 253, 255}},
		"fields on green": {color.RGBA{190, 225, 190, 255}, color.RGBA{255, 255, 255, 255}},
	} {
		img := image.NewRGBA(image.Rect(0, 0, 800, 800))
		draw.Draw(img, img.Rect, image.NewUniform(c.ground), image.Point{}, draw.Src)
		for i := range 4 {
			for y := range letters.Rect.Dy() {
				for x := range letters.Rect.Dx() {
					colour := c.box
					if letters.GrayAt(x, y).Y < 128 {
						colour = color.RGBA{A: 255}
					}
					img.SetRGBA(100+x, 60+180*i+y, colour)
				}
			}
		}
		got, wrong := raster.Print(img), 0
		for i := range 4 {
			for y := range letters.Rect.Dy() {
				for x := range letters.Rect.Dx() {
					if dark := got.GrayAt(100+x, 60+180*i+y).Y < 128; dark != (letters.GrayAt(x, y).Y < 128) {
						wrong++
					}
				}
			}
		}
		if wrong*50 > 4*letters.Rect.Dx()*letters.Rect.Dy() {
			t.Errorf("%s: %d pixels are wrong", name, wrong)
		}
	}
}

// A sheet on a dark table is no dark screen, although its grain and the light on it divide its paper into small areas.
func TestPrint_leavesSheetsOnDarkTables(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	page := pdftest.Drawing(700, 900, 150, "The committee met on 14 March", "to review the accounts")
	img := image.NewGray(image.Rect(0, 0, 1200, 1600))
	for y := range 1600 {
		for x := range 1200 {
			shade := 40.0
			if at := image.Pt(x-250, y-350); at.In(page.Rect) {
				shade = 40 + 170*float64(page.GrayAt(at.X, at.Y).Y)/255
			}
			shade = shade*(1-float64(y)/3200) + 10*random.NormFloat64()
			img.Pix[y*img.Stride+x] = uint8(min(max(shade, 0), 255))
		}
	}
	if got := raster.Print(img); !bytes.Equal(got.Pix, img.Pix) {
		t.Error("the picture was changed")
	}
}

// The weave of a cloth beside a sheet has no letters. What was drawn there reached the sheet, whose sides were not found then.
func TestPrint_leavesClothAlone(t *testing.T) {
	t.Parallel()
	photo, err := phototest.Make(3, 20)
	if err != nil {
		t.Fatal(err)
	}
	made, err := imaging.Normalise(t.Context(), bytes.NewReader(photo.JPEG), int64(len(photo.JPEG)), imaging.Limits{Reencode: true, MaxSide: raster.OCRSide, Accept: []string{"image/jpeg"}})
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := jpeg.Decode(bytes.NewReader(made.Data))
	if err != nil {
		t.Fatal(err)
	}
	img, ok := decoded.(*image.YCbCr)
	if !ok {
		t.Fatalf("a picture of type %T", decoded)
	}
	got, changed := raster.Print(img), 0
	for y := range got.Rect.Dy() {
		for x := range got.Rect.Dx() {
			if got.GrayAt(x, y).Y != img.Y[img.YOffset(x, y)] {
				changed++
			}
		}
	}
	if changed > 0 {
		t.Errorf("%d pixels were changed", changed)
	}
}

func compressed(t *testing.T, img image.Image) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	out, err := jpeg.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPrint_leavesTheRestAlone(t *testing.T) {
	t.Parallel()
	for name, img := range map[string]*image.Gray{
		"a page": pdftest.Drawing(800, 600, 150, "The committee met on 14 March"), "noise": pdftest.Noise(900, 700, 3),
		"black": image.NewGray(image.Rect(0, 0, 400, 400)), "a pixel": image.NewGray(image.Rect(0, 0, 1, 1)), "a strip": image.NewGray(image.Rect(0, 0, 9000, 3)),
	} {
		if got := raster.Print(img); !bytes.Equal(got.Pix, img.Pix) {
			t.Errorf("%s was changed", name)
		}
	}
}
