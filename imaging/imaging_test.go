package imaging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"
)

// corner is a drawing whose upper left quarter alone is red, so that every turn can be told.
func corner(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{255, 255, 255, 255}
			if x < w/2 && y < h/2 {
				c = color.NRGBA{220, 0, 0, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func noise(w, h int) *image.NRGBA {
	r := rand.New(rand.NewPCG(1, 2))
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(r.UintN(256))
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

func pngOf(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// byteOrder reads and writes.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func exif(orientation byte, order byteOrder) []byte {
	mark := "MM"
	if order == byteOrder(binary.LittleEndian) {
		mark = "II"
	}
	b := []byte(mark)
	b = order.AppendUint16(b, 42)
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 1)
	b = order.AppendUint16(b, orientationTag)
	b = order.AppendUint16(b, 3)
	b = order.AppendUint32(b, 1)
	b = order.AppendUint16(b, uint16(orientation))
	return append(b, 0, 0, 0, 0, 0, 0)
}

func withAPP1(data []byte, block []byte) []byte {
	body := append([]byte("Exif\x00\x00"), block...)
	segment := binary.BigEndian.AppendUint16([]byte{0xFF, 0xE1}, uint16(len(body)+2))
	return append(append(bytes.Clone(data[:2]), append(segment, body...)...), data[2:]...)
}

func normalise(t *testing.T, data []byte, l Limits) (Encoded, error) {
	t.Helper()
	return Normalise(t.Context(), bytes.NewReader(data), int64(len(data)), l)
}

func TestNormalise_turnsAllOrientationsUpright(t *testing.T) {
	t.Parallel()
	for o := 1; o <= 8; o++ {
		// Store the picture so that orientation o shows corner(40, 20).
		want := corner(40, 20)
		w, h := 40, 20
		if o >= 5 {
			w, h = h, w
		}
		stored := image.NewNRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				dx, dy := Turned(o, x, y, w, h)
				stored.SetNRGBA(x, y, want.NRGBAAt(dx, dy))
			}
		}
		for _, order := range []byteOrder{binary.BigEndian, binary.LittleEndian} {
			data := withAPP1(jpegOf(t, stored), exif(byte(o), order))
			info, err := Probe(bytes.NewReader(data), int64(len(data)))
			if err != nil || info.Width != 40 || info.Height != 20 || info.Orientation != o {
				t.Fatalf("orientation %d: Probe = %+v, %v; want 40x20", o, info, err)
			}
			got, err := normalise(t, data, Limits{})
			if err != nil {
				t.Fatalf("orientation %d: %v", o, err)
			}
			img, err := jpeg.Decode(bytes.NewReader(got.Data))
			if err != nil {
				t.Fatal(err)
			}
			if r, g, _, _ := img.At(5, 4).RGBA(); r>>8 < 180 || g>>8 > 80 {
				t.Errorf("orientation %d: upper left is not red", o)
			}
			if _, g, _, _ := img.At(34, 15).RGBA(); g>>8 < 200 {
				t.Errorf("orientation %d: lower right is not white", o)
			}
		}
	}
}

func TestNormalise_keepsWhatFits(t *testing.T) {
	t.Parallel()
	data := pngOf(t, corner(100, 50))
	got, err := normalise(t, data, Limits{MaxSide: 100, MaxBytes: 1 << 20})
	if err != nil || got.Changed || !bytes.Equal(got.Data, data) {
		t.Errorf("Normalise = %d bytes, changed %v, %v; want the same bytes", len(got.Data), got.Changed, err)
	}
}

func TestNormalise_scalesAndChoosesTheFormat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		data      []byte
		mediaType string
	}{
		{"drawing stays PNG", pngOf(t, corner(400, 200)), "image/png"},
		{"photograph in a PNG becomes JPEG", pngOf(t, noise(400, 200)), "image/jpeg"},
		{"JPEG stays JPEG", jpegOf(t, corner(400, 200)), "image/jpeg"},
	}
	for _, tt := range tests {
		got, err := normalise(t, tt.data, Limits{MaxSide: 100})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got.MediaType != tt.mediaType || got.Width != 100 || got.Height != 50 || !got.Changed {
			t.Errorf("%s: %s %dx%d changed %v, want %s 100x50", tt.name, got.MediaType, got.Width, got.Height, got.Changed, tt.mediaType)
		}
		again, err := normalise(t, tt.data, Limits{MaxSide: 100})
		if err != nil || !bytes.Equal(again.Data, got.Data) {
			t.Errorf("%s: not the same twice (%v)", tt.name, err)
		}
	}
}

