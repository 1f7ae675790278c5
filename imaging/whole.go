package imaging

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"slices"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// Whole refuses bytes that end too early or changed on their way, with ErrCorrupt. It reads the file once and makes no pixels: PNG is
// checked by the checksums of what is drawn, JPEG by its end, GIF by its blocks, WebP, HEIC, AVIF and BMP by the sizes that they state, a
// drawing by its last mark. A picture that is passed on as it is is never decoded, and a provider would refuse the whole request for a torn
// one. TIFF is not checked.
func Whole(r io.ReaderAt, size int64, mediaType string) error {
	ends := true
	switch mediaType {
	case "image/png":
		ends = wholePNG(r, size)
	case "image/jpeg":
		ends = wholeJPEG(r, size)
	case "image/gif":
		ends = wholeGIF(r, size)
	case "image/webp":
		head := read(r, 0, 8)
		ends = len(head) == 8 && int64(binary.LittleEndian.Uint32(head[4:]))+8 <= size
	case "image/heic", "image/avif":
		ends = wholeBoxes(r, size)
	case "image/bmp":
		ends = wholeBMP(r, size)
	case "image/svg+xml":
		ends = bytes.HasSuffix(bytes.TrimRight(tail(r, size), "\x00\r\n\t "), []byte(">"))
	}
	if !ends {
		return fmt.Errorf("%w: the file ends too early", ErrCorrupt)
	}
	return nil
}

// tail returns the last bytes of a file.
func tail(r io.ReaderAt, size int64) []byte {
	const enough = 4096
	return read(r, max(0, size-enough), enough)
}

// wholePNG follows the chunks to the last one. The checksums of those that are drawn must be right.
func wholePNG(r io.ReaderAt, size int64) bool {
	in := bufio.NewReaderSize(io.NewSectionReader(r, 8, size-8), 64<<10)
	drawn := false
	for {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return false
		}
		kind, length := string(head[4:]), int64(binary.BigEndian.Uint32(head[:]))
		if kind == "IEND" {
			_, err := in.Peek(4)
			return drawn && err == nil
		}
		sum := crc32.NewIEEE()
		_, _ = sum.Write(head[4:]) // a hash takes every write
		var stated [4]byte
		if _, err := io.CopyN(sum, in, length); err != nil {
			return false
		}
		if _, err := io.ReadFull(in, stated[:]); err != nil {
			return false
		}
		drawn = drawn || kind == "IDAT"
		if critical := head[4]&0x20 == 0; critical && binary.BigEndian.Uint32(stated[:]) != sum.Sum32() {
			return false
		}
	}
}

// wholeJPEG looks for the end mark behind the picture data: one before it is that of a thumbnail in the header. It is nearly always at the end
// of the file, so that the rest need not be read.
func wholeJPEG(r io.ReaderAt, size int64) bool {
	at := int64(2)
	for scan := false; !scan; {
		head := read(r, at, 4)
		switch {
		case len(head) < 4 || head[0] != 0xFF:
			return false
		case head[1] == 0xFF: // fill byte
			at++
			continue
		}
		at += 2 + max(2, int64(binary.BigEndian.Uint16(head[2:])))
		scan = head[1] == 0xDA
	}
	if at > size {
		return false
	}
	if bytes.Contains(read(r, max(at, size-jpegEnd), jpegEnd), []byte{0xFF, 0xD9}) {
		return true
	}
	in := bufio.NewReaderSize(io.NewSectionReader(r, at, size-at), 64<<10)
	for {
		if _, err := in.ReadSlice(0xFF); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return false
		} else if err != nil {
			continue
		}
		if next, err := in.Peek(1); err == nil && next[0] == 0xD9 {
			return true
		}
	}
}

// jpegEnd is how many bytes at the end of a JPEG are searched first.
const jpegEnd = 4096

// wholeGIF follows the blocks to the last one.
func wholeGIF(r io.ReaderAt, size int64) bool {
	head := read(r, 0, 13)
	if len(head) < 13 {
		return false
	}
	drawn := false
	for at := 13 + colourTable(head[10]); at < size; {
		b := read(r, at, 10)
		switch {
		case len(b) == 0: // the file shrinks
			return false
		case b[0] == 0x3B:
			return drawn
		case b[0] == 0x21: // extension
			at = skipBlocks(r, at+2)
		case b[0] == 0x2C && len(b) == 10: // image descriptor
			at, drawn = skipBlocks(r, at+10+colourTable(b[9])+1), true
		default:
			return false
		}
	}
	return false
}

// wholeBoxes reports whether no box with the picture of a HEIF file goes beyond its end.
func wholeBoxes(r io.ReaderAt, size int64) bool {
	for at := int64(0); at+8 <= size; {
		head := read(r, at, 16)
		if len(head) < 8 { // the file shrinks
			return false
		}
		length := int64(binary.BigEndian.Uint32(head))
		switch {
		case length == 0: // up to the end
			return true
		case length == 1 && len(head) == 16:
			length = int64(binary.BigEndian.Uint64(head[8:]) & (1<<62 - 1))
		}
		if length < 8 || length > size-at { // torn, or bytes of a camera behind the picture
			return !slices.Contains([]string{"ftyp", "meta", "mdat", "moov"}, string(head[4:8]))
		}
		at += length
	}
	return true
}

// wholeBMP reports whether a bitmap without compression has all its rows.
func wholeBMP(r io.ReaderAt, size int64) bool {
	b := read(r, 0, 54)
	if len(b) < 26 {
		return false
	}
	if len(b) < 54 || binary.LittleEndian.Uint32(b[14:]) < 40 || binary.LittleEndian.Uint32(b[30:]) != 0 {
		return true
	}
	width, height := int64(int32(binary.LittleEndian.Uint32(b[18:]))), int64(int32(binary.LittleEndian.Uint32(b[22:])))
	row := (width*int64(binary.LittleEndian.Uint16(b[28:])) + 31) / 32 * 4
	return int64(binary.LittleEndian.Uint32(b[10:]))+row*max(height, -height) <= size
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
