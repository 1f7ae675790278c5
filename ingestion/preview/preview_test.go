package preview

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"testing"

	"golang.org/x/image/bmp"
)

func picture(t *testing.T, kind string, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range img.Pix {
		img.Pix[i] = byte(i)*31 | 0x80
	}
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "dib":
		err = bmp.Encode(&b, img)
	}
	if err != nil {
		t.Fatal(err)
	}
	if kind == "dib" {
		return b.Bytes()[14:]
	}
	return b.Bytes()
}

func side(t *testing.T, data []byte) int {
	t.Helper()
	info, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0
	}
	if _, _, err := image.Decode(bytes.NewReader(data)); err != nil {
		t.Errorf("the picture is not whole: %v", err)
	}
	return info.Width
}

var little = binary.LittleEndian

// iconOf packs pictures as Windows does. Bitmaps have twice their height.
func iconOf(pictures map[int][]byte) []byte {
	out := little.AppendUint16([]byte{0, 0, 1, 0}, uint16(len(pictures)))
	at := 6 + 16*len(pictures)
	var body []byte
	for side, data := range pictures {
		if !bytes.HasPrefix(data, pngMark) {
			data = bytes.Clone(data)
			little.PutUint32(data[8:], uint32(2*side))
		}
		out = append(out, byte(side), byte(side), 0, 0, 1, 0, 32, 0)
		out = little.AppendUint32(little.AppendUint32(out, uint32(len(data))), uint32(at+len(body)))
		body = append(body, data...)
	}
	return append(out, body...)
}

// rawOf is a TIFF with a small JPEG in its first directory, and the data of the camera and a larger JPEG in directories in it.
func rawOf(small, large []byte) []byte {
	lossless := []byte("\xff\xd8\xff\xc3\x00\x08 much longer than the pictures that anybody can see" + string(make([]byte, 1<<14)))
	out := append([]byte("II*\x00\x08\x00\x00\x00"), make([]byte, 400)...)
	place := func(data []byte) uint32 {
		out = append(out, data...)
		return uint32(len(out) - len(data))
	}
	directory := func(at int, tags ...uint32) {
		b := little.AppendUint16(nil, uint16(len(tags)/3))
		for i := 0; i < len(tags); i += 3 {
			b = little.AppendUint16(little.AppendUint16(b, uint16(tags[i])), 4)
			b = little.AppendUint32(little.AppendUint32(b, tags[i+1]), tags[i+2])
		}
		copy(out[at:], append(b, 0, 0, 0, 0))
	}
	little.PutUint32(out[300:], 100)
	little.PutUint32(out[304:], 200)
	directory(8, tagJPEG, 1, place(small), tagJPEGLength, 1, uint32(len(small)), tagSubIFDs, 2, 300)
	directory(100, tagCompression, 1, 7, tagStripOffsets, 1, place(lossless), tagStripLengths, 1, uint32(len(lossless)))
	directory(200, tagCompression, 1, 6, tagStripOffsets, 1, place(large), tagStripLengths, 1, uint32(len(large)))
	return out
}

func drawingOf(code byte, data []byte) []byte {
	out := append([]byte("AC1027\x00\x00\x00\x00\x00\x00\x00"), 0x20, 0, 0, 0)
	out = append(append(out, make([]byte, 0x20-len(out))...), previewMark...)
	out = append(out, 0, 0, 0, 0, 2)
	at := uint32(len(out) + 18)
	out = little.AppendUint32(little.AppendUint32(append(out, 1), at), 0)
	out = little.AppendUint32(little.AppendUint32(append(out, code), at), uint32(len(data)))
	return append(out, data...)
}

