package disk

import (
	"archive/zip"
	"bytes"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

func zipped(t *testing.T, name string, data []byte, comment string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	must(t, err)
	_, err = f.Write(data)
	must(t, err)
	must(t, w.SetComment(comment))
	must(t, w.Close())
	return buf.Bytes()
}

func TestIncomplete(t *testing.T) {
	t.Parallel()
	img := image.NewPaletted(image.Rect(0, 0, 9, 9), palette.Plan9)
	var jpg, pngs, gifs bytes.Buffer
	must(t, jpeg.Encode(&jpg, img, nil))
	must(t, png.Encode(&pngs, img))
	must(t, gif.Encode(&gifs, img, nil))
	pdf := []byte("%PDF-1.7\n" + strings.Repeat("x", 5000) + "\nstartxref\n9\n%%EOF\n")
	inner := zipped(t, "a.txt", bytes.Repeat([]byte("data"), 500), "")
	outer := zipped(t, "inner.zip", append(inner, bytes.Repeat([]byte("z"), 999)...), "a comment")
	webp := []byte("RIFF\x10\x00\x00\x00WEBPVP8L" + strings.Repeat("x", 8))
	for _, tc := range []struct {
		name string
		data []byte
		cut  int // bytes to take off for an incomplete one
		want string
	}{
		{"pdf", pdf, 100, "PDF has no trailer"},
		{"pdf after junk", append([]byte("junk\n"), pdf...), 100, "PDF has no trailer"},
		{"pdf with padding", append(pdf, make([]byte, 500)...), 600, "PDF has no trailer"},
		{"zip", inner, 1, "ZIP has no end record"},
		{"zip in zip", outer, len(outer) - len(inner) - 60, "ZIP has no end record"},
		{"jpeg", jpg.Bytes(), 1, "JPEG has no end mark"},
		{"padded jpeg", append(jpg.Bytes(), 0, 0, 0), 5, "JPEG has no end mark"},
		{"png", pngs.Bytes(), 4, "PNG has no end chunk"},
		{"gif", gifs.Bytes(), 1, "GIF has no trailer"},
		{"webp", webp, 1, "WebP is shorter"},
		{"text", []byte("any text"), 3, ""},
		{"short", []byte("x"), 0, ""},
	} {
		if got, err := incomplete(bytes.NewReader(tc.data), int64(len(tc.data))); got != "" || err != nil {
			t.Errorf("%s, whole: %q %v", tc.name, got, err)
		}
		part := tc.data[:len(tc.data)-tc.cut]
		got, err := incomplete(bytes.NewReader(part), int64(len(part)))
		if err != nil || !strings.Contains(got, tc.want) || (tc.want == "") != (got == "") {
			t.Errorf("%s, cut: %q %v, want …%s…", tc.name, got, err, tc.want)
		}
	}
	if _, err := incomplete(bytes.NewReader(pdf[:50]), int64(len(pdf))); err == nil {
		t.Error("a file that shrank was judged")
	}
}
