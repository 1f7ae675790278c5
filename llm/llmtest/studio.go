package llmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
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

// Studio draws the pictures and documents that it is asked for, of the sizes that the blocks say, and keeps nothing. It
// implements llm.Fitter and llm.DocumentLoader. Pictures are noise, so that their files are as large as their pixels; a page
// of a document can be had as a picture.
type Studio struct {
	Limits   llm.PictureLimits
	NoPages  bool // documents cannot be cut or drawn
	NoScales bool // pictures cannot be made to fit
}

// Fit implements llm.Fitter.
func (s Studio) Fit(l llm.PictureLimits) llm.Loader {
	if s.NoScales {
		return s
	}
	if s.Limits.MaxSide == 0 || l.MaxSide > 0 && l.MaxSide < s.Limits.MaxSide {
		s.Limits.MaxSide = l.MaxSide
	}
	if s.Limits.MaxPixels == 0 || l.MaxPixels > 0 && l.MaxPixels < s.Limits.MaxPixels {
		s.Limits.MaxPixels = l.MaxPixels
	}
	if s.Limits.MaxBytes == 0 || l.MaxBytes > 0 && l.MaxBytes < s.Limits.MaxBytes {
		s.Limits.MaxBytes = l.MaxBytes
	}
	s.Limits.Reencode = s.Limits.Reencode || l.Reencode
	return s
}

// Load implements llm.Loader. A picture of type image/webp is one only in its header until it is encoded anew.
func (s Studio) Load(_ context.Context, picture content.Image) ([]byte, string, error) {
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

// LoadDocument implements llm.DocumentLoader.
func (s Studio) LoadDocument(_ context.Context, d content.Document) ([]byte, string, error) {
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
