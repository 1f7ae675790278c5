package llm

import (
	"context"

	"github.com/vaultflow/vaultflow/content"
)

// Loader reads the bytes of media while a request is written: one at a time, in order, and again when the request is
// repeated. Implementations are safe for concurrent use.
type Loader interface {
	// Load returns the bytes of a picture, document or recording, and their media type. For a document with a PageRange it
	// returns those pages only: no other page leaves the machine. After an error the medium's fallback text is sent instead.
	// The error for a kind of media that the loader does not have is errors.ErrUnsupported.
	Load(ctx context.Context, medium content.Block) (data []byte, mediaType string, err error)
	// Fit returns a loader whose pictures meet the limits as well as its own. The receiver does not change. The error of a
	// loader that cannot scale pictures is errors.ErrUnsupported.
	Fit(limits PictureLimits) (Loader, error)
}

// PictureLimits bound the pictures of one request. Zero fields set no limit.
type PictureLimits struct {
	MaxSide   int   // pixels of the longer side
	MaxPixels int64 // width times height
	MaxBytes  int64 // of the file, before base64
	Reencode  bool  // encode every picture again, even one that fits
}

// And returns limits that satisfy both.
func (l PictureLimits) And(m PictureLimits) PictureLimits {
	return PictureLimits{
		MaxSide: lower(l.MaxSide, m.MaxSide), MaxPixels: lower(l.MaxPixels, m.MaxPixels),
		MaxBytes: lower(l.MaxBytes, m.MaxBytes), Reencode: l.Reencode || m.Reencode,
	}
}

// lower returns the lower of two limits, of which 0 is none.
func lower[N int | int64](a, b N) N {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
