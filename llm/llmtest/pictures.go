package llmtest

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/content"
)

// Album is a loader over pictures in memory. The zero value is empty.
type Album struct {
	mu    sync.Mutex // guards both
	files map[string][]byte
	asked []string
}

var errVanished = errors.New("open /secret/path: no such file")

// Load implements llm.Loader. Its media type is always wrong: adapters must look at the bytes.
func (a *Album) Load(_ context.Context, image content.Image) ([]byte, string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, image.Name)
	data, ok := a.files[image.Name]
	if !ok {
		return nil, "", errVanished
	}
	return data, "image/x-wrong", nil
}

// Add puts a picture of a colour and format ("png", "jpeg", "gif") into the album and returns its block.
func (a *Album) Add(t testing.TB, name, format string, side int, shade uint8) content.Image {
	t.Helper()
	canvas := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range canvas.Pix {
		canvas.Pix[i] = shade
	}
	canvas.Set(0, 0, color.White)
	var buf bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&buf, canvas)
	case "jpeg":
		err = jpeg.Encode(&buf, canvas, nil)
	case "gif":
		err = gif.Encode(&buf, canvas, nil)
	default:
		buf.WriteString(format)
	}
	if err != nil {
		t.Fatalf("draw %s: %v", name, err)
	}
	return a.put(name, buf.Bytes(), side)
}

func (a *Album) put(name string, data []byte, side int) content.Image {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.files == nil {
		a.files = map[string][]byte{}
	}
	a.files[name] = data
	return content.Image{Name: name, MediaType: "image/webp", Width: side, Height: side, Size: int64(len(data))}
}
