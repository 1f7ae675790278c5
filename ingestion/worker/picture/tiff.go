package picture

import (
	"encoding/binary"
	"image"
	"slices"
)

// storedSize is how a picture is stored.
type storedSize struct {
	width, height int
	orientation   int // 1 to 8 as in EXIF; 0 when the file does not say
	compression   int // of TIFF
	bits, format  int // of TIFF: of a sample, the first one's where they differ; its format is 1 for whole numbers from 0
}

// maxStack is the most pages of a TIFF that are looked at.
const maxStack = 10_000

// tiffSizes reads the directories of a TIFF, each a page. For everything else, also BigTIFF, it returns nil.
func tiffSizes(data []byte) []storedSize {
	if len(data) < 8 {
		return nil
	}
	var order binary.ByteOrder
	switch string(data[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return nil
	}
	var out []storedSize
	var seen []uint32 // a file may lead in circles
	for at := order.Uint32(data[4:]); at != 0 && len(out) < maxStack && !slices.Contains(seen, at); {
		seen = append(seen, at)
		size, next, ok := tiffDirectory(data, order, at)
		if !ok {
			break
		}
		out = append(out, size)
		at = next
	}
	return out
}

// tiffDirectory reads one directory and the place of the next.
func tiffDirectory(data []byte, order binary.ByteOrder, at uint32) (size storedSize, next uint32, ok bool) {
	if int64(at)+2 > int64(len(data)) {
		return size, 0, false
	}
	entries := data[at+2:]
	n := int(order.Uint16(data[at:]))
	if len(entries) < n*12 {
		return size, 0, false
	}
	for i := range n {
		e := entries[i*12 : i*12+12]
		value := int(order.Uint32(e[8:]))
		if order.Uint16(e[2:]) == 3 { // SHORT
			value = int(order.Uint16(e[8:]))
		}
		switch order.Uint16(e) {
		case 256:
			size.width = value
		case 257:
			size.height = value
		case 258:
			size.bits = firstShort(data, order, e)
		case 259:
			size.compression = value
		case 274:
			size.orientation = value
		case 339:
			size.format = firstShort(data, order, e)
		}
	}
	if len(entries) >= n*12+4 {
		next = order.Uint32(entries[n*12:])
	}
	return size, next, size.width > 0 && size.height > 0
}

// firstShort is the first value of an entry of SHORTs; more than two of them stand elsewhere in the file.
func firstShort(data []byte, order binary.ByteOrder, entry []byte) int {
	if order.Uint32(entry[4:]) <= 2 {
		return int(order.Uint16(entry[8:]))
	}
	at := int64(order.Uint32(entry[8:]))
	if at+2 > int64(len(data)) {
		return 0
	}
	return int(order.Uint16(data[at:]))
}

// plainSamples reports whether MuPDF understands the samples of a TIFF. It mistakes signed and floating-point numbers, and those
// of 32 bits, for others and draws noise.
func plainSamples(data []byte) bool {
	sizes := tiffSizes(data)
	return len(sizes) == 0 || sizes[0].bits <= 16 && sizes[0].format <= 1
}

// bmpSize reads the head of a Windows bitmap.
func bmpSize(data []byte) (storedSize, bool) {
	if len(data) < 26 || string(data[:2]) != "BM" || binary.LittleEndian.Uint32(data[14:]) < 40 {
		return storedSize{}, false
	}
	width, height := int32(binary.LittleEndian.Uint32(data[18:])), int32(binary.LittleEndian.Uint32(data[22:])) //nolint:gosec // signed: rows may go down
	size := storedSize{width: int(width), height: max(int(height), -int(height))}
	return size, width > 0 && height != 0
}

// readByMuPDF returns the sizes of the pictures of a file that package imaging cannot read completely: a stack of pictures, an
// old JPEG or fax in a TIFF, a bitmap with a palette. For all others it returns nil.
func readByMuPDF(data []byte, unsupported bool) []storedSize {
	if sizes := tiffSizes(data); len(sizes) > 1 || len(sizes) == 1 && (unsupported || !slices.Contains([]int{0, 1, 3, 4, 5, 8, 32773, 32946}, sizes[0].compression)) {
		return sizes
	}
	if size, ok := bmpSize(data); ok && unsupported {
		return []storedSize{size}
	}
	return nil
}

// upright returns the size as displayed.
func (s storedSize) upright() image.Point {
	if s.orientation >= 5 && s.orientation <= 8 {
		return image.Pt(s.height, s.width)
	}
	return image.Pt(s.width, s.height)
}
