package imaging

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // the decoders that this package stands for
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
	Orientation int // Exif orientation 1 to 8; 1 is upright (Exif 2.32 §4.6.4)
	Animated    bool
	Pixels      int64
}

// headSize is how much is read to tell the type: enough for every magic number and an SVG's first tag.
const headSize = 4096

// Probe reads a picture's header; it never decodes pixels. The errors wrap ErrNotImage, ErrCorrupt or ErrUnsupported.
// An animated WebP is described like any other picture, though it cannot be decoded.
func Probe(r io.ReaderAt, size int64) (Info, error) {
	head := make([]byte, max(0, min(size, headSize)))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return Info{}, fmt.Errorf("read the header: %w", err)
	}
	mediaType := sniff(head)
	switch {
	case size <= 0:
		return Info{}, fmt.Errorf("%w: the file is empty", ErrNotImage)
	case mediaType == "":
		return Info{}, fmt.Errorf("%w: %s", ErrNotImage, describe(head))
	case !decodable(mediaType):
		return Info{MediaType: mediaType, Orientation: 1}, fmt.Errorf("%w: %s", ErrUnsupported, mediaType)
	}
	info := Info{MediaType: mediaType, Orientation: 1}
	if info.Width, info.Height, info.Animated = animatedWebP(head); mediaType != "image/webp" || !info.Animated {
		config, _, err := image.DecodeConfig(io.NewSectionReader(r, 0, size))
		if err != nil {
			return Info{MediaType: mediaType, Orientation: 1}, broken(err)
		}
		info.Width, info.Height = config.Width, config.Height
		info.Animated = mediaType == "image/gif" && animatedGIF(r, size)
	}
	if info.Width <= 0 || info.Height <= 0 {
		return Info{MediaType: mediaType, Orientation: 1}, fmt.Errorf("%w: %dx%d pixels", ErrCorrupt, info.Width, info.Height)
	}
	info.Orientation = orientation(r, size, mediaType)
	info.Pixels = int64(info.Width) * int64(info.Height)
	if info.Orientation >= 5 {
		info.Width, info.Height = info.Height, info.Width
	}
	return info, nil
}

// sniff tells a picture's type by its first bytes; empty when it is none.
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
	case has(4, "ftypavif"), has(4, "ftypavis"):
		return "image/avif"
	case has(4, "ftypheic"), has(4, "ftypheix"), has(4, "ftyphevc"), has(4, "ftypmif1"), has(4, "ftypmsf1"):
		return "image/heic"
	case svg(head):
		return "image/svg+xml"
	}
	return ""
}

// svg tells whether a text begins like an SVG: declaration, comments and a doctype may come before the tag.
func svg(head []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(text, []byte("<")) && bytes.Contains(text, []byte("<svg")) && !bytes.Contains(text, []byte("<html"))
}

func decodable(mediaType string) bool {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff":
		return true
	}
	return false
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
