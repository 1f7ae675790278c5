package imaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"slices"
)

// Limits are what a picture is made to fit. Zero fields do not limit, but for MaxDecodePixels, whose zero value means
// DefaultDecodePixels.
type Limits struct {
	MaxSide         int      `json:"max_side,omitempty"`          // pixels of the longer side
	MaxBytes        int64    `json:"max_bytes,omitempty"`         // of the encoded picture
	MaxPixels       int64    `json:"max_pixels,omitempty"`        // width times height
	MaxDecodePixels int64    `json:"max_decode_pixels,omitempty"` // refused from the header above this
	Accept          []string `json:"accept,omitempty"`            // media types that may stay as they are; empty: PNG, JPEG, GIF, WebP
	Reencode        bool     `json:"reencode,omitempty"`          // no picture stays as it is, not even one that fits
	Still           bool     `json:"still,omitempty"`             // of an animation the first frame is kept
}

// Encoded is a picture that fits.
type Encoded struct {
	Data      []byte
	MediaType string
	Width     int
	Height    int
	Changed   bool   // other bytes than those that came in
	Note      string // what was done, in words; empty when nothing was
}

// jpegQuality keeps photographs legible at a fraction of PNG's size.
const jpegQuality = 85

// AsIs returns a picture that may stay as it is: within the limits, upright, of an accepted type. It reads the header and decodes
// nothing. The error of any other picture matches ErrUnfit.
func AsIs(r io.ReaderAt, size int64, l Limits) (Encoded, error) {
	info, err := Probe(r, size)
	if err == nil {
		err = l.Check(info)
	}
	if err != nil {
		return Encoded{}, err
	}
	return asIs(r, size, info, l)
}

func asIs(r io.ReaderAt, size int64, info Info, l Limits) (Encoded, error) {
	if !fits(info, size, l) {
		return Encoded{}, fmt.Errorf("%w: %s of %dx%d pixels", ErrUnfit, info.MediaType, info.Width, info.Height)
	}
	data := make([]byte, size)
	if _, err := r.ReadAt(data, 0); err != nil && err != io.EOF {
		return Encoded{}, fmt.Errorf("read the picture: %w", err)
	}
	if err := Whole(bytes.NewReader(data), size, info.MediaType); err != nil {
		return Encoded{}, err
	}
	return Encoded{Data: data, MediaType: info.MediaType, Width: info.Width, Height: info.Height}, nil
}

// Normalise makes a picture fit: bytes within the limits stay as they are, everything else is decoded, turned upright,
// scaled down (never up) and re-encoded, which drops its metadata. Photographs become JPEG, graphics PNG unless that
// passes MaxBytes; neither becomes a type that Accept leaves out. Of an animation that does not fit the first frame is
// kept. A picture that is not decoded here (see [Info]) and does not fit is ErrUnsupported. The result is the same for
// the same bytes and limits. Only the worker calls it: the daemon has no memory for pixels.
func Normalise(ctx context.Context, r io.ReaderAt, size int64, l Limits) (Encoded, error) {
	info, err := Probe(r, size)
	if err == nil {
		err = l.Check(info)
	}
	if err != nil {
		return Encoded{}, err
	}
	if made, err := asIs(r, size, info, l); !errors.Is(err, ErrUnfit) {
		return made, err
	}
	if !info.Decodable {
		return Encoded{}, fmt.Errorf("%w: %s that does not fit the limits as it is", ErrUnsupported, info.MediaType)
	}
	img, err := decode(r, size, info)
	if err != nil {
		return Encoded{}, err
	}
	return shrink(ctx, img, info, l)
}

// Fit makes a picture fit that another decoder has made, upright, of the file that info describes. It is always encoded
// again.
func Fit(ctx context.Context, img image.Image, info Info, l Limits) (Encoded, error) {
	info.Orientation = 1
	info.Width, info.Height = img.Bounds().Dx(), img.Bounds().Dy()
	info.Pixels = int64(info.Width) * int64(info.Height)
	if info.Pixels == 0 {
		return Encoded{}, fmt.Errorf("%w: it has no pixels", ErrCorrupt)
	}
	return shrink(ctx, img, info, l)
}

// Check refuses a picture that has more pixels than may be decoded, with ErrTooLarge.
func (l Limits) Check(info Info) error {
	if info.Pixels > orDefault(l.MaxDecodePixels, DefaultDecodePixels) {
		return fmt.Errorf("%w: %dx%d", ErrTooLarge, info.Width, info.Height)
	}
	return nil
}

