package imaging

import (
	"encoding/binary"
	"io"
	"slices"
)

// bmpHeader reads the size of a Windows bitmap, or of an OS/2 one, and whether the decoder at hand takes it: it knows 8,
// 24 and 32 bits without compression, and of 8 bits only a whole palette.
func bmpHeader(r io.ReaderAt) (width, height int, decodable, ok bool) {
	b := read(r, 0, 54)
	if len(b) < 26 {
		return 0, 0, false, false
	}
	header := binary.LittleEndian.Uint32(b[14:])
	if header == 12 {
		return int(binary.LittleEndian.Uint16(b[18:])), int(binary.LittleEndian.Uint16(b[20:])), false, true
	}
	if header < 40 || len(b) < 54 {
		return 0, 0, false, false
	}
	width, height = int(int32(binary.LittleEndian.Uint32(b[18:]))), int(int32(binary.LittleEndian.Uint32(b[22:])))
	height = max(height, -height)
	depth, compression := binary.LittleEndian.Uint16(b[28:]), binary.LittleEndian.Uint32(b[30:])
	colours := binary.LittleEndian.Uint32(b[46:])
	plain := compression == 0 || compression == 3 && header > 40 // bit fields of the usual kind
	whole := depth == 24 || depth == 32 || depth == 8 && (colours == 0 || colours == 256)
	return width, height, plain && whole && slices.Contains([]uint32{40, 108, 124}, header), true
}

// TIFF tags (TIFF 6.0).
const (
	tagWidth       = 256
	tagHeight      = 257
	tagCompression = 259
)

// tiffCompressions are those that the decoder at hand knows: none, CCITT 3 and 4, LZW, Deflate, PackBits. Missing is the
// JPEG of scanners.
var tiffCompressions = []int64{0, 1, 3, 4, 5, 8, 32773, 32946}

// tiffHeader reads the size from the first directory and whether the decoder at hand takes the compression. pages is 2
// when more than one directory follows another.
func tiffHeader(r io.ReaderAt, size int64) (width, height int, decodable, several, ok bool) {
	fields, next := tiffFields(r, size)
	width, height = int(min(fields[tagWidth], 1<<31)), int(min(fields[tagHeight], 1<<31))
	return width, height, slices.Contains(tiffCompressions, fields[tagCompression]), next, fields != nil
}

// tiffFields reads the numbers of the first directory by tag, and whether a second directory follows.
func tiffFields(r io.ReaderAt, size int64) (fields map[uint16]int64, next bool) {
	head := read(r, 0, 8)
	if len(head) < 8 {
		return nil, false
	}
	var order binary.ByteOrder
	switch string(head[:2]) {
	case "II":
		order = binary.LittleEndian
	case "MM":
		order = binary.BigEndian
	default:
		return nil, false
	}
	at := int64(order.Uint32(head[4:]))
	count := read(r, at, 2)
	if at < 8 || at+2 > size || len(count) < 2 {
		return nil, false
	}
	n := int64(order.Uint16(count))
	entries := read(r, at+2, min(12*n, maxExif))
	fields = map[uint16]int64{}
	for ; len(entries) >= 12; entries = entries[12:] {
		value := int64(order.Uint32(entries[8:]))
		if order.Uint16(entries[2:]) == 3 { // SHORT
			value = int64(order.Uint16(entries[8:]))
		}
		if tag := order.Uint16(entries); fields[tag] == 0 {
			fields[tag] = value
		}
	}
	if follows := read(r, at+2+12*n, 4); len(follows) == 4 {
		next = order.Uint32(follows) != 0
	}
	return fields, next
}