func TestFind(t *testing.T) {
	t.Parallel()
	macOS := []byte("icns\x00\x00\x00\x00")
	for _, s := range []int{8, 40, 20} {
		data := picture(t, "png", s)
		macOS = append(binary.BigEndian.AppendUint32(append(macOS, "ic07"...), uint32(8+len(data))), data...)
	}
	for name, c := range map[string]struct {
		mediaType string
		data      []byte
		side      int
	}{
		"icon, PNG":             {"image/x-icon", iconOf(map[int][]byte{16: picture(t, "dib", 16), 64: picture(t, "png", 64)}), 64},
		"icon, bitmap":          {"image/x-icon", iconOf(map[int][]byte{32: picture(t, "dib", 32), 16: picture(t, "png", 16)}), 32},
		"icons of macOS":        {"image/x-icns", macOS, 40},
		"drawing":               {"image/vnd.dwg", drawingOf(6, picture(t, "png", 30)), 30},
		"older drawing":         {"image/vnd.dwg", drawingOf(2, picture(t, "dib", 24)), 24},
		"drawing with metafile": {"image/vnd.dwg", drawingOf(3, []byte("WMF")), 0},
		"raw photograph":        {"image/x-raw", rawOf(picture(t, "jpeg", 16), picture(t, "jpeg", 48)), 48},
		"nothing":               {"image/x-raw", []byte("II*\x00"), 0},
		"another type":          {"image/jxl", picture(t, "png", 8), 0},
	} {
		if got := side(t, Find(bytes.NewReader(c.data), int64(len(c.data)), c.mediaType)); got != c.side {
			t.Errorf("%s: %d pixels wide, want %d", name, got, c.side)
		}
	}
}

// counting counts the bytes that are read.
type counting struct {
	*bytes.Reader
	read int
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.read += len(p)
	return c.Reader.ReadAt(p, off)
}

// A file whose entries all lead to the same large place is not read once for each of them.
func TestFind_readsNoMoreThanTheFile(t *testing.T) {
	t.Parallel()
	const entries, size = 200, 1 << 20
	entry := little.AppendUint32(little.AppendUint32(append([]byte{1, 1}, make([]byte, 6)...), size-4000), 4000) // of an icon
	icon := append([]byte{0, 0, 1, 0, entries, 0}, bytes.Repeat(entry, entries)...)
	drawing := append([]byte("AC1027\x00\x00\x00\x00\x00\x00\x00"), 0x20, 0, 0, 0)
	drawing = append(append(drawing, make([]byte, 0x20-len(drawing))...), previewMark...)
	drawing = append(append(drawing, 0, 0, 0, 0, entries), bytes.Repeat(little.AppendUint32(little.AppendUint32([]byte{6}, 4000), size-4000), entries)...)
	raw := little.AppendUint16([]byte("II*\x00\x08\x00\x00\x00"), entries)
	raw = append(raw, bytes.Repeat(little.AppendUint32(little.AppendUint32([]byte{tagPanasonicJPEG, 0, 7, 0}, size-4000), 4000), entries)...)
	for mediaType, head := range map[string][]byte{"image/x-icon": icon, "image/vnd.dwg": drawing, "image/x-raw": raw} {
		c := &counting{Reader: bytes.NewReader(append(head, make([]byte, size-len(head))...))}
		if Find(c, size, mediaType); c.read < size/2 || c.read > 6*size {
			t.Errorf("%s: %d bytes were read of %d", mediaType, c.read, size)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x4a\x01\x04\x00\x01\x00\x00\x00\x08\x00\x00\x00\x08\x00\x00\x00"))
	f.Add(iconOf(map[int][]byte{1: append([]byte{40, 0, 0, 0}, make([]byte, 60)...)}))
	f.Add(drawingOf(2, make([]byte, 60)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, mediaType := range []string{"image/x-raw", "image/x-icon", "image/x-icns", "image/vnd.dwg"} {
			if got := Find(bytes.NewReader(data), int64(len(data)), mediaType); len(got) > len(data)+14 {
				t.Errorf("%s: %d bytes of %d", mediaType, len(got), len(data))
			}
		}
	})
}