func decode(r io.ReaderAt, size int64, info Info) (image.Image, error) {
	from, at := io.NewSectionReader(r, 0, size), image.Point{}
	if info.MediaType == "image/webp" && info.Animated {
		var file []byte
		if file, at = firstWebPFrame(r, size); file == nil {
			return nil, fmt.Errorf("%w: an animation without frames", ErrCorrupt)
		}
		from = io.NewSectionReader(bytes.NewReader(file), 0, int64(len(file)))
		frame, _, err := image.DecodeConfig(io.NewSectionReader(from, 0, from.Size()))
		if err != nil {
			return nil, broken(err)
		}
		if at.X+frame.Width > info.Width || at.Y+frame.Height > info.Height {
			return nil, fmt.Errorf("%w: a frame of %dx%d pixels at %v is not on the canvas", ErrCorrupt, frame.Width, frame.Height, at)
		}
	}
	img, _, err := image.Decode(from)
	if err != nil {
		return nil, broken(err)
	}
	if info.MediaType == "image/gif" || info.Animated {
		img = onCanvas(img, at, info)
	}
	return img, nil
}

func orDefault(v, otherwise int64) int64 {
	if v == 0 {
		return otherwise
	}
	return v
}

// accepts reports whether a picture may have this type.
func (l Limits) accepts(mediaType string) bool {
	if len(l.Accept) > 0 {
		return slices.Contains(l.Accept, mediaType)
	}
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// fits reports whether the bytes may stay as they are.
func fits(info Info, size int64, l Limits) bool {
	return !l.Reencode && !(l.Still && info.Animated) && info.Orientation == 1 && l.accepts(info.MediaType) &&
		(l.MaxSide == 0 || max(info.Width, info.Height) <= l.MaxSide) &&
		(l.MaxPixels == 0 || info.Pixels <= l.MaxPixels) && (l.MaxBytes == 0 || size <= l.MaxBytes)
}

// shrink scales to the longest side and, while the result has too many bytes, to three quarters of that, six times.
func shrink(ctx context.Context, img image.Image, info Info, l Limits) (Encoded, error) {
	side := max(info.Width, info.Height)
	if l.MaxSide > 0 {
		side = min(side, l.MaxSide)
	}
	if l.MaxPixels > 0 && info.Pixels > l.MaxPixels {
		side = min(side, int(float64(max(info.Width, info.Height))*math.Sqrt(float64(l.MaxPixels)/float64(info.Pixels))))
	}
	photo := l.accepts("image/jpeg") && (photograph(info.MediaType, img) || !l.accepts("image/png"))
	for range 7 {
		if err := ctx.Err(); err != nil {
			return Encoded{}, err
		}
		scaled := upright(scale(img, side), info.Orientation) // scaled first: turning takes memory
		data, mediaType, err := encode(scaled, photo)
		if err != nil {
			return Encoded{}, err
		}
		if l.MaxBytes > 0 && int64(len(data)) > l.MaxBytes && !photo && l.accepts("image/jpeg") {
			data, mediaType, err = encode(scaled, true)
			if err != nil {
				return Encoded{}, err
			}
		}
		if l.MaxBytes == 0 || int64(len(data)) <= l.MaxBytes {
			b := scaled.Bounds()
			return Encoded{data, mediaType, b.Dx(), b.Dy(), true, note(info, b, mediaType)}, nil
		}
		side = side * 3 / 4
	}
	return Encoded{}, fmt.Errorf("%w: more than %d bytes however small", ErrTooLarge, l.MaxBytes)
}

func note(info Info, b image.Rectangle, mediaType string) string {
	text := ""
	add := func(s string) {
		if text != "" {
			text += ", "
		}
		text += s
	}
	switch {
	case info.Animated:
		add("first frame of an animation")
	case info.Several:
		add("first page of several")
	}
	if info.Orientation != 1 {
		add("turned upright")
	}
	if b.Dx() != info.Width || b.Dy() != info.Height {
		add(fmt.Sprintf("scaled from %dx%d", info.Width, info.Height))
	}
	if mediaType != info.MediaType {
		add("made " + mediaType)
	}
	return text
}

// encode writes JPEG for photographs and PNG for everything else.
func encode(img image.Image, photo bool) ([]byte, string, error) {
	var b bytes.Buffer
	if photo {
		if err := jpeg.Encode(&b, opaque(img), &jpeg.Options{Quality: jpegQuality}); err != nil {
			return nil, "", fmt.Errorf("encode JPEG: %w", err)
		}
		return b.Bytes(), "image/jpeg", nil
	}
	if err := png.Encode(&b, eightBit(img)); err != nil {
		return nil, "", fmt.Errorf("encode PNG: %w", err)
	}
	return b.Bytes(), "image/png", nil
}
