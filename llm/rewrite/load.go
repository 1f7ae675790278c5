package rewrite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"image"

	_ "image/gif" // decode the sizes of pictures
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/webp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// loaded is a medium as it would be sent: its measures, not its bytes.
type loaded struct {
	medium
	gone          bool // it cannot be loaded, and its text is sent
	bytes         int64
	width, height int // of a picture; 0 when unknown
	sum           [sha256.Size]byte
}

// encoded returns its size in base64.
func (l loaded) encoded() int64 { return (l.bytes + 2) / 3 * 4 }

func (l loaded) side() int { return max(l.width, l.height) }

func (l loaded) pixels() int64 { return int64(l.width) * int64(l.height) }

// patches returns the number of squares of 32 pixels, in which OpenAI measures pictures.
func (l loaded) patches() int64 { return int64((l.width+31)/32) * int64((l.height+31)/32) }

func (l loaded) isPicture() bool { return l.Type() == content.TypeImage && !l.gone }

// load measures all media as they would be sent, one at a time. It keeps no bytes.
func load(ctx context.Context, r llm.Request) ([]loaded, error) {
	var all []loaded
	for _, m := range mediaOf(r) {
		one := loaded{medium: m}
		data, err := read(ctx, r, m.Block)
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

// read returns the bytes that would be sent for a medium.
func read(ctx context.Context, r llm.Request, medium content.Block) ([]byte, error) {
	if r.Media == nil {
		return nil, errors.ErrUnsupported
	}
	data, _, err := r.Media.Load(ctx, medium)
	return data, err
}

// fit returns the request with pictures that meet the limits, and whether its loader can do that.
func fit(r llm.Request, limits llm.PictureLimits) (llm.Request, bool) {
	if r.Media == nil {
		return r, false
	}
	fitted, err := r.Media.Fit(limits)
	if err != nil {
		return r, false
	}
	r.Media = fitted
	return r, true
}
