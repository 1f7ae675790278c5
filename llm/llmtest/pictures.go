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
	"github.com/vaultflow/vaultflow/llm"
)

// Album is a loader over media in memory. The zero value is empty.
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

var errVanished = errors.New("open /secret/path: no such file")

// AddRecording puts a recording of a format ("wav", "mp3", "mp4") into the album: audio, or video for mp4.
func (a *Album) AddRecording(t testing.TB, name, format string) content.Block {
	t.Helper()
	head, ok := map[string]string{"wav": "RIFF\x24\x00\x00\x00WAVEfmt ", "mp3": "ID3\x04\x00\x00", "mp4": "\x00\x00\x00\x18ftypisom"}[format]
	if !ok {
		t.Fatalf("no recording of format %q", format)
	}
	data := []byte(head + strings.Repeat(" padding", 16) + name)
	sum := sha256.Sum256(data)
	a.put(name, data, 0)
	recording := content.Audio{Name: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	if format == "mp4" {
		return content.Video(recording)
	}
	return recording
}

// page is the picture of a document's page: another one for each.
func page(document []byte, n int) ([]byte, error) {
	if !bytes.HasPrefix(document, []byte("%PDF-")) {
		return nil, errVanished
	}
	var buf bytes.Buffer
	err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 40+n, 50)))
	return buf.Bytes(), err
}

var _ llm.Loader = (*Album)(nil)

// Load implements llm.Loader. Its media type is always wrong: adapters must look at the bytes.
func (a *Album) Load(_ context.Context, medium content.Block) (data []byte, mediaType string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := content.NameOf(medium)
	a.asked = append(a.asked, name)
	data, ok := a.files[name]
	if !ok {
		return nil, "", errVanished
	}
	if image, ok := medium.(content.Image); ok && image.Source == content.SourcePage {
		data, err = page(data, image.Page)
	}
	return data, "text/x-wrong", err
}

// Fit implements llm.Loader: files are what they are.
func (a *Album) Fit(llm.PictureLimits) (llm.Loader, error) { return nil, errors.ErrUnsupported }

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
