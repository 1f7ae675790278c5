package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Convert has the worker decode a picture of any kind and re-encode it as PNG or JPEG, upright, within the limits and
// without its metadata. Of a file with several pictures the first is taken. A picture with too many pixels is refused
// before it is given to the worker. Without a worker the error says so.
func Convert(ctx context.Context, w Worker, data []byte, l imaging.Limits) (imaging.Encoded, error) {
	info, err := imaging.Probe(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return imaging.Encoded{}, err
	}
	if err := l.Check(info); err != nil {
		return imaging.Encoded{}, err
	}
	if w == nil {
		return imaging.Encoded{}, ErrNoWorker
	}
	session, _, err := w.OpenData(ctx, data, extract.Open{Kind: extract.KindImage, MediaType: info.MediaType})
	if err != nil {
		return imaging.Encoded{}, inWords(err)
	}
	defer session.Close()
	r := workerRequest(l)
	r.N = 1
	page, err := session.Page(ctx, r)
	switch {
	case err != nil:
		return imaging.Encoded{}, inWords(err)
	case page.Image == nil:
		return imaging.Encoded{}, errors.New("the worker returned no picture")
	}
	made := page.Image
	if l.MaxSide > 0 && max(made.Width, made.Height) > l.MaxSide || l.MaxBytes > 0 && int64(made.Size) > l.MaxBytes {
		return imaging.Encoded{}, fmt.Errorf("the worker returned %dx%d pixels in %d bytes, more than was asked for", made.Width, made.Height, made.Size)
	}
	return imaging.Encoded{
		Data: made.Bytes, MediaType: made.MediaType, Width: made.Width, Height: made.Height, Changed: true,
		Note: "decoded in the worker, made " + made.MediaType,
	}, nil
}

// workerRequest asks for a picture within limits.
func workerRequest(l imaging.Limits) extract.PageRequest {
	r := extract.PageRequest{Image: true, MaxSide: l.MaxSide, MaxPixels: l.MaxPixels, MaxBytes: min(l.MaxBytes, extract.MaxPicture)}
	if r.MaxSide == 0 {
		r.MaxSide = 1 << 15
	}
	if len(l.Accept) > 0 && !slices.Contains(l.Accept, "image/png") {
		r.Format = "jpeg"
	} else if len(l.Accept) > 0 && !slices.Contains(l.Accept, "image/jpeg") {
		r.Format = "png"
	}
	return r
}

// smaller is the smaller of two limits, of which 0 is none.
func smaller[N int | int64](a, b N) N {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
