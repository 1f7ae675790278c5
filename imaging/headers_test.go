package imaging

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/png"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// isoBox is a box of a HEIF container.
func isoBox(kind string, body ...byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), kind...), body...)
}

func be32(values ...int) (out []byte) {
	for _, v := range values {
		out = binary.BigEndian.AppendUint32(out, uint32(v))
	}
	return out
}

// heifFile is a container whose second item is shown: it has the size and is turned by quarters. The first item is a
// thumbnail.
func heifFile(brand string, size [2]int, quarters byte) []byte {
	ispe := func(w, h int) []byte { return isoBox("ispe", append(be32(0), be32(w, h)...)...) }
	properties := append(append(ispe(160, 90), ispe(size[0], size[1])...), isoBox("irot", quarters)...)
	links := append(be32(0, 2), 0, 1, 1, 1, 0, 2, 2, 0x82, 0x83)
	iprp := append(isoBox("ipco", properties...), isoBox("ipma", links...)...)
	meta := append(be32(0), isoBox("pitm", 0, 0, 0, 0, 0, 2)...)
	meta = append(meta, isoBox("iprp", iprp...)...)
	file := isoBox("ftyp", append([]byte(brand), append(be32(0), "mif1miaf"...)...)...)
	return append(append(file, isoBox("meta", meta...)...), isoBox("mdat", make([]byte, 400)...)...)
}

// bmpFile is the head of a bitmap of 40 bytes' header.
func bmpFile(w, h int, depth byte) []byte {
	b := append([]byte("BM"), make([]byte, 60)...)
	binary.LittleEndian.PutUint32(b[14:], 40)
	binary.LittleEndian.PutUint32(b[18:], uint32(int32(w)))
	binary.LittleEndian.PutUint32(b[22:], uint32(int32(h)))
	b[26], b[28] = 1, depth
	return b
}

// animatedWebPFile is an animation whose first frame is one pixel (VP8) on an empty canvas.
func animatedWebPFile(w, h, x, y int) []byte {
	pixel, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		panic(err)
	}
	frame := []byte{byte(x / 2), byte(x / 2 >> 8), 0, byte(y / 2), byte(y / 2 >> 8), 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0}
	frame = append(frame, pixel[12:]...)
	chunk := append(binary.LittleEndian.AppendUint32([]byte("ANMF"), uint32(len(frame))), frame...)
	return webpHeader(w, h, 0x02, chunk...)
}

