// Package imaging looks at pictures and makes them fit: the header without decoding, the orientation a camera noted,
// scaling and encoding within limits. It goes by bytes, never by names, keeps no state, and reads no file by itself.
//
// The daemon only reads headers and keeps pictures that fit ([AsIs]); [Normalise] and [Fit] are for the worker.
//
// Decoded here: PNG, JPEG, GIF, WebP, most BMP and TIFF. HEIC, AVIF, SVG and the rest are measured by their headers; the
// worker decodes them ([Info].Decodable).
package imaging

import (
	"errors"

	"github.com/vaultflow/vaultflow/failure/omission"
)

// Conditions that callers test; the messages around them say what was found.
var (
	ErrNotImage    = omission.Wrap(omission.Kind, errors.New("not a picture"))
	ErrCorrupt     = omission.Wrap(omission.Damaged, errors.New("a broken picture"))
	ErrUnsupported = omission.Wrap(omission.Kind, errors.New("a kind of picture that cannot be read here"))
	ErrTooLarge    = omission.Wrap(omission.TooLarge, errors.New("a picture with too many pixels"))
	ErrUnfit       = errors.New("a picture that must be decoded to fit")
)

// DefaultDecodePixels is the most pixels that are decoded when nothing else is set: 100 million take 400 MB as RGBA.
const DefaultDecodePixels = 100_000_000

// Cutout is a picture that text recognition cut out of a page. The Markdown of the page names it by its ID.
type Cutout struct {
	ID   string `json:"id"`
	Data []byte `json:"data"`
}
