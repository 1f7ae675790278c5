package imaging

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// secret stands in every place of the files below that nobody should get; profile in those that stay.
const (
	secret  = "N59.91 E10.75"
	profile = "a colour profile"
)

func segment(marker byte, body string) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2)), body...)
}

func pngPiece(name, body string) []byte {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), name+body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func riffPiece(name, body string) []byte {
	b := append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body))), body...)
	return append(b, make([]byte, len(body)%2)...)
}

func gifPiece(label byte, blocks ...string) []byte {
	b := []byte{0x21, label}
	for _, block := range blocks {
		b = append(append(b, byte(len(block))), block...)
	}
	return append(b, 0)
}

// drawn are pictures without metadata, by media type.
func drawn(t testing.TB) map[string][]byte {
	t.Helper()
	canvas := image.NewPaletted(image.Rect(0, 0, 16, 12), color.Palette{color.White, color.Black, color.RGBA{200, 30, 30, 255}})
	for i := range canvas.Pix {
		canvas.Pix[i] = uint8(i % 3)
	}
	var j, p, g bytes.Buffer
	for _, err := range []error{
		jpeg.Encode(&j, canvas, nil), png.Encode(&p, canvas),
		gif.EncodeAll(&g, &gif.GIF{Image: []*image.Paletted{canvas, canvas}, Delay: []int{5, 5}, LoopCount: 3}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string][]byte{
		"image/jpeg": j.Bytes(), "image/png": p.Bytes(), "image/gif": g.Bytes(),
		"image/webp": animatedWebPFile(16, 12, 0, 0),
	}
}

// marked adds to each picture every kind of metadata that its format has, and a colour profile.
func marked(t testing.TB) map[string][]byte {
	t.Helper()
	all := drawn(t)
	exif := "MM\x00*\x00\x00\x00\x08\x00\x00" + secret
	icc := "ICC_PROFILE\x00\x01\x01" + profile

	j := append([]byte{0xff, 0xd8}, segment(0xe0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x01\x01"+secret[:3])...)
	for _, s := range [][]byte{
		segment(0xe0, "JFXX\x00\x10"+secret), segment(0xe1, "Exif\x00\x00"+exif), segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00"+secret),
		segment(0xe2, icc), segment(0xe2, "MPF\x00"+secret), segment(0xed, "Photoshop 3.0\x008BIM"+secret), segment(0xfe, secret), segment(0xef, secret),
	} {
		j = append(j, s...)
	}
	all["image/jpeg"] = append(append(j, all["image/jpeg"][2:]...), secret...)

	p := all["image/png"]
	head, rest := bytes.Clone(p[:33]), p[33:]
	for _, c := range [][]byte{
		pngPiece("iCCP", "x\x00\x00"+profile), pngPiece("eXIf", exif), pngPiece("tEXt", "Comment\x00"+secret), pngPiece("zTXt", "c\x00\x00"+secret),
		pngPiece("iTXt", "XML:com.adobe.xmp\x00"+secret), pngPiece("tIME", secret[:7]), pngPiece("caBX", secret), pngPiece("prVt", secret),
	} {
		head = append(head, c...)
	}
	all["image/png"] = append(append(head, rest...), secret...)

	w := all["image/webp"]
	body := riffPiece("VP8X", "\x2e"+string(w[21:30]))
	body = append(body, riffPiece("ICCP", profile)...)
	frames := w[30:]
	frame := append(bytes.Clone(frames[8:]), riffPiece("XMP ", secret)...) // inside of a frame too
	body = append(append(body, riffPiece("ANIM", "\x00\x00\x00\x00\x00\x00")...), riffPiece("ANMF", string(frame))...)
	body = append(append(append(body, riffPiece("EXIF", exif)...), riffPiece("XMP ", secret)...), riffPiece("mine", secret)...)
	all["image/webp"] = append(append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body)+4)), "WEBP"...), append(body, secret...)...)

	g := all["image/gif"]
	at := 13 + int(colourTable(g[10]))
	var extensions []byte
	for _, e := range [][]byte{
		gifPiece(0xfe, secret), gifPiece(0xff, "XMP DataXMP", secret), gifPiece(0xf9, "\x00\x00\x00\x00"), gifPiece(0x01, strings.Repeat("x", 12), secret),
		gifPiece(0xff, "ICCRGBG1012", profile), gifPiece(0xff, "MYPROG_1.00", secret),
	} {
		extensions = append(extensions, e...)
	}
	all["image/gif"] = append(append(append(bytes.Clone(g[:at]), extensions...), g[at:]...), secret...)
	return all
}

