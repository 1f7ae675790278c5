package llmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// Studio draws the pictures and documents that it is asked for, in the sizes of their blocks, and keeps nothing. Pictures
// are noise, so that their files are as large as their pixels. It draws pages of documents too.
type Studio struct {
	Limits   llm.PictureLimits
	NoPages  bool // documents cannot be cut or drawn
	NoScales bool // pictures cannot be made to fit
}

var _ llm.Loader = Studio{}

// Fit implements llm.Loader.
func (s Studio) Fit(l llm.PictureLimits) (llm.Loader, error) {
	if s.NoScales {
		return nil, errors.ErrUnsupported
	}
	s.Limits = s.Limits.And(l)
	return s, nil
}

// Load implements llm.Loader.
func (s Studio) Load(_ context.Context, medium content.Block) ([]byte, string, error) {
	switch m := medium.(type) {
	case content.Image:
		return s.picture(m)
	case content.Document:
		return s.document(m)
	}
	return nil, "", errors.ErrUnsupported
}

// picture draws a picture. One of type image/webp has nothing but a header until it is encoded again.
func (s Studio) picture(picture content.Image) ([]byte, string, error) {
	if picture.Source == content.SourcePage && s.NoPages || picture.Source == content.SourceRemote {
		return nil, "", errVanished
	}
	if picture.MediaType == "image/webp" && s.Limits == (llm.PictureLimits{}) {
		return []byte("RIFF\x00\x00\x00\x00WEBPVP8 " + picture.Name), "image/webp", nil
	}
	w, h := max(picture.Width, 16), max(picture.Height, 16)
	for {
		if long := max(w, h); s.Limits.MaxSide > 0 && long > s.Limits.MaxSide {
			w, h = w*s.Limits.MaxSide/long, h*s.Limits.MaxSide/long
		}
		if s.Limits.MaxPixels > 0 && int64(w)*int64(h) > s.Limits.MaxPixels {
			w, h = w*9/10, h*9/10
			continue
		}
		data := draw(picture.Name+strconv.Itoa(picture.Page), w, h)
		if s.Limits.MaxBytes == 0 || int64(len(data)) <= s.Limits.MaxBytes {
			return data, "image/png", nil
		}
		w, h = w*9/10, h*9/10
	}
}

func (s Studio) document(d content.Document) ([]byte, string, error) {
	if d.PageRange == "" {
		return Pages(d.Pages), "application/pdf", nil
	}
	if s.NoPages {
		return nil, "", errVanished
	}
	n := 0
	for part := range strings.SplitSeq(d.PageRange, ",") {
		low, high, ranged := strings.Cut(part, "-")
		if !ranged {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil {
			return nil, "", fmt.Errorf("range %q", d.PageRange)
		}
		n += last - first + 1
	}
	return Pages(n), "application/pdf", nil
}

// draw makes noise that is the same for the same name and size.
func draw(name string, w, h int) []byte {
	noise := rand.NewChaCha8(sha256.Sum256([]byte(name)))
	picture := image.NewGray(image.Rect(0, 0, w, h))
	_, _ = noise.Read(picture.Pix) // never fails
	picture.SetGray(0, 0, color.Gray{Y: 255})
	var buf bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.NoCompression}
	if err := encoder.Encode(&buf, picture); err != nil {
		panic(err) // a programmer's mistake in a test
	}
	return slices.Clip(buf.Bytes())
}
