package imaging

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func probe(data []byte) (Info, error) { return Probe(bytes.NewReader(data), int64(len(data))) }

// withEXIF puts a chunk behind a PNG's header.
func withEXIF(data, block []byte) []byte {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(block)))
	body := append([]byte("eXIf"), block...)
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	const header = 8 + 25
	return append(append(bytes.Clone(data[:header]), chunk...), data[header:]...)
}

// webpHeader is an extended WebP of a size, without a picture.
func webpHeader(w, h int, flags byte, chunks ...byte) []byte {
	body := []byte("WEBPVP8X\x0a\x00\x00\x00")
	body = append(body, flags, 0, 0, 0, byte(w-1), byte((w-1)>>8), 0, byte(h-1), byte((h-1)>>8), 0)
	body = append(body, chunks...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func TestOrientation_ofOtherFormats(t *testing.T) {
	t.Parallel()
	for o := byte(1); o <= 8; o++ {
		data := withEXIF(pngOf(t, corner(40, 20)), exif(o, binary.BigEndian))
		wantW, wantH := 40, 20
		if o >= 5 {
			wantW, wantH = 20, 40
		}
		if info, err := probe(data); err != nil || info.Orientation != int(o) || info.Width != wantW || info.Height != wantH {
			t.Errorf("PNG, orientation %d: %+v %v", o, info, err)
		}
		if got, err := normalise(t, data, Limits{}); err != nil || got.Width != wantW || got.Height != wantH || got.Changed != (o > 1) {
			t.Errorf("PNG, orientation %d: %dx%d changed %v, %v", o, got.Width, got.Height, got.Changed, err)
		}
		block := exif(o, binary.LittleEndian)
		chunk := append(binary.LittleEndian.AppendUint32([]byte("EXIF"), uint32(len(block))), block...)
		if info, err := probe(webpHeader(40, 20, 0x02|0x08, chunk...)); err != nil || info.Orientation != int(o) || info.Width != wantW {
			t.Errorf("WebP, orientation %d: %+v %v", o, info, err)
		}
	}
	// The directory of a TIFF may stand behind a large picture.
	block := exif(6, binary.BigEndian)
	late := binary.BigEndian.AppendUint32([]byte("MM\x00*"), 100_000)
	late = append(late, make([]byte, 100_000-8)...)
	late = append(late, block[8:]...)
	if got := orientation(bytes.NewReader(late), int64(len(late)), "image/tiff"); got != 6 {
		t.Errorf("TIFF: orientation %d, want 6", got)
	}
	for name, data := range map[string][]byte{
		"cut": block[:12], "nonsense": exif(9, binary.BigEndian), "none": nil, "points outside": []byte("MM\x00*\xff\xff\xff\xff"),
	} {
		if got := fromTIFF(bytes.NewReader(data), int64(len(data))); got != 1 {
			t.Errorf("%s: orientation %d, want 1", name, got)
		}
	}
}

func TestOrientation_behindFillBytes(t *testing.T) {
	t.Parallel()
	data := withAPP1(jpegOf(t, corner(8, 8)), exif(3, binary.BigEndian))
	filled := append(append(bytes.Clone(data[:2]), 0xFF, 0xFF), data[2:]...)
	if got := orientation(bytes.NewReader(filled), int64(len(filled)), "image/jpeg"); got != 3 {
		t.Errorf("orientation %d, want 3", got)
	}
}

func TestAnimatedWebP(t *testing.T) {
	t.Parallel()
	data := animatedWebPFile(300, 200, 20, 10)
	info, err := probe(data)
	if err != nil || !info.Animated || info.Width != 300 || info.Height != 200 || info.Pixels != 60_000 || !info.Decodable {
		t.Errorf("probe: %+v %v", info, err)
	}
	if got, err := normalise(t, data, Limits{MaxSide: 300}); err != nil || got.Changed || !bytes.Equal(got.Data, data) {
		t.Errorf("within the limits: changed %v, %v", got.Changed, err)
	}
	got, err := normalise(t, data, Limits{Accept: []string{"image/png"}})
	if err != nil || got.MediaType != "image/png" || got.Width != 300 || got.Height != 200 || !strings.Contains(got.Note, "first frame") {
		t.Fatalf("not accepted: %s %dx%d %q %v", got.MediaType, got.Width, got.Height, got.Note, err)
	}
	img, err := png.Decode(bytes.NewReader(got.Data))
	must(t, err)
	if _, _, _, a := img.At(20, 10).RGBA(); a != 0xFFFF {
		t.Error("the frame is not where it belongs")
	}
	if _, _, _, a := img.At(19, 10).RGBA(); a != 0 {
		t.Error("beside the frame it is not empty")
	}
	for name, data := range map[string][]byte{"without frames": webpHeader(300, 200, 0x02), "beside the canvas": animatedWebPFile(300, 200, 300, 0)} {
		if _, err := normalise(t, data, Limits{MaxSide: 100}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
}

func TestAnimatedGIF(t *testing.T) {
	t.Parallel()
	red := color.Palette{color.RGBA{220, 0, 0, 255}, color.Black}
	small := image.NewPaletted(image.Rect(30, 10, 40, 20), red) // the first frame covers a corner of the canvas
	anim := gif.GIF{
		Image: []*image.Paletted{small, image.NewPaletted(image.Rect(0, 0, 40, 20), red)}, Delay: []int{5, 5},
		Config: image.Config{Width: 40, Height: 20, ColorModel: red},
	}
	var b bytes.Buffer
	must(t, gif.EncodeAll(&b, &anim))
	if got, err := normalise(t, b.Bytes(), Limits{}); err != nil || got.Changed {
		t.Errorf("accepted: changed %v, %v", got.Changed, err)
	}
	if got, err := normalise(t, b.Bytes(), Limits{Still: true}); err != nil || got.MediaType != "image/png" || !strings.Contains(got.Note, "first frame") {
		t.Errorf("animations are not accepted: %s %q, %v", got.MediaType, got.Note, err)
	}
	got, err := normalise(t, b.Bytes(), Limits{Accept: []string{"image/png"}})
	if err != nil || got.MediaType != "image/png" || got.Width != 40 || got.Height != 20 || !strings.Contains(got.Note, "first frame") {
		t.Fatalf("not accepted: %s %dx%d %q %v", got.MediaType, got.Width, got.Height, got.Note, err)
	}
	img, err := png.Decode(bytes.NewReader(got.Data))
	must(t, err)
	if r, _, _, a := img.At(35, 15).RGBA(); r>>8 != 220 || a == 0 {
		t.Error("the frame is not where it belongs")
	}
	if _, _, _, a := img.At(5, 5).RGBA(); a != 0 {
		t.Error("around the frame it is not empty")
	}
}

func TestNormalise_otherFormats(t *testing.T) {
	t.Parallel()
	var b, f bytes.Buffer
	must(t, bmp.Encode(&b, corner(40, 20)))
	must(t, tiff.Encode(&f, corner(40, 20), &tiff.Options{Compression: tiff.Deflate}))
	for mediaType, data := range map[string][]byte{"image/bmp": b.Bytes(), "image/tiff": f.Bytes()} {
		if info, err := probe(data); err != nil || info.MediaType != mediaType || info.Width != 40 {
			t.Errorf("%s: %+v %v", mediaType, info, err)
		}
		got, err := normalise(t, data, Limits{MaxSide: 4000})
		if err != nil || got.MediaType != "image/png" || got.Width != 40 || !got.Changed || !strings.Contains(got.Note, "made image/png") {
			t.Errorf("%s: %s %dx%d %q %v", mediaType, got.MediaType, got.Width, got.Height, got.Note, err)
		}
	}
}

func TestNormalise_depthsAndColours(t *testing.T) {
	t.Parallel()
	deep := image.NewNRGBA64(image.Rect(0, 0, 64, 32))
	grey := image.NewGray16(image.Rect(0, 0, 64, 32))
	for y := range 32 {
		for x := range 64 {
			deep.SetNRGBA64(x, y, color.NRGBA64{uint16(x) << 10, uint16(y) << 11, 999, 0xffff})
			grey.SetGray16(x, y, color.Gray16{uint16(x) << 10})
		}
	}
	for name, img := range map[string]image.Image{"colour": deep, "grey": grey} {
		// An orientation makes it be encoded anew at its own size.
		got, err := normalise(t, withEXIF(pngOf(t, img), exif(2, binary.BigEndian)), Limits{Accept: []string{"image/png"}})
		must(t, err)
		config, err := png.DecodeConfig(bytes.NewReader(got.Data))
		must(t, err)
		if got.Width != 64 || config.ColorModel == color.NRGBA64Model || config.ColorModel == color.RGBA64Model || config.ColorModel == color.Gray16Model {
			t.Errorf("%s: still %v", name, config.ColorModel)
		}
	}
	cmyk := image.NewCMYK(image.Rect(0, 0, 40, 20))
	for i := 0; i < len(cmyk.Pix); i += 4 {
		copy(cmyk.Pix[i:], []byte{0, 255, 255, 0}) // red
	}
	got, err := shrink(t.Context(), cmyk, Info{MediaType: "image/jpeg", Width: 40, Height: 20, Orientation: 1, Pixels: 800}, Limits{MaxSide: 20})
	must(t, err)
	img, err := jpeg.Decode(bytes.NewReader(got.Data))
	must(t, err)
	if r, g, _, _ := img.At(10, 5).RGBA(); r>>8 < 240 || g>>8 > 20 {
		t.Errorf("CMYK red became %v", img.At(10, 5))
	}
}

func TestNormalise_transparency(t *testing.T) {
	t.Parallel()
	img := noise(80, 80)
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 0
	}
	got, err := normalise(t, pngOf(t, img), Limits{MaxSide: 40})
	if err != nil || got.MediaType != "image/png" {
		t.Errorf("stays PNG: %s %v", got.MediaType, err)
	}
	got, err = normalise(t, pngOf(t, img), Limits{MaxSide: 40, Accept: []string{"image/jpeg"}})
	must(t, err)
	flat, err := jpeg.Decode(bytes.NewReader(got.Data))
	must(t, err)
	if r, _, _, _ := flat.At(20, 20).RGBA(); r>>8 < 250 {
		t.Errorf("see-through became %v, want white", flat.At(20, 20))
	}
}

func TestNormalise_obeysAccept(t *testing.T) {
	t.Parallel()
	got, err := normalise(t, pngOf(t, noise(160, 160)), Limits{MaxSide: 100, Accept: []string{"image/png"}})
	if err != nil || got.MediaType != "image/png" {
		t.Errorf("a photograph where only PNG is accepted: %s %v", got.MediaType, err)
	}
	got, err = normalise(t, pngOf(t, noise(160, 160)), Limits{MaxBytes: 9_000, Accept: []string{"image/png"}})
	if err != nil || got.MediaType != "image/png" || len(got.Data) > 9_000 {
		t.Errorf("and few bytes: %s, %d bytes, %v", got.MediaType, len(got.Data), err)
	}
	got, err = normalise(t, pngOf(t, corner(50, 50)), Limits{MaxSide: 4000, Accept: []string{"image/jpeg"}})
	if err != nil || got.MediaType != "image/jpeg" || got.Width != 50 {
		t.Errorf("only JPEG, never enlarged: %s %dx%d %v", got.MediaType, got.Width, got.Height, err)
	}
}

func TestNormalise_dropsMetadata(t *testing.T) {
	t.Parallel()
	block := append(exif(6, binary.BigEndian), []byte("GPS 59.91N 10.75E")...)
	got, err := normalise(t, withAPP1(jpegOf(t, corner(40, 20)), block), Limits{})
	if err != nil || !got.Changed || bytes.Contains(got.Data, []byte("GPS")) || bytes.Contains(got.Data, []byte("Exif")) {
		t.Errorf("changed %v, %v; or the place is still there", got.Changed, err)
	}
}

func TestNormalise_reencodesWhatFits(t *testing.T) {
	t.Parallel()
	plain := jpegOf(t, corner(40, 20))
	marked := withAPP1(plain, append(exif(1, binary.BigEndian), []byte("GPS 59.91N 10.75E")...))
	got, err := normalise(t, marked, Limits{Reencode: true})
	if err != nil || !got.Changed || got.MediaType != "image/jpeg" || got.Width != 40 || bytes.Contains(got.Data, []byte("GPS")) {
		t.Errorf("changed %v, %s, %d wide, %v", got.Changed, got.MediaType, got.Width, err)
	}
	if kept, err := normalise(t, marked, Limits{}); err != nil || kept.Changed {
		t.Errorf("without it: changed %v, %v", kept.Changed, err)
	}
}

func TestNormalise_tornFiles(t *testing.T) {
	t.Parallel()
	thumbnail := jpegOf(t, corner(8, 8)) // its end mark is not the picture's
	var anim bytes.Buffer
	must(t, gif.Encode(&anim, image.NewPaletted(image.Rect(0, 0, 9, 9), color.Palette{color.Black, color.White}), nil))
	for name, data := range map[string][]byte{
		"PNG":                     pngOf(t, corner(90, 90)),
		"JPEG":                    jpegOf(t, noise(90, 90)),
		"JPEG with a thumbnail":   withAPP1(jpegOf(t, noise(90, 90)), append(exif(1, binary.BigEndian), thumbnail...)),
		"GIF":                     anim.Bytes(),
		"WebP that says its size": webpHeader(300, 200, 0x02, make([]byte, 64)...),
	} {
		if got, err := normalise(t, data, Limits{}); err != nil || got.Changed {
			t.Errorf("%s, whole: changed %v, %v", name, got.Changed, err)
		}
		if _, err := normalise(t, data[:len(data)-len(data)/4], Limits{}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s, torn: %v, want ErrCorrupt", name, err)
		}
	}
	photo := append(jpegOf(t, noise(90, 90)), []byte("a phone's motion picture behind the end")...)
	if got, err := normalise(t, photo, Limits{}); err != nil || got.Changed {
		t.Errorf("more after the end: changed %v, %v", got.Changed, err)
	}
}

func TestProbe_unsupportedIsNotCorrupt(t *testing.T) {
	t.Parallel()
	// A TIFF whose pixels are a JPEG, as scanners make them (compression 7).
	var f bytes.Buffer
	must(t, tiff.Encode(&f, image.NewGray(image.Rect(0, 0, 8, 8)), nil))
	data := f.Bytes()
	const compression = "\x03\x01\x03\x00\x01\x00\x00\x00"
	at := bytes.Index(data, []byte(compression))
	if at < 0 {
		t.Fatal("no compression tag")
	}
	data[at+len(compression)] = 7
	if _, err := normalise(t, data, Limits{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
	if _, err := Probe(bytes.NewReader(nil), -1); !errors.Is(err, ErrNotImage) {
		t.Errorf("negative size: %v", err)
	}
}

func TestNormalise_cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := pngOf(t, corner(40, 20))
	if _, err := Normalise(ctx, bytes.NewReader(data), int64(len(data)), Limits{MaxSide: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkNormalise_12Mpx(b *testing.B) {
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, noise(4000, 3000), &jpeg.Options{Quality: 80}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Normalise(b.Context(), bytes.NewReader(buf.Bytes()), int64(buf.Len()), Limits{MaxSide: 1568}); err != nil {
			b.Fatal(err)
		}
	}
}
