package imaging

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // the decoders of this package
	_ "image/jpeg"
	_ "image/png"
	"io"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// Info is what a picture's header says. Width and Height are pixels as displayed, after Orientation.
type Info struct {
	MediaType   string
	Width       int
	Height      int
	Orientation int   // Exif orientation 1 to 8; 1 is upright (Exif 2.32 §4.6.4), and always that of HEIC and AVIF, whose decoders turn
	Animated    bool  // more than one frame
	Several     bool  // a TIFF of more than one page
	Decodable   bool  // this package decodes it; the worker decodes the others
	Pixels      int64 // that a decoder would make of the largest picture in the file
}

// headSize is how much is read to tell the type: enough for every magic number and most first tags of an SVG.
const headSize = 4096

// Probe reads a picture's header; it never decodes pixels, and reads a few kilobytes besides the metadata that stands
// before a JPEG's size. The errors wrap ErrNotImage or ErrCorrupt; the type is returned with them if known.
func Probe(r io.ReaderAt, size int64) (Info, error) {
	head := make([]byte, max(0, min(size, headSize)))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return Info{}, fmt.Errorf("read the header: %w", err)
	}
	info := Info{MediaType: sniff(head), Orientation: 1}
	switch {
	case size <= 0:
		return Info{}, fmt.Errorf("%w: the file is empty", ErrNotImage)
	case info.MediaType == "":
		return Info{}, fmt.Errorf("%w: %s", ErrNotImage, describe(head))
	}
	unsized := info
	if err := info.measure(r, size, head); err != nil {
		return unsized, err
	}
	if info.Width <= 0 || info.Height <= 0 {
		return unsized, fmt.Errorf("%w: its header does not tell its size", ErrCorrupt)
	}
	info.Orientation = orientation(r, size, info.MediaType)
	info.Pixels = max(info.Pixels, int64(info.Width)*int64(info.Height))
	if info.Orientation >= 5 {
		info.Width, info.Height = info.Height, info.Width
	}
	return info, nil
}

// measure reads the size, and what of the type is not clear from its name.
func (i *Info) measure(r io.ReaderAt, size int64, head []byte) error {
	ok := true
	switch i.MediaType {
	case "image/heic", "image/avif":
		i.Width, i.Height, i.Pixels = heifSize(r, size)
		i.Animated = string(head[8:12]) == "avis" || string(head[8:12]) == "hevc" || string(head[8:12]) == "msf1"
	case "image/svg+xml":
		if i.Width, i.Height, ok = svgSize(r, size); !ok {
			return fmt.Errorf("%w: the file is XML, but no drawing", ErrNotImage)
		}
	case "image/bmp":
		i.Width, i.Height, i.Decodable, ok = bmpHeader(r)
	case "image/tiff":
		i.Width, i.Height, i.Decodable, i.Several, ok = tiffHeader(r, size)
	default:
		return i.standard(r, size, head)
	}
	if !ok {
		return fmt.Errorf("%w: its header makes no sense", ErrCorrupt)
	}
	return nil
}

// standard measures PNG, JPEG, GIF and WebP.
func (i *Info) standard(r io.ReaderAt, size int64, head []byte) error {
	i.Decodable = true
	if i.MediaType == "image/webp" {
		if i.Width, i.Height, i.Animated = animatedWebP(head); i.Animated {
			return nil
		}
	}
	config, _, err := image.DecodeConfig(io.NewSectionReader(r, 0, size))
	if err != nil {
		return broken(err)
	}
	i.Width, i.Height = config.Width, config.Height
	switch i.MediaType {
	case "image/gif":
		i.Animated = animatedGIF(r, size)
	case "image/png":
		i.Animated = animatedPNG(r, size)
	}
	return nil
}

// sniff returns a picture's type by its first bytes, or "" if it is none.
func sniff(head []byte) string {
	has := func(at int, magic string) bool {
		return len(head) >= at+len(magic) && string(head[at:at+len(magic)]) == magic
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case has(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return "image/gif"
	case has(0, "RIFF") && has(8, "WEBP"):
		return "image/webp"
	case has(0, "BM") && len(head) > 26:
		return "image/bmp"
	case has(0, "II*\x00"), has(0, "MM\x00*"):
		return "image/tiff"
	case has(4, "ftyp"):
		return heifType(head)
	case looksLikeSVG(head):
		return "image/svg+xml"
	}
	return ""
}

// describe says in words what a file that is no picture looks like.
func describe(head []byte) string {
	text := bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
	switch {
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		return "the file is a web page"
	case bytes.HasPrefix(head, []byte("%PDF")):
		return "the file is a PDF"
	case bytes.IndexByte(head, 0) < 0:
		return "the file is text"
	}
	return "its bytes are those of no known picture"
}
