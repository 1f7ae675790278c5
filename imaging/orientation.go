package imaging

import (
	"bytes"
	"encoding/binary"
	"io"
)

// orientationTag is the TIFF tag of the Exif orientation.
const orientationTag = 0x0112

// maxExif bounds the Exif block that is looked at: the JPEG segment limit.
const maxExif = 64 << 10

// orientation finds the Exif orientation in the containers that carry one; 1 when there is none or it makes no sense.
func orientation(r io.ReaderAt, size int64, mediaType string) int {
	var block []byte
	switch mediaType {
	case "image/jpeg":
		block = jpegExif(r, size)
	case "image/png":
		block = chunked(r, size, 8, "eXIf", pngChunk)
	case "image/webp":
		block = chunked(r, size, 12, "EXIF", riffChunk)
	case "image/tiff":
		return fromTIFF(r, size)
	}
	return fromTIFF(bytes.NewReader(block), int64(len(block)))
}

// jpegExif is the TIFF block inside the APP1 segment that starts with "Exif\0\0".
func jpegExif(r io.ReaderAt, size int64) []byte {
	for at := int64(2); at+4 <= size; {
		head := read(r, at, 4)
		if len(head) < 4 || head[0] != 0xFF || head[1] == 0xDA { // not a marker, or the picture itself begins
			return nil
		}
		if head[1] == 0xFF { // fill byte
			at++
			continue
		}
		length := int64(binary.BigEndian.Uint16(head[2:]))
		if head[1] == 0xE1 {
			if body := read(r, at+4, length-2); len(body) > 6 && string(body[:6]) == "Exif\x00\x00" {
				return body[6:]
			}
		}
		at += 2 + max(length, 2)
	}
	return nil
}

// chunkHead returns a chunk's name, where its data starts, how long it is, and where the next chunk starts.
type chunkHead func(head []byte, at int64) (name string, data, length, next int64)

func pngChunk(head []byte, at int64) (name string, data, length, next int64) {
	length = int64(binary.BigEndian.Uint32(head))
	return string(head[4:8]), at + 8, length, at + 12 + length
}

func riffChunk(head []byte, at int64) (name string, data, length, next int64) {
	length = int64(binary.LittleEndian.Uint32(head[4:]))
	return string(head[:4]), at + 8, length, at + 8 + length + length&1
}

// chunked looks for a named chunk.
func chunked(r io.ReaderAt, size, at int64, want string, parse chunkHead) (block []byte) {
	eachChunk(r, size, at, parse, func(name string, data, length int64) bool {
		if name != want {
			return true
		}
		block = read(r, data, min(length, maxExif))
		return false
	})
	return block
}

// letters reports whether a chunk's name is a valid one of PNG or RIFF.
func letters(name string) bool {
	for _, c := range name {
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != ' ' {
			return false
		}
	}
	return true
}

// eachChunk calls visit for each chunk until it says false; at most a thousand chunks are passed.
func eachChunk(r io.ReaderAt, size, at int64, parse chunkHead, visit func(name string, data, length int64) bool) {
	for range 1000 {
		head := read(r, at, 8)
		if len(head) < 8 || at >= size {
			return
		}
		name, data, length, next := parse(head, at)
		if !letters(name) || !visit(name, data, length) {
			return
		}
		at = next
	}
}

func read(r io.ReaderAt, at, length int64) []byte {
	if length <= 0 || length > maxExif {
		return nil
	}
	b := make([]byte, length)
	n, _ := r.ReadAt(b, at) // a short read is a short block, which the parsers check
	return b[:n]
}

// fromTIFF reads the orientation from the first directory of a TIFF structure (TIFF 6.0 §2), which may follow the
// picture.
func fromTIFF(r io.ReaderAt, size int64) int {
	fields, _ := tiffFields(r, size)
	if v := fields[orientationTag]; v >= 1 && v <= 8 {
		return int(v)
	}
	return 1
}
