package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

var (
	paper = color.RGBA{252, 251, 247, 255}
	ink   = color.RGBA{35, 45, 60, 255}
	red   = color.RGBA{190, 60, 50, 255}
	blue  = color.RGBA{50, 100, 170, 255}
	green = color.RGBA{70, 130, 80, 255}
)

// pictures adds every picture of the vault: graphics as PNG, photographs as JPEG, one GIF icon, one SVG.
func pictures(files map[string][]byte) {
	at := func(name string) string { return "vault/Attachments/" + name }
	files[at("Pasted image 20261116091502.png")] = asPNG(board("Shed door", "hinges left", "handle 95 cm", "opens outward"))
	files[at("2026-11-17 whiteboard.png")] = asPNG(board("Harbour exhibition", "1. Glass plates: 40", "2. Draft on 4 December", "3. Budget settled in December", "Owner: Mei"))
	files[at("Pasted image 20261118093012.png")] = asPNG(chart("kWh by day", []float64{8, 14, 9, 10, 7, 11, 12}))
	files[at("vectors.png")] = asPNG(arrows())
	files[at("rotation.png")] = asPNG(chart("rotation", []float64{1, 2, 4, 8, 4, 2, 1}))
	files[at("garden plan.png")] = asPNG(board("Garden plan", "house", "shed 3 x 4 m", "apple tree"))
	files[at("my pic.png")] = asPNG(board("my pic", "a small drawing"))
	files[at("frost.png")] = asPNG(board("Frost", "window, -4 degrees"))
	files[at("Ünïcode – sketch.png")] = asPNG(board("Sketch", "accents and a dash"))
	files[at("icon.gif")] = icon()
	files[at("harbour.jpg")] = rotated(asJPEG(scene(1, 640, 480)), 6)
	files[at("bread crust.jpg")] = asJPEG(scene(2, 480, 360))
	files[at("kitchen.jpg")] = asJPEG(scene(3, 480, 360))
	files[at("receipt.jpg")] = asJPEG(board("HARDWARE STORE", "hinges 3 x 89", "felt 14 m2", "SUM 1457"))
	files[at("shed frame.jpg")] = asJPEG(scene(4, 640, 480))
	for i, name := range []string{"IMG_0412.jpg", "IMG_0413.jpg", "IMG_0414.jpg", "IMG_0415.jpg", "IMG_0416.jpg", "IMG_0417.jpg"} {
		files[at("Photos/"+name)] = asJPEG(scene(uint64(10+i), 600, 400))
	}
	files[at("diagram.svg")] = []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="240" height="120"><rect x="10" y="10" width="90" height="60" fill="none" stroke="#234"/><path d="M100 40h60" stroke="#234"/><circle cx="190" cy="40" r="30" fill="none" stroke="#234"/></svg>` + "\n")
	files["../examples/start/Attachments/vaultflow.png"] = asPNG(board("vaultflow", "Import: drop a file", "Workflows: write a note", "serve: it runs by itself"))
	files["drop/photo.jpg"] = rotated(asJPEG(board("NOTICE", "Swimming is at your", "own risk. Depth 4 m.", "Harbour office")), 6)
}

// face is the one font of the pictures at a size in pixels.
func face(size float64) font.Face {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		fail(err)
	}
	f, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		fail(err)
	}
	return f
}

func write(img draw.Image, x, y int, size float64, c color.Color, text string) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(c), Face: face(size), Dot: fixed.P(x, y)}
	d.DrawString(text)
}

func canvas(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	return img
}

func fill(img draw.Image, r image.Rectangle, c color.Color) {
	draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// board looks like a whiteboard or a sign: a title, a rule and lines of text.
func board(title string, lines ...string) image.Image {
	img := canvas(640, 160+60*len(lines))
	write(img, 40, 80, 48, ink, title)
	fill(img, image.Rect(40, 100, 600, 104), red)
	for i, line := range lines {
		write(img, 60, 160+60*i, 34, blue, line)
	}
	return img
}

func chart(title string, values []float64) image.Image {
	img := canvas(640, 400)
	write(img, 40, 50, 30, ink, title)
	for i, v := range values {
		x := 60 + i*80
		fill(img, image.Rect(x, 360-int(v*18), x+50, 360), []color.Color{blue, green, red}[i%3])
	}
	fill(img, image.Rect(40, 360, 620, 363), ink)
	return img
}

func arrows() image.Image {
	img := canvas(400, 400)
	fill(img, image.Rect(40, 358, 380, 361), ink)
	fill(img, image.Rect(40, 20, 43, 361), ink)
	for i := range 280 {
		fill(img, image.Rect(42+i, 358-i/2, 46+i, 362-i/2), red)
		fill(img, image.Rect(42+i/3, 358-i, 46+i/3, 362-i), blue)
	}
	write(img, 300, 200, 30, red, "v")
	write(img, 150, 90, 30, blue, "w")
	return img
}

// scene is a landscape with the grain of a photograph: sky, hills, water, the sun where the seed puts it.
func scene(seed uint64, w, h int) image.Image {
	r := rand.New(rand.NewPCG(seed, 7))
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	sunX, sunY := float64(w)*(0.2+0.6*r.Float64()), float64(h)*(0.15+0.2*r.Float64())
	phase, tint := r.Float64()*6, 40*r.Float64()
	for y := range h {
		for x := range w {
			fx, fy := float64(x), float64(y)
			hill := float64(h) * (0.5 + 0.08*math.Sin(fx/90+phase) + 0.03*math.Sin(fx/23+phase*2))
			var c [3]float64
			switch glow := 120 * math.Exp(-math.Hypot(fx-sunX, fy-sunY)/60); {
			case fy < hill:
				c = [3]float64{120 + tint + glow, 160 + glow*0.8, 210 - tint/2 + glow*0.3}
			case fy < hill+float64(h)*0.15:
				c = [3]float64{60 + tint, 90 + tint/2, 60}
			default:
				wave := 15 * math.Sin(fy/3+math.Sin(fx/30))
				c = [3]float64{40 + wave, 80 + wave + tint/2, 120 + wave}
			}
			grain := r.NormFloat64() * 5
			img.SetRGBA(x, y, color.RGBA{clamp(c[0] + grain), clamp(c[1] + grain), clamp(c[2] + grain), 255})
		}
	}
	return img
}

func clamp(v float64) uint8 { return uint8(max(0, min(255, v))) }

func asPNG(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		fail(err)
	}
	return b.Bytes()
}

func asJPEG(img image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 80}); err != nil {
		fail(err)
	}
	return b.Bytes()
}

func icon() []byte {
	img := image.NewPaletted(image.Rect(0, 0, 18, 18), color.Palette{paper, red, ink})
	for y := range 18 {
		for x := range 18 {
			if math.Hypot(float64(x)-8.5, float64(y)-8.5) < 8 {
				img.SetColorIndex(x, y, 1)
			}
		}
	}
	var b bytes.Buffer
	if err := gif.Encode(&b, img, nil); err != nil {
		fail(err)
	}
	return b.Bytes()
}

// rotated adds to a JPEG an Exif block with one entry, the orientation: TIFF tag 0x0112, values 1 to 8 (Exif 2.32 §4.6.4).
// The pixels are turned the other way first, so that a viewer which obeys the tag shows the picture upright.
func rotated(upright []byte, orientation byte) []byte {
	img, err := jpeg.Decode(bytes.NewReader(upright))
	if err != nil {
		fail(err)
	}
	if orientation == 6 { // shown turned clockwise, so stored turned counter-clockwise
		b := img.Bounds()
		stored := image.NewRGBA(image.Rect(0, 0, b.Dy(), b.Dx()))
		for y := range b.Dy() {
			for x := range b.Dx() {
				stored.Set(y, b.Dx()-1-x, img.At(x, y))
			}
		}
		img = stored
	}
	data := asJPEG(img)
	exif := append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), orientation, 0, 0, 0, 0, 0, 0)
	segment := append([]byte{0xFF, 0xE1, 0, byte(len(exif) + 2)}, exif...)
	return append(append(bytes.Clone(data[:2]), segment...), data[2:]...)
}
