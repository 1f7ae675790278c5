package media

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// foreign are pictures of kinds that services do not take, and an animation.
func foreign(t *testing.T) fstest.MapFS {
	t.Helper()
	canvas := image.NewPaletted(image.Rect(0, 0, 60, 40), color.Palette{color.White, color.Black})
	var b, f, g bytes.Buffer
	for _, err := range []error{
		bmp.Encode(&b, canvas), tiff.Encode(&f, canvas, nil),
		gif.EncodeAll(&g, &gif.GIF{Image: []*image.Paletted{canvas, canvas}, Delay: []int{5, 5}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files := fstest.MapFS{
		"a.bmp": {Data: b.Bytes()}, "a.tiff": {Data: f.Bytes()}, "a.svg": {Data: []byte(drawing)}, "moving.gif": {Data: g.Bytes()},
		"really.jpg": {Data: grey(t, 40, 30)},
	}
	for name, from := range map[string]string{"a.heic": "quarters.heic", "a.avif": "quarters.avif"} {
		data, err := os.ReadFile("../cmd/vaultflow-worker/testdata/" + from)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

// TestMedia_sendsWhatServicesTake: whatever a picture is, what is sent is of a type that the service takes, and is declared as
// what its bytes are. An animation goes as it is where it is accepted, else its first frame.
func TestMedia_sendsWhatServicesTake(t *testing.T) {
	t.Parallel()
	files := foreign(t)
	for _, c := range []struct {
		provider, model string
		moving          string // type of the animation as it is sent
	}{
		{"anthropic", "claude-sonnet-4-5", "image/gif"},
		{"openai", "gpt-4o", "image/png"}, // takes GIF, and no animation
		{"google", "gemini-3-pro", "image/png"},
		{"ollama", "llava", "image/png"},
		{"mistral", "mistral-medium", "image/png"},
		{"xai", "grok-4", "image/png"},
	} {
		bounds := policy.DefaultBudget().Bound(policy.Limits(c.provider, c.model))
		load := Source{FS: files, Worker: &fakeWorker{}}.Loader(Limits(bounds))
		for name, file := range files {
			data, mediaType, err := load.Load(t.Context(), content.Image{Name: name})
			if err != nil {
				t.Errorf("%s, %s: %v", c.provider, name, err)
				continue
			}
			sniffed := http.DetectContentType(data)
			short := strings.TrimPrefix(sniffed, "image/")
			if mediaType != sniffed || !slices.Contains(policy.DeliveryOf(c.provider, c.model).Formats[policy.Image], short) {
				t.Errorf("%s, %s: declared %s, is %s", c.provider, name, mediaType, sniffed)
			}
			if name == "moving.gif" && (sniffed != c.moving || (sniffed == "image/gif") != bytes.Equal(data, file.Data)) {
				t.Errorf("%s: the animation is sent as %s", c.provider, sniffed)
			}
		}
	}
}
