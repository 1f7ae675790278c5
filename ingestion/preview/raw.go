package preview

import (
	"bytes"
	"encoding/binary"
)

// raw returns the largest JPEG in a raw photograph. Almost all formats of cameras are TIFF files with the JPEG in one of their
// directories; Fujifilm's has its place in the header.
func (f file) raw() []byte {
	head := f.at(0, 92)
	if head == nil {
		return nil
	}
	if bytes.HasPrefix(head, []byte("FUJIFILM")) {
		return f.jpeg(int64(binary.BigEndian.Uint32(head[84:])), int64(binary.BigEndian.Uint32(head[88:])))
	}
	t := tiff{file: f, seen: map[int64]bool{}}
	switch {
	case head[0] == 'I' && head[1] == 'I':
		t.order = binary.LittleEndian
	case head[0] == 'M' && head[1] == 'M':
		t.order = binary.BigEndian
	default:
		return nil
	}
	t.directories(int64(t.order.Uint32(head[4:])), 0)
	return t.best
}

// jpeg returns a JPEG that viewers show: not one of lossless samples, as cameras use for the raw data.
func (f file) jpeg(offset, length int64) []byte {
	data := f.at(offset, length)
	if !bytes.HasPrefix(data, []byte("\xff\xd8")) {
		return nil
	}
	for at := 2; at+4 <= len(data) && data[at] == 0xFF; {
		switch marker := data[at+1]; {
		case marker == 0xC0 || marker == 0xC1 || marker == 0xC2:
			return data
		case marker == 0xFF:
			at++
			continue
		case marker == 0xDA || marker >= 0xC3 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
			return nil
		}
		at += 2 + int(binary.BigEndian.Uint16(data[at+2:]))
	}
	return nil
}

// tiff is a walk through the directories of a TIFF.
type tiff struct {
	file
	order binary.ByteOrder
	seen  map[int64]bool
	best  []byte
}

// Tags that lead to pictures.
const (
	tagCompression   = 259
	tagStripOffsets  = 273
	tagStripLengths  = 279
	tagSubIFDs       = 330
	tagJPEG          = 513 // JPEGInterchangeFormat
	tagJPEGLength    = 514
	tagPanasonicJPEG = 0x2E
)

// directories visits a chain of directories and those in them.
func (t *tiff) directories(at int64, depth int) {
	for ; at > 0 && !t.seen[at] && len(t.seen) < maxEntries && depth < 4; at = t.directory(at, depth) {
		t.seen[at] = true
	}
}

// directory visits one, and returns the place of the next.
func (t *tiff) directory(at int64, depth int) (next int64) {
	count := t.at(at, 2)
	if count == nil {
		return 0
	}
	n := int64(t.order.Uint16(count))
	entries := t.at(at+2, n*12)
	if entries == nil {
		return 0
	}
	values := map[uint16][]int64{}
	for i := range int(n) {
		e := entries[12*i : 12*i+12]
		switch tag := t.order.Uint16(e); tag {
		case tagCompression, tagStripOffsets, tagStripLengths, tagSubIFDs, tagJPEG, tagJPEGLength:
			values[tag] = t.values(e)
		case tagPanasonicJPEG:
			t.take(t.jpeg(int64(t.order.Uint32(e[8:])), int64(t.order.Uint32(e[4:]))))
		}
	}
	t.pair(values[tagJPEG], values[tagJPEGLength])
	if c := values[tagCompression]; len(c) == 1 && (c[0] == 6 || c[0] == 7 || c[0] == 99) {
		t.pair(values[tagStripOffsets], values[tagStripLengths])
	}
	for _, inner := range values[tagSubIFDs] {
		t.directories(inner, depth+1)
	}
	if link := t.at(at+2+n*12, 4); link != nil {
		return int64(t.order.Uint32(link))
	}
	return 0
}

// values reads the numbers of an entry, at most a few.
func (t *tiff) values(e []byte) (list []int64) {
	size, count := int64(4), int64(t.order.Uint32(e[4:]))
	if t.order.Uint16(e[2:]) == 3 { // SHORT
		size = 2
	}
	if count > 16 {
		return nil
	}
	data := e[8:12]
	if size*count > 4 {
		if data = t.at(int64(t.order.Uint32(e[8:])), size*count); data == nil {
			return nil
		}
	}
	for i := range count {
		if size == 2 {
			list = append(list, int64(t.order.Uint16(data[2*i:])))
		} else {
			list = append(list, int64(t.order.Uint32(data[4*i:])))
		}
	}
	return list
}

// pair takes the JPEG of one place and one length.
func (t *tiff) pair(offsets, lengths []int64) {
	if len(offsets) == 1 && len(lengths) == 1 {
		t.take(t.jpeg(offsets[0], lengths[0]))
	}
}

func (t *tiff) take(data []byte) {
	if len(data) > len(t.best) {
		t.best = data
	}
}
