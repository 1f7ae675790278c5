package imaging

import (
	"encoding/binary"
	"io"
)

// heif is what the boxes of a HEIF container say (ISO/IEC 23008-12; AVIF is one too). No picture data is read.
type heif struct {
	r     io.ReaderAt
	steps int // boxes that may still be looked at

	primary    uint32           // id of the item that is shown
	properties []heifProperty   // of ipco, in order
	links      map[uint32][]int // item to its properties, counted from 1
	track      [2]int           // size of the first track, for sequences without items
}

// heifProperty is a property of an item: a size, or a turn in steps of 90 degrees.
type heifProperty struct {
	kind          string
	width, height int
	quarters      int
}

// maxBoxes bounds the boxes of one file: a photograph of a phone has about a hundred.
const maxBoxes = 4096

// heifSize is the size as displayed, after the container's own turn, and the most pixels that any item declares. The
// decoders turn pictures themselves, so that nothing is left for an orientation. It is zero when no size was found.
func heifSize(r io.ReaderAt, size int64) (width, height int, pixels int64) {
	h := &heif{r: r, steps: maxBoxes, links: map[uint32][]int{}}
	h.walk(0, size, h.top)
	for _, p := range h.properties {
		pixels = max(pixels, int64(p.width)*int64(p.height))
	}
	for _, index := range h.links[h.primary] {
		if index < 1 || index > len(h.properties) {
			continue
		}
		switch p := h.properties[index-1]; p.kind {
		case "ispe":
			width, height = p.width, p.height
		case "irot":
			if p.quarters%2 == 1 {
				width, height = height, width
			}
		}
	}
	if width == 0 {
		width, height = h.track[0], h.track[1]
	}
	return width, height, max(pixels, int64(width)*int64(height))
}

// walk calls visit for each box between two places.
func (h *heif) walk(at, end int64, visit func(kind string, at, end int64)) {
	for at+8 <= end && h.steps > 0 {
		h.steps--
		head := read(h.r, at, 16)
		if len(head) < 8 {
			return
		}
		length, body := int64(binary.BigEndian.Uint32(head)), at+8
		switch {
		case length == 0: // up to the end
			length = end - at
		case length == 1 && len(head) == 16:
			length, body = int64(binary.BigEndian.Uint64(head[8:])&(1<<62-1)), at+16
		}
		if length < body-at || length > end-at {
			return
		}
		visit(string(head[4:8]), body, at+length)
		at += length
	}
}

func (h *heif) top(kind string, at, end int64) {
	switch kind {
	case "meta":
		h.walk(at+4, end, h.meta) // version and flags come first
	case "moov":
		h.walk(at, end, h.movie)
	}
}

func (h *heif) movie(kind string, at, end int64) {
	switch kind {
	case "trak":
		h.walk(at, end, h.movie)
	case "tkhd": // it ends with width and height, 16.16
		if b := read(h.r, end-8, 8); len(b) == 8 && end-8 >= at && h.track[0] == 0 {
			h.track = [2]int{int(binary.BigEndian.Uint32(b) >> 16), int(binary.BigEndian.Uint32(b[4:]) >> 16)}
		}
	}
}

func (h *heif) meta(kind string, at, end int64) {
	switch kind {
	case "pitm":
		if b := read(h.r, at, min(8, end-at)); len(b) == 8 && b[0] > 0 {
			h.primary = binary.BigEndian.Uint32(b[4:])
		} else if len(b) >= 6 {
			h.primary = uint32(binary.BigEndian.Uint16(b[4:]))
		}
	case "iprp":
		h.walk(at, end, h.meta)
	case "ipco":
		h.walk(at, end, h.property)
	case "ipma":
		h.associations(read(h.r, at, min(end-at, maxExif)))
	}
}

func (h *heif) property(kind string, at, end int64) {
	p := heifProperty{kind: kind}
	b := read(h.r, at, min(end-at, 12))
	switch {
	case kind == "ispe" && len(b) == 12:
		p.width, p.height = int(binary.BigEndian.Uint32(b[4:])), int(binary.BigEndian.Uint32(b[8:]))
	case kind == "irot" && len(b) > 0:
		p.quarters = int(b[0] & 3)
	}
	h.properties = append(h.properties, p)
}

// associations reads which properties belong to which item.
func (h *heif) associations(b []byte) {
	if len(b) < 8 {
		return
	}
	entries, itemBytes, indexBytes := binary.BigEndian.Uint32(b[4:]), 2, 1
	if b[0] > 0 {
		itemBytes = 4
	}
	if b[3]&1 == 1 {
		indexBytes = 2
	}
	number := func(n int) (v uint32) {
		for ; n > 0 && len(b) > 0; n-- {
			v, b = v<<8|uint32(b[0]), b[1:]
		}
		return v
	}
	for b = b[8:]; entries > 0 && len(b) > 0; entries-- {
		item := number(itemBytes)
		for count := number(1); count > 0 && len(b) > 0; count-- {
			index := number(indexBytes) &^ (1 << (8*indexBytes - 1)) // the first bit marks properties that a reader must know
			h.links[item] = append(h.links[item], int(index))
		}
	}
}

// heifType distinguishes HEIC and AVIF by the brands of the first box; empty for films and everything else.
func heifType(head []byte) string {
	if len(head) < 12 || string(head[4:8]) != "ftyp" {
		return ""
	}
	brands := head[8:min(len(head), max(12, int(min(binary.BigEndian.Uint32(head), headSize))))]
	found := ""
	for i := 0; i+4 <= len(brands); i += 4 {
		switch string(brands[i : i+4]) {
		case "avif", "avis":
			return "image/avif"
		case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1":
			found = "image/heic"
		}
	}
	return found
}
