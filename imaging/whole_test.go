package imaging

import (
	"bytes"
	"errors"
	"image"
	"testing"

	"golang.org/x/image/bmp"

	"github.com/vaultflow/vaultflow/failure/omission"
)

// A torn picture is found without making pixels, wherever it ends, and also where the file kept its length.
func TestWhole(t *testing.T) {
	t.Parallel()
	all := drawn(t)
	for mediaType, data := range marked(t) {
		all[mediaType+" "] = data
	}
	var b bytes.Buffer
	must(t, bmp.Encode(&b, image.NewRGBA(image.Rect(0, 0, 30, 20))))
	all["image/bmp"], all["image/heic"] = b.Bytes(), heifFile("heic", [2]int{40, 30}, 0)
	all["image/svg+xml"] = []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="5" height="5"/></svg>` + "\n")
	check := func(kind string, data []byte) error {
		return Whole(bytes.NewReader(data), int64(len(data)), string(bytes.TrimSpace([]byte(kind))))
	}
	for kind, data := range all {
		if err := check(kind, data); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for _, torn := range [][]byte{data[:len(data)/2], data[:len(data)*9/10], data[:12]} {
			if err := check(kind, torn); !errors.Is(err, ErrCorrupt) || omission.From(err).Cause() != omission.Damaged {
				t.Errorf("%s: %d of %d bytes: %v", kind, len(torn), len(data), err)
			}
		}
	}
	if err := check("image/heic", append(bytes.Clone(all["image/heic"]), "SEFHk\x00\x00\x00 what a phone adds"...)); err != nil {
		t.Errorf("bytes behind a picture: %v", err)
	}
	for _, kind := range []string{"image/jpeg", "image/png", "image/gif"} {
		zeroed := append(bytes.Clone(all[kind][:len(all[kind])/2]), make([]byte, len(all[kind])/2)...)
		if err := check(kind, zeroed); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s with zeroes at its end: %v", kind, err)
		}
	}
	other := bytes.Clone(all["image/png"])
	other[bytes.Index(other, []byte("IDAT"))+9] ^= 1
	if err := check("image/png", other); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a PNG with another byte in its picture: %v", err)
	}
}