func TestWithoutMetadata_keepsPixelsAndProfile(t *testing.T) {
	t.Parallel()
	plain := drawn(t)
	for mediaType, data := range marked(t) {
		given := bytes.Clone(data)
		got, ok := WithoutMetadata(mediaType, data)
		if !ok {
			t.Errorf("%s: not understood", mediaType)
			continue
		}
		if bytes.Contains(got, []byte(secret[:3])) {
			t.Errorf("%s: metadata stayed: %q", mediaType, got)
		}
		if !bytes.Contains(got, []byte(profile)) {
			t.Errorf("%s: the colour profile is gone", mediaType)
		}
		if !bytes.Equal(data, given) {
			t.Errorf("%s: the input was changed", mediaType)
		}
		if diff := cmp.Diff(pixels(t, plain[mediaType]), pixels(t, got)); diff != "" {
			t.Errorf("%s: pixels (-want +got):\n%s", mediaType, diff)
		}
		again, ok := WithoutMetadata(mediaType, got)
		if !ok || &again[0] != &got[0] || len(again) != len(got) {
			t.Errorf("%s: what is clean was copied or changed", mediaType)
		}
	}
}

// pixels are the frames of a picture.
func pixels(t testing.TB, data []byte) any {
	t.Helper()
	if g, err := gif.DecodeAll(bytes.NewReader(data)); err == nil {
		return []any{g.Image, g.Delay, g.LoopCount}
	}
	info, err := Probe(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	img, err := decode(bytes.NewReader(data), int64(len(data)), info)
	if err != nil {
		t.Fatalf("%v of %q", err, data)
	}
	return img
}

// TestWithoutMetadata_refusesWhatItCannotFollow: the caller then decodes and encodes the picture, or does not send it.
func TestWithoutMetadata_refusesWhatItCannotFollow(t *testing.T) {
	t.Parallel()
	all := marked(t)
	for mediaType, data := range all {
		end := bytes.LastIndex(data, []byte(secret))
		if mediaType == "image/png" {
			end -= 4 // IEND is whole without its checksum only
		}
		for _, broken := range [][]byte{nil, data[:3], data[:end/2], data[:end-1]} {
			if got, ok := WithoutMetadata(mediaType, broken); ok {
				t.Errorf("%s: %d of %d bytes gave %d", mediaType, len(broken), len(data), len(got))
			}
		}
		for other := range all {
			if _, ok := WithoutMetadata(other, data); ok != (other == mediaType) {
				t.Errorf("%s read as %s: %v", mediaType, other, ok)
			}
		}
	}
	for name, data := range map[string][]byte{
		"image/jpeg": {0xff, 0xd8, 0xff, 0xd9},                                     // no scan
		"image/png":  append([]byte("\x89PNG\r\n\x1a\n"), pngPiece("IEND", "")...), // no pixels
		"image/heic": heifFile("heic", [2]int{40, 30}, 0),
		"image/tiff": []byte("II*\x00"),
	} {
		if _, ok := WithoutMetadata(name, data); ok {
			t.Errorf("%s: %q was taken", name, data)
		}
	}
	unknown := append(bytes.Clone(all["image/png"][:33]), pngPiece("CrIT", secret)...)
	if _, ok := WithoutMetadata("image/png", append(unknown, all["image/png"][33:]...)); ok {
		t.Error("a PNG with an unknown critical chunk was taken")
	}
}

// FuzzWithoutMetadata: whatever comes in, the result is not longer than the input by more than padding, is stable, and shows what the
// input shows.
func FuzzWithoutMetadata(f *testing.F) {
	types := []string{"image/jpeg", "image/png", "image/webp", "image/gif"}
	for i, mediaType := range types {
		f.Add(uint8(i), drawn(f)[mediaType])
		f.Add(uint8(i), marked(f)[mediaType])
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		mediaType := types[int(kind)%len(types)]
		got, ok := WithoutMetadata(mediaType, data)
		if !ok {
			return
		}
		if len(got) > len(data)+2+len(data)/24 {
			t.Errorf("%d bytes became %d", len(data), len(got))
		}
		again, ok := WithoutMetadata(mediaType, got)
		if !ok || !bytes.Equal(again, got) {
			t.Errorf("a second time: %v, %q, want %q", ok, again, got)
		}
		info, err := Probe(bytes.NewReader(data), int64(len(data)))
		if err != nil || info.Pixels > 1<<20 || info.MediaType != mediaType {
			return
		}
		before, err := decode(bytes.NewReader(data), int64(len(data)), info)
		if err != nil {
			return
		}
		info.Orientation = 1
		after, err := decode(bytes.NewReader(got), int64(len(got)), info)
		if err != nil {
			t.Fatalf("%v in %q", err, got)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("pixels (-want +got):\n%s", diff)
		}
	})
}