func TestNormalise_fitsBytes(t *testing.T) {
	t.Parallel()
	got, err := normalise(t, pngOf(t, noise(160, 160)), Limits{MaxBytes: 4_000})
	if err != nil || len(got.Data) > 4_000 {
		t.Errorf("Normalise = %d bytes, %v; want at most 4000", len(got.Data), err)
	}
	if _, err := normalise(t, pngOf(t, noise(160, 160)), Limits{MaxBytes: 50}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("50 bytes: %v, want ErrTooLarge", err)
	}
}

func TestProbe_refusesInWords(t *testing.T) {
	t.Parallel()
	whole := pngOf(t, corner(30, 30))
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, ErrNotImage},
		{"web page", []byte("<!DOCTYPE html><html>"), ErrNotImage},
		{"text", []byte("hello"), ErrNotImage},
		{"pdf", []byte("%PDF-1.7"), ErrNotImage},
		{"cut header", whole[:20], ErrCorrupt},
		{"xml that is no drawing", []byte(`<?xml version="1.0"?><note><svg xmlns="http://www.w3.org/2000/svg"/></note>`), ErrNotImage},
		{"cut avif", []byte("\x00\x00\x00\x10ftypavif\x00\x00\x00\x00"), ErrCorrupt},
		{"cut heic", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), ErrCorrupt},
		{"film", []byte("\x00\x00\x00\x10ftypisom\x00\x00\x00\x00"), ErrNotImage},
		{"cut tiff", []byte("II*\x00\x08\x00\x00\x00"), ErrCorrupt},
		{"cut bmp", append([]byte("BM"), make([]byte, 40)...), ErrCorrupt},
	}
	for _, tt := range tests {
		if _, err := Probe(bytes.NewReader(tt.data), int64(len(tt.data))); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := normalise(t, whole[:len(whole)-30], Limits{MaxSide: 10}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("cut body: %v, want ErrCorrupt", err)
	}
}

func TestNormalise_refusesBombsFromTheHeader(t *testing.T) {
	t.Parallel()
	// A GIF of 65,535 by 65,535 pixels in a few bytes: only the header is real.
	bomb := []byte("GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff\x2c\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x44\x01\x00\x3b")
	if _, err := normalise(t, bomb, Limits{MaxSide: 100}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("bomb: %v, want ErrTooLarge", err)
	}
}

func TestProbe_seesAnimation(t *testing.T) {
	t.Parallel()
	frame := func() *image.Paletted {
		return image.NewPaletted(image.Rect(0, 0, 8, 8), color.Palette{color.White, color.Black})
	}
	for frames, want := range map[int]bool{1: false, 3: true} {
		anim := &gif.GIF{}
		for range frames {
			anim.Image, anim.Delay = append(anim.Image, frame()), append(anim.Delay, 5)
		}
		var b bytes.Buffer
		if err := gif.EncodeAll(&b, anim); err != nil {
			t.Fatal(err)
		}
		info, err := Probe(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil || info.Animated != want {
			t.Errorf("%d frames: animated %v, %v; want %v", frames, info.Animated, err, want)
		}
	}
}

func FuzzProbe(f *testing.F) {
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00"))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00MM\x00*\x00\x00\x00\x08"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8X"))
	f.Add(heifFile("avif", [2]int{300, 200}, 1))
	f.Add(bmpFile(7, 5, 4))
	f.Add([]byte(`<svg width="3cm" viewBox="0 0 2 1">`))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := Probe(bytes.NewReader(data), int64(len(data)))
		if err == nil && (info.Width <= 0 || info.Height <= 0 || info.Orientation < 1 || info.Orientation > 8) {
			t.Errorf("Probe(%x) = %+v without an error", data, info)
		}
	})
}
