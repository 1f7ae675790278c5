package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"os"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

func TestMedia_picturesLeaveBare(t *testing.T) {
	t.Parallel()
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 40, 30)), nil); err != nil {
		t.Fatal(err)
	}
	plain := map[string][]byte{"a.jpg": photo.Bytes(), "a.png": grey(t, 40, 30)}
	blobs, files := memoryBlobs{}, fstest.MapFS{}
	for name, data := range plain {
		located := llmtest.WithLocation(data)
		blobs[name], files[name] = located, &fstest.MapFile{Data: located}
	}
	load := Source{FS: files, Blobs: blobs, Worker: &fakeWorker{}}.Loader(imaging.Limits{})
	for name, want := range plain {
		for _, picture := range []content.Image{{Name: name}, {SHA256: name, Source: content.SourceBlob}} {
			if got, mediaType, err := load.Load(t.Context(), picture); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%+v: %d bytes of %s, %v, want the %d bytes without metadata", picture, len(got), mediaType, err, len(want))
			}
		}
		one := Memory{Data: blobs[name], MediaType: map[string]string{"a.jpg": "image/jpeg", "a.png": "image/png"}[name]}
		if got, _, err := one.Load(t.Context(), content.Image{}); err != nil || !bytes.Equal(got, want) {
			t.Errorf("one picture, %s: %d bytes, %v", name, len(got), err)
		}
	}
	if _, _, err := (Memory{Data: []byte("II*\x00"), MediaType: "image/tiff"}).Load(t.Context(), content.Image{}); err == nil {
		t.Error("a picture whose metadata cannot be found was sent")
	}
}

// TestMedia_encodesAnewWhatItCannotClean: a service that takes HEIC gets what the worker makes of it, and so does one that
// takes a PNG with a chunk that nobody knows.
func TestMedia_encodesAnewWhatItCannotClean(t *testing.T) {
	t.Parallel()
	heic, err := os.ReadFile("../cmd/vaultflow-worker/testdata/quarters.heic")
	if err != nil {
		t.Fatal(err)
	}
	plain := grey(t, 40, 30)
	odd := append(bytes.Clone(plain[:33]), "\x00\x00\x00\x02CrITxy\x00\x00\x00\x00"...)
	odd = append(odd, plain[33:]...)
	binary.BigEndian.PutUint32(odd[43:], crc32.ChecksumIEEE(odd[37:43]))
	files := fstest.MapFS{"a.heic": {Data: heic}, "odd.png": {Data: odd}}
	limits := imaging.Limits{Accept: []string{"image/heic", "image/jpeg", "image/png"}}
	for name, worker := range map[string]Worker{"a.heic": &fakeWorker{}, "odd.png": &fakeWorker{}} {
		data, mediaType, err := Source{FS: files, Worker: worker}.Loader(limits).Load(t.Context(), content.Image{Name: name})
		if err != nil || mediaType == "image/heic" || bytes.Contains(data, []byte("xy")) {
			t.Errorf("%s: %d bytes of %s, %v", name, len(data), mediaType, err)
		}
	}
	if data, _, err := (Source{FS: files}).Loader(limits).Load(t.Context(), content.Image{Name: "a.heic"}); err == nil {
		t.Errorf("without a worker %d bytes were sent", len(data))
	}
}
