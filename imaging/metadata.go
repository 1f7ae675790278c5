package imaging

import (
	"bytes"
	"encoding/binary"
)

// WithoutMetadata removes Exif (with the place where a picture was taken), XMP, IPTC and comments from a picture, and what
// follows its end. Pixels and colour profile stay. It reports false for broken data, and for types other than PNG, JPEG, WebP
// and GIF. A GIF has no Exif and is returned unchanged.
func WithoutMetadata(mediaType string, data []byte) ([]byte, bool) {
	switch mediaType {
	case "image/jpeg":
		return stripJPEG(data)
	case "image/png":
		return stripPNG(data)
	case "image/webp":
		return stripWebP(data)
	case "image/gif":
		return data, true
	}
	return nil, false
}

// stripJPEG keeps the markers that pixels and colours need (ITU T.81 annex B; Exif 2.32 §4.5.4).
func stripJPEG(data []byte) ([]byte, bool) {
	if !bytes.HasPrefix(data, []byte{0xff, 0xd8}) {
		return nil, false
	}
	out := append(make([]byte, 0, len(data)), data[:2]...)
	for at := 2; at+2 <= len(data); {
		if data[at] != 0xff {
			return nil, false
		}
		marker := data[at+1]
		switch {
		case marker == 0xff: // fill byte
			at++
			continue
		case marker == 0xd9:
			return append(out, 0xff, 0xd9), true
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd7:
			out = append(out, 0xff, marker)
			at += 2
			continue
		}
		if at+4 > len(data) {
			return nil, false
		}
		end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		if end < at+4 || end > len(data) {
			return nil, false
		}
		if marker == 0xda {
			end = scanEnd(data, end)
		}
		if keepsSegment(marker, data[at+4:end]) {
			out = append(out, data[at:end]...)
		}
		at = end
	}
	return nil, false
}

// keepsSegment keeps tables, frames, scans, JFIF, ICC profiles and Adobe's colour transform.
func keepsSegment(marker byte, body []byte) bool {
	switch {
	case marker == 0xe2:
		return bytes.HasPrefix(body, []byte("ICC_PROFILE\x00"))
	case marker == 0xe0, marker == 0xee:
		return true
	}
	return !(marker >= 0xe0 && marker <= 0xef) && marker != 0xfe
}

// scanEnd is where the entropy-coded bytes of a scan end: at the next marker that is no restart.
func scanEnd(data []byte, at int) int {
	for ; at+1 < len(data); at++ {
		if next := data[at+1]; data[at] == 0xff && next != 0 && next != 0xff && !(next >= 0xd0 && next <= 0xd7) {
			return at
		}
	}
	return len(data)
}

// droppedPNG are the chunks with text, time and Exif (PNG 3rd edition §11.3).
var droppedPNG = map[string]bool{"eXIf": true, "tEXt": true, "zTXt": true, "iTXt": true, "tIME": true}

func stripPNG(data []byte) ([]byte, bool) {
	const signature = "\x89PNG\r\n\x1a\n"
	if !bytes.HasPrefix(data, []byte(signature)) {
		return nil, false
	}
	out := append(make([]byte, 0, len(data)), signature...)
	for at := len(signature); at+12 <= len(data); {
		length := int64(binary.BigEndian.Uint32(data[at:]))
		end := int64(at) + 12 + length
		if end > int64(len(data)) {
			return nil, false
		}
		name := string(data[at+4 : at+8])
		if !droppedPNG[name] {
			out = append(out, data[at:end]...)
		}
		if name == "IEND" {
			return out, true
		}
		at = int(end)
	}
	return nil, false
}

// stripWebP drops the chunks EXIF and XMP and their flags (RFC 9649 §2.7).
func stripWebP(data []byte) ([]byte, bool) {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return nil, false
	}
	whole := min(int64(binary.LittleEndian.Uint32(data[4:]))+8, int64(len(data)))
	out := append(make([]byte, 0, len(data)), data[:12]...)
	for at := int64(12); at+8 <= whole; {
		name, length := string(data[at:at+4]), int64(binary.LittleEndian.Uint32(data[at+4:]))
		end := at + 8 + length + length%2
		if end > whole+1 || at+8+length > whole {
			return nil, false
		}
		end = min(end, whole)
		if name != "EXIF" && name != "XMP " {
			from := len(out)
			out = append(out, data[at:end]...)
			if name == "VP8X" && length > 0 {
				out[from+8] &^= 0x08 | 0x04
			}
		}
		at = end
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, true
}
