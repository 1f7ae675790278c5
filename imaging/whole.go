package imaging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// whole refuses bytes that end too early. Those that are passed on as they are were never decoded, and a provider would
// refuse the whole request for one torn picture.
func whole(data []byte, mediaType string) error {
	ends := true
	switch mediaType {
	case "image/png":
		ends = bytes.Contains(data, []byte("IEND\xaeB`\x82"))
	case "image/jpeg":
		ends = bytes.LastIndex(data, []byte("\xff\xd9")) > scanStart(data)
	case "image/gif":
		ends = bytes.HasSuffix(bytes.TrimRight(data, "\x00\r\n "), []byte{0x3b})
	case "image/webp":
		ends = int64(binary.LittleEndian.Uint32(data[4:]))+8 <= int64(len(data))
	}
	if !ends {
		return fmt.Errorf("%w: the file ends too early", ErrCorrupt)
	}
	return nil
}

// scanStart is where a JPEG's picture data begins: an end mark before it is that of a thumbnail in the header.
func scanStart(data []byte) int {
	for at := 2; at+4 <= len(data) && data[at] == 0xFF; {
		switch {
		case data[at+1] == 0xFF: // fill byte
			at++
		case data[at+1] == 0xDA:
			return at
		default:
			at += 2 + max(2, int(binary.BigEndian.Uint16(data[at+2:])))
		}
	}
	return len(data)
}

// broken wraps a decoder's error in the one that callers test for.
func broken(err error) error {
	switch err.(type) { //nolint:errorlint // the decoders return these bare
	case png.UnsupportedError, jpeg.UnsupportedError, tiff.UnsupportedError:
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	switch {
	case errors.Is(err, bmp.ErrUnsupported):
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	case errors.Is(err, image.ErrFormat):
		return fmt.Errorf("%w: its header makes no sense", ErrCorrupt)
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}
