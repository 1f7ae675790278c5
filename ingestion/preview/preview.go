// Package preview finds the picture that other programs put into their files for those that cannot read them: the JPEG in a raw
// photograph, the largest picture of an icon, the preview of an AutoCAD drawing. It decodes nothing and trusts no length.
package preview

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Limits of what is read of a file.
const (
	maxPicture = 64 << 20 // bytes of a preview
	maxEntries = 256      // of a directory of pictures
)

// Find returns the preview in a file of a media type, as a JPEG, PNG or BMP, or nil if there is none.
func Find(r io.ReaderAt, size int64, mediaType string) []byte {
	left := 4*size + 1<<20
	f := file{r, size, &left}
	switch mediaType {
	case "image/x-raw":
		return f.raw()
	case "image/x-icon":
		return f.icon()
	case "image/x-icns":
		return f.icns()
	case "image/vnd.dwg":
		return f.drawing()
	}
	return nil
}

// file is read within its size.
type file struct {
	r    io.ReaderAt
	size int64
	left *int64 // bytes that may still be read: many entries may lead to the same place
}

// at returns n bytes, or nil if the file does not have them.
func (f file) at(offset, n int64) []byte {
	if offset < 0 || n < 0 || n > maxPicture || offset > f.size-n || n > *f.left {
		return nil
	}
	*f.left -= n
	data := make([]byte, n)
	if read, err := f.r.ReadAt(data, offset); int64(read) < n && err != nil {
		return nil
	}
	return data
}

var pngMark = []byte("\x89PNG\r\n\x1a\n")

// icon returns the largest picture of a Windows icon: a PNG, or a bitmap without the header of a file.
func (f file) icon() []byte {
	head := f.at(0, 6)
	if head == nil {
		return nil
	}
	var best []byte
	bestArea := 0
	for i := range min(int64(binary.LittleEndian.Uint16(head[4:])), maxEntries) {
		e := f.at(6+16*i, 16)
		if e == nil {
			break
		}
		area := (int(e[0]-1) + 1) * (int(e[1]-1) + 1) // 0 is 256
		if area <= bestArea {
			continue
		}
		data := f.at(int64(binary.LittleEndian.Uint32(e[12:])), int64(binary.LittleEndian.Uint32(e[8:])))
		if !bytes.HasPrefix(data, pngMark) {
			data = bitmap(data, true)
		}
		if data != nil {
			best, bestArea = data, area
		}
	}
	return best
}

// bitmap makes a BMP of a device-independent bitmap (DIB). That of an icon has twice the height: the mask is in it.
func bitmap(dib []byte, icon bool) []byte {
	if len(dib) < 40 || binary.LittleEndian.Uint32(dib) < 40 || binary.LittleEndian.Uint32(dib) > 124 {
		return nil
	}
	bits := binary.LittleEndian.Uint16(dib[14:])
	colors := binary.LittleEndian.Uint32(dib[32:])
	if colors > 256 {
		return nil
	}
	if colors == 0 && bits <= 8 {
		colors = 1 << bits
	}
	masks := uint32(0)
	if binary.LittleEndian.Uint32(dib) == 40 && binary.LittleEndian.Uint32(dib[16:]) == 3 {
		masks = 12
	}
	out := make([]byte, 14, 14+len(dib))
	copy(out, "BM")
	binary.LittleEndian.PutUint32(out[2:], uint32(14+len(dib))) // at most maxPicture
	binary.LittleEndian.PutUint32(out[10:], 14+binary.LittleEndian.Uint32(dib)+4*colors+masks)
	out = append(out, dib...)
	if icon {
		binary.LittleEndian.PutUint32(out[14+8:], binary.LittleEndian.Uint32(dib[8:])/2)
	}
	return out
}

// icns returns the largest PNG of a file of macOS icons. Other forms in it are older and smaller.
func (f file) icns() []byte {
	var best []byte
	at := int64(8)
	for range maxEntries {
		e := f.at(at, 8)
		if e == nil {
			break
		}
		length := int64(binary.BigEndian.Uint32(e[4:]))
		if length < 8 {
			break
		}
		if mark := f.at(at+8, 8); bytes.Equal(mark, pngMark) && length-8 > int64(len(best)) {
			best = f.at(at+8, length-8)
		}
		at += length
	}
	return best
}

// previewMark is before the previews of an AutoCAD drawing (Open Design Specification for .dwg files, section 14).
var previewMark = []byte{0x1F, 0x25, 0x6D, 0x07, 0xD4, 0x36, 0x28, 0x28, 0x9D, 0x57, 0xCA, 0x3F, 0x9D, 0x44, 0x10, 0x2B}

// drawing returns the preview of an AutoCAD drawing: a PNG since 2013, before that a bitmap.
func (f file) drawing() []byte {
	head := f.at(0, 0x11)
	if head == nil {
		return nil
	}
	at := int64(binary.LittleEndian.Uint32(head[0x0D:]))
	if !bytes.Equal(f.at(at, 16), previewMark) {
		return nil
	}
	count := f.at(at+20, 1)
	if count == nil {
		return nil
	}
	var best []byte
	for i := range int64(count[0]) {
		e := f.at(at+21+9*i, 9)
		if e == nil {
			break
		}
		data := f.at(int64(binary.LittleEndian.Uint32(e[1:])), int64(binary.LittleEndian.Uint32(e[5:])))
		switch e[0] {
		case 2:
			data = bitmap(data, false)
		case 6:
			if !bytes.HasPrefix(data, pngMark) {
				data = nil
			}
		default: // headers and Windows metafiles
			data = nil
		}
		if len(data) > 0 {
			best = data
		}
	}
	return best
}
