package llmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/content"
)

// Album is a loader over pictures and documents in memory. The zero value is empty.
type Album struct {
	mu    sync.Mutex // guards both
	files map[string][]byte
	asked []string
}

// AddDocument puts a PDF of some bytes into the album and returns its block.
func (a *Album) AddDocument(t testing.TB, name string, pages int) content.Document {
	t.Helper()
	data := []byte("%PDF-1.4\n% " + name + strings.Repeat(" padding", 16) + "\n%%EOF\n")
	sum := sha256.Sum256(data)
	a.put(name, data, 0)
	return content.Document{Name: name, MediaType: "application/pdf", Pages: pages, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}

// LoadDocument implements llm.DocumentLoader, with the same wrong media type.
func (a *Album) LoadDocument(_ context.Context, document content.Document) ([]byte, string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, document.Name)
	data, ok := a.files[document.Name]
	if !ok {
		return nil, "", errVanished
	}
	return data, "text/x-wrong", nil
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
