package llm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"image"

	_ "image/gif" // read the sizes of pictures
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/webp"

	"github.com/vaultflow/vaultflow/content"
)

// PictureLimits are what the pictures of one request are made to fit. Zero fields do not limit.
type PictureLimits struct {
	MaxSide   int   // pixels of the longer side
	MaxPixels int64 // width times height
	MaxBytes  int64 // of the file, before base64
	Reencode  bool  // no picture goes as it is, not even one that fits
}

// Fitter is a Loader that makes pictures fit. A Request.Media that implements it too lets pictures be sent again smaller.
type Fitter interface {
	// Fit is a loader whose pictures fit these limits as well as its own. The one that it is made from stays as it is.
	Fit(limits PictureLimits) Loader
}

// both are limits that keep two.
func (l PictureLimits) both(m PictureLimits) PictureLimits {
	return PictureLimits{
		MaxSide: smaller(l.MaxSide, m.MaxSide), MaxPixels: smaller(l.MaxPixels, m.MaxPixels),
		MaxBytes: smaller(l.MaxBytes, m.MaxBytes), Reencode: l.Reencode || m.Reencode,
	}
}

// smaller is the smaller of two limits, of which 0 is none.
func smaller[N int | int64](a, b N) N {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// loaded is a medium as it would be sent: its measures, not its bytes.
type loaded struct {
	spot          spot
	block         content.Block
	gone          bool // its text is sent
	bytes         int64
	width, height int // of a picture; 0 when it cannot be told
	sum           [sha256.Size]byte
}

// encoded is how many bytes it takes as base64.
func (l loaded) encoded() int64 { return (l.bytes + 2) / 3 * 4 }

func (l loaded) side() int { return max(l.width, l.height) }

func (l loaded) pixels() int64 { return int64(l.width) * int64(l.height) }

// patches counts squares of 32 pixels, in which OpenAI measures pictures.
func (l loaded) patches() int64 { return int64((l.width+31)/32) * int64((l.height+31)/32) }

func (l loaded) isPicture() bool { return l.block.Type() == content.TypeImage && !l.gone }

// load looks at all media as they would be sent, one at a time. No bytes are kept.
func (r Request) load(ctx context.Context) ([]loaded, error) {
	var all []loaded
	for _, p := range r.media() {
		one := loaded{spot: p, block: r.at(p)}
		data, err := r.bytes(ctx, one.block)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		one.gone = err != nil
		if err == nil {
			one.bytes, one.sum = int64(len(data)), sha256.Sum256(data)
			if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
				one.width, one.height = config.Width, config.Height
			}
		}
		all = append(all, one)
	}
	return all, nil
}

var errNoLoader = errors.New("no loader")

// bytes are what would be sent for a medium.
func (r Request) bytes(ctx context.Context, b content.Block) (data []byte, err error) {
	err = errNoLoader
	switch b := b.(type) {
	case content.Image:
		if r.Media != nil {
			data, _, err = r.Media.Load(ctx, b)
		}
	case content.Document:
		if loader, ok := r.Media.(DocumentLoader); ok {
			data, _, err = loader.LoadDocument(ctx, b)
		}
	default:
		if loader, ok := r.Media.(MediaLoader); ok {
			data, _, err = loader.LoadMedia(ctx, b)
		}
	}
	return data, err
}

// fitted is the request with its pictures made to fit, where its loader can do that.
func (r Request) fitted(l PictureLimits) Request {
	if f, ok := r.Media.(Fitter); ok {
		r.Media = f.Fit(l)
	}
	return r
}
