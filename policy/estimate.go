package policy

import (
	"fmt"
	"slices"
	"strings"
)

// shape is how an image will be sent.
type shape struct {
	width, height int
	bytes         int64
	tokens        int
	changed       string // why it is scaled or encoded again; empty if sent as it is
	scaled        bool
	fitted        bool // scaled further so that more pictures fit
	refused       string
}

// estimate returns how a candidate will be sent, from its header alone. An image within all bounds is sent as it is, and its
// size is exact. A larger one is scaled to the longest side, and one with too many bytes is encoded again below
// MaxImageBytes. The size of a changed image is estimated as its size times the remaining share of pixels, at least half a
// byte per pixel (a photograph as JPEG of quality 85), and at most MaxImageBytes, which encoding respects.
func (b Bounds) estimate(c Candidate) shape {
	s := shape{width: c.Width, height: c.Height, bytes: c.Size}
	if b.MaxSide > 0 && max(c.Width, c.Height) > b.MaxSide {
		s.scale(float64(b.MaxSide)/float64(max(c.Width, c.Height)), fmt.Sprintf("longest side %d > %d", max(c.Width, c.Height), b.MaxSide))
	}
	if side := b.FitSide; side > 0 && max(s.width, s.height) > side {
		s.scale(float64(side)/float64(max(s.width, s.height)), fmt.Sprintf("scaled to %d pixels so that more fits", side))
		s.fitted = !b.FitService
	}
	for pixels := int64(s.width) * int64(s.height); b.MaxPixels > 0 && pixels > b.MaxPixels; pixels = int64(s.width) * int64(s.height) {
		s.scale(0.95, fmt.Sprintf("%d pixels > %d", pixels, b.MaxPixels))
	}
	if !b.accepts(c.MediaType) {
		if !slices.Contains(convertible, c.MediaType) {
			s.refused = short(c.MediaType) + " is not accepted by the model and cannot be converted in this version"
			return s
		}
		s.because(short(c.MediaType) + " is sent as png or jpeg")
	}
	if b.MaxImageBytes > 0 && c.Size > b.MaxImageBytes {
		s.because(fmt.Sprintf("%s > %s", megabytes(c.Size), megabytes(b.MaxImageBytes)))
		s.scaled = true
	}
	if s.changed != "" {
		if !slices.Contains(convertible, c.MediaType) && c.MediaType != "" {
			s.refused = s.changed + ", and " + short(c.MediaType) + " cannot be scaled in this version"
			return s
		}
		s.bytes = b.changedBytes(c, s)
	}
	s.tokens = b.Tokens.ImageTokens(s.width, s.height)
	return s
}

// SentBytes estimates how many bytes a picture has when it is sent, before base64.
func (b Bounds) SentBytes(c Candidate) int64 { return b.estimate(c).bytes }

func (b Bounds) changedBytes(c Candidate, s shape) int64 {
	bytes := c.Size
	before, after := int64(c.Width)*int64(c.Height), int64(s.width)*int64(s.height)
	if before > 0 {
		bytes = max(int64(float64(c.Size)*float64(after)/float64(before)), after/2)
	}
	if b.MaxImageBytes > 0 {
		bytes = min(bytes, b.MaxImageBytes)
	}
	return max(bytes, 1)
}

func (s *shape) scale(factor float64, why string) {
	s.width = max(1, int(float64(s.width)*factor+0.5))
	s.height = max(1, int(float64(s.height)*factor+0.5))
	if !s.scaled {
		s.because(why)
	}
	s.scaled = true
}

func (s *shape) because(why string) {
	if s.changed != "" {
		why = s.changed + "; " + why
	}
	s.changed = why
}

func short(media string) string {
	return strings.TrimSuffix(strings.TrimPrefix(media, "image/"), "+xml")
}

func megabytes(n int64) string { return fmt.Sprintf("%.2f MB", float64(n)/megabyte) }
