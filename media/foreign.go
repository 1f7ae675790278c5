package media

import (
	"context"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/imaging"
)

// Foreign keeps pictures from outside: the worker decodes and re-encodes them, so that no byte a stranger chose reaches a
// model or is decoded in this process.
type Foreign struct {
	Worker Worker // nil: no picture is taken
	Blobs  Blobs
	Limits imaging.Limits // of the pictures as they are kept
}

// Keep converts and stores a picture. The name is left to the caller.
func (f Foreign) Keep(ctx context.Context, data []byte) (content.Image, error) {
	limits := f.Limits
	limits.Accept, limits.Reencode = []string{"image/png", "image/jpeg"}, true
	made, err := Convert(ctx, f.Worker, data, limits)
	if err != nil {
		return content.Image{}, fmt.Errorf("it cannot be shown: %w", err)
	}
	if f.Blobs == nil {
		return content.Image{}, errors.New("there is no place to keep it")
	}
	digest, err := f.Blobs.Put(ctx, made.Data)
	if err != nil {
		return content.Image{}, fmt.Errorf("it cannot be kept: %w", err)
	}
	return content.Image{
		MediaType: made.MediaType, Width: made.Width, Height: made.Height, Size: int64(len(made.Data)), SHA256: digest, Source: content.SourceBlob,
	}, nil
}