func TestProbe_measuresWhatOnlyTheWorkerDecodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, media   string
		data          []byte
		width, height int
		pixels        int64
		animated      bool
	}{
		{"avif", "image/avif", heifFile("avif", [2]int{4000, 3000}, 0), 4000, 3000, 12_000_000, false},
		{"avif turned", "image/avif", heifFile("avif", [2]int{4000, 3000}, 1), 3000, 4000, 12_000_000, false},
		{"avif upside down", "image/avif", heifFile("avif", [2]int{4000, 3000}, 2), 4000, 3000, 12_000_000, false},
		{"avif sequence", "image/avif", heifFile("avis", [2]int{64, 48}, 0), 64, 48, 160 * 90, true},
		{"heic", "image/heic", heifFile("heic", [2]int{4032, 3024}, 3), 3024, 4032, 4032 * 3024, false},
		{"heic with one property", "image/heic", bytes.Replace(bytes.Replace(heifFile("heic", [2]int{160, 90}, 0), append(be32(0, 2), 0, 1, 1, 1, 0, 2, 2, 0x82, 0x83), append(be32(0, 1), 0, 2, 1, 0x81), 1),
			append(be32(25), "ipma"...), append(be32(20), "ipma"...), 1), 160, 90, 160 * 90, false},
		{"heif", "image/heic", heifFile("mif1", [2]int{40, 30}, 0), 40, 30, 160 * 90, false},
		{"film box", "image/avif", append(isoBox("ftyp", []byte("avis\x00\x00\x00\x00avis")...),
			isoBox("moov", isoBox("trak", isoBox("tkhd", append(make([]byte, 76), be32(640<<16, 360<<16)...)...)...)...)...), 640, 360, 640 * 360, true},
		{"svg", "image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80.4px">`), 120, 80, 9600, false},
		{"svg in millimetres", "image/svg+xml", []byte(`<?xml version="1.0" encoding="ISO-8859-1"?><!-- <svg width="9"> --><svg width="25.4mm" height="1in">`), 96, 96, 96 * 96, false},
		{"svg by its box", "image/svg+xml", []byte("\xef\xbb\xbf<svg viewBox='0 0 640,480'/>"), 640, 480, 640 * 480, false},
		{"svg by width and box", "image/svg+xml", []byte(`<svg width="100" height="100%" viewBox="0 0 4 3"/>`), 100, 75, 7500, false},
		{"svg by height and box", "image/svg+xml", []byte(`<svg height="100" viewBox="0 0 4 3"/>`), 133, 100, 13_300, false},
		{"svg without a size", "image/svg+xml", []byte(`<svg width="100%"/>`), 300, 150, 45_000, false},
		{"svg of a poster", "image/svg+xml", []byte(`<svg width="1e6" height="5e5"/>`), 4096, 2048, 4096 * 2048, false},
		{"svg with entities", "image/svg+xml", []byte(`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [` +
			`<!ENTITY ns "http://www.w3.org/2000/svg">]><svg xmlns="&ns;" width="30" height="20">`), 30, 20, 600, false},
		{"svg with a prefix", "image/svg+xml", []byte(`<svg:svg xmlns:svg="http://www.w3.org/2000/svg" width="30" height="20"/>`), 30, 20, 600, false},
		{"bitmap of 4 bits", "image/bmp", bmpFile(70, -50, 4), 70, 50, 3500, false},
		{"bitmap of OS/2", "image/bmp", append([]byte("BM\x1a\x00\x00\x00\x00\x00\x00\x00\x1a\x00\x00\x00\x0c\x00\x00\x00"), 9, 0, 7, 0, 1, 0, 24, 0, 0, 0), 9, 7, 63, false},
	}
	for _, tt := range tests {
		got, err := probe(tt.data)
		want := Info{MediaType: tt.media, Width: tt.width, Height: tt.height, Orientation: 1, Animated: tt.animated, Pixels: tt.pixels}
		if err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", tt.name, got, err, want)
		}
	}
}

func TestProbe_knowsWhatItDecodes(t *testing.T) {
	t.Parallel()
	grey := image.NewGray(image.Rect(0, 0, 8, 6))
	var b, f bytes.Buffer
	must(t, bmp.Encode(&b, grey))
	must(t, tiff.Encode(&f, grey, &tiff.Options{Compression: tiff.Deflate}))
	for name, data := range map[string][]byte{"bmp": b.Bytes(), "bmp of 24 bits": bmpFile(8, 6, 24), "tiff": f.Bytes(), "png": pngOf(t, grey)} {
		if info, err := probe(data); err != nil || !info.Decodable || info.Width != 8 || info.Height != 6 {
			t.Errorf("%s: %+v %v", name, info, err)
		}
	}
	for name, at := range map[string]int64{"JPEG in TIFF": 7, "old JPEG in TIFF": 6} {
		data := bytes.Replace(f.Bytes(), []byte("\x03\x01\x03\x00\x01\x00\x00\x00\x08"), []byte{3, 1, 3, 0, 1, 0, 0, 0, byte(at)}, 1)
		if info, err := probe(data); err != nil || info.Decodable || info.Width != 8 {
			t.Errorf("%s: %+v %v", name, info, err)
		}
	}
}

func TestProbe_seesSeveralPages(t *testing.T) {
	t.Parallel()
	var f bytes.Buffer
	must(t, tiff.Encode(&f, image.NewGray(image.Rect(0, 0, 8, 6)), nil))
	data := f.Bytes()
	first := int64(binary.LittleEndian.Uint32(data[4:]))
	entries := int64(binary.LittleEndian.Uint16(data[first:]))
	if info, err := probe(data); err != nil || info.Several {
		t.Errorf("one page: %+v %v", info, err)
	}
	binary.LittleEndian.PutUint32(data[first+2+12*entries:], uint32(first))
	info, err := probe(data)
	if err != nil || !info.Several {
		t.Errorf("two pages: %+v %v", info, err)
	}
	if got, err := normalise(t, data, Limits{}); err != nil || got.Note != "first page of several, made image/png" {
		t.Errorf("note %q, %v", got.Note, err)
	}
}

func TestProbe_seesAnimatedPNG(t *testing.T) {
	t.Parallel()
	data := pngOf(t, corner(40, 20))
	const header = 8 + 25
	chunk := append(append(be32(8), "acTL"...), append(be32(2, 0), be32(0)...)...)
	data = append(append(bytes.Clone(data[:header]), chunk...), data[header:]...)
	if info, err := probe(data); err != nil || !info.Animated {
		t.Errorf("%+v %v", info, err)
	}
}

func TestTrimSVG(t *testing.T) {
	t.Parallel()
	const drawing = `<svg width="9" height="8"><g/></svg>`
	for _, before := range []string{"", "\xef\xbb\xbf", "<?xml version='1.0'?>\n<!-- <svg> -->\n", `<!DOCTYPE svg [<!ENTITY a "b>c">]>`} {
		if got := TrimSVG([]byte(before + drawing)); string(got) != drawing {
			t.Errorf("behind %q: %q", before, got)
		}
	}
	for _, other := range []string{"", "<html><svg/></html>", "text"} {
		if got := TrimSVG([]byte(other)); got != nil {
			t.Errorf("%q: %q", other, got)
		}
	}
}

func TestFit_encodesWhatAnotherDecoderMade(t *testing.T) {
	t.Parallel()
	info, err := probe(heifFile("heic", [2]int{400, 300}, 1))
	must(t, err)
	got, err := Fit(t.Context(), corner(300, 400), info, Limits{MaxSide: 100})
	if err != nil || got.Width != 75 || got.Height != 100 || got.MediaType != "image/png" || !got.Changed {
		t.Fatalf("%dx%d %s %v", got.Width, got.Height, got.MediaType, err)
	}
	img, err := png.Decode(bytes.NewReader(got.Data))
	must(t, err)
	if img.Bounds().Dx() != 75 {
		t.Errorf("it is %v", img.Bounds())
	}
	if _, err := Fit(t.Context(), image.NewGray(image.Rect(0, 0, 0, 5)), info, Limits{}); err == nil {
		t.Error("a picture without pixels was taken")
	}
}
