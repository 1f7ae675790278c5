package imaging

import (
	"bytes"
	"encoding/binary"
)

// WithoutMetadata removes what a picture says besides its pixels: Exif (with the place where it was taken), XMP, IPTC, maker notes,
// comments, thumbnails, chunks that are not in the standard, and what follows its end. Pixels stay as they are encoded, with
// colour profile and animation. The Exif orientation is removed too, so turn the picture upright first. If there is nothing to remove,
// the result is data itself. It reports false for data that it cannot parse to the end, and for types other than PNG, JPEG, WebP and GIF.
func WithoutMetadata(mediaType string, data []byte) ([]byte, bool) {
	c := &cutter{data: data}
	ok := false
	switch mediaType {
	case "image/jpeg":
		ok = stripJPEG(c)
	case "image/png":
		ok = stripPNG(c)
	case "image/webp":
		ok = stripWebP(c)
	case "image/gif":
		ok = stripGIF(c)
	}
	if !ok {
		return nil, false
	}
	return c.result(), true
}

// cutter collects the parts of data that stay. It copies nothing until the first part is left out.
type cutter struct {
	data  []byte
	whole int    // so much of data stays from its beginning, while out is nil
	out   []byte // the result, once it differs from data
}

// keep adds data[from:to], which follows what was kept or left out before.
func (c *cutter) keep(from, to int) {
	if c.out == nil && from == c.whole {
		c.whole = to
		return
	}
	c.put(c.data[from:to])
}

// put adds other bytes, and returns where they are in the result.
func (c *cutter) put(b []byte) int {
	c.own()
	at := len(c.out)
	c.out = append(c.out, b...)
	return at
}

// own makes the result a copy, which may be changed.
func (c *cutter) own() {
	if c.out == nil {
		c.out = append(make([]byte, 0, len(c.data)+1), c.data[:c.whole]...)
	}
}

func (c *cutter) length() int {
	if c.out == nil {
		return c.whole
	}
	return len(c.out)
}

func (c *cutter) result() []byte {
	if c.out == nil {
		return c.data[:c.whole:c.whole]
	}
	return c.out
}

// stripJPEG keeps the markers that pixels and colours need (ITU T.81 annex B; Exif 2.32 §4.5.4).
func stripJPEG(c *cutter) bool {
	data := c.data
	if !bytes.HasPrefix(data, []byte{0xff, 0xd8}) {
		return false
	}
	c.keep(0, 2)
	scans := 0
	for at := 2; at+2 <= len(data); {
		if data[at] != 0xff {
			return false
		}
		marker := data[at+1]
		switch {
		case marker == 0xff: // fill byte
			at++
			continue
		case marker == 0xd9:
			c.keep(at, at+2)
			return scans > 0
		}
		if at+4 > len(data) || marker < 0xc0 || marker >= 0xd0 && marker <= 0xd8 {
			return false // a marker without a length has no place outside of a scan
		}
		end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		if end < at+4 || end > len(data) {
			return false
		}
		if marker == 0xda {
			end = scanEnd(data, end)
			scans++
		}
		keepSegment(c, marker, at, end)
		at = end
	}
	return false
}

// keepSegment keeps tables, frames, scans, ICC profiles, and of JFIF and Adobe's colour transform the numbers.
func keepSegment(c *cutter, marker byte, at, end int) {
	body := c.data[at+4 : end]
	switch {
	case marker == 0xe0 && bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 14:
		if len(body) == 14 && body[12] == 0 && body[13] == 0 {
			c.keep(at, end)
			return
		}
		c.put([]byte{0xff, 0xe0, 0, 16}) // without its thumbnail
		c.put(body[:12])
		c.put([]byte{0, 0})
	case marker == 0xe2 && bytes.HasPrefix(body, []byte("ICC_PROFILE\x00")):
		c.keep(at, end)
	case marker == 0xee && bytes.HasPrefix(body, []byte("Adobe")) && len(body) >= 12:
		if len(body) == 12 {
			c.keep(at, end)
			return
		}
		c.put([]byte{0xff, 0xee, 0, 14})
		c.put(body[:12])
	case marker >= 0xc0 && marker <= 0xdf:
		c.keep(at, end)
	}
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

// keptPNG are the chunks for pixels, colours, size and animation (PNG 3rd edition §11).
var keptPNG = map[string]bool{
	"IHDR": true, "PLTE": true, "IDAT": true, "IEND": true, "tRNS": true, "bKGD": true, "pHYs": true, "acTL": true, "fcTL": true, "fdAT": true,
	"cHRM": true, "gAMA": true, "iCCP": true, "sBIT": true, "sRGB": true, "cICP": true, "mDCV": true, "cLLI": true,
}

func stripPNG(c *cutter) bool {
	const signature = "\x89PNG\r\n\x1a\n"
	data := c.data
	if !bytes.HasPrefix(data, []byte(signature)) {
		return false
	}
	c.keep(0, len(signature))
	pixels := false
	for at := len(signature); at+12 <= len(data); {
		end := int64(at) + 12 + int64(binary.BigEndian.Uint32(data[at:]))
		if end > int64(len(data)) {
			return false
		}
		name := string(data[at+4 : at+8])
		switch {
		case keptPNG[name]:
			c.keep(at, int(end))
		case name[0]&0x20 == 0: // a chunk that every reader has to know
			return false
		}
		pixels = pixels || name == "IDAT"
		if name == "IEND" {
			return pixels && end == int64(at)+12
		}
		at = int(end)
	}
	return false
}

// stripWebP keeps the chunks of pixels, animation and colours (RFC 9649 §2.7) and clears the flags of the others.
func stripWebP(c *cutter) bool {
	data := c.data
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return false
	}
	whole := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if whole > int64(len(data)) {
		return false
	}
	c.keep(0, 12)
	if !webPChunks(c, 12, int(whole), false) {
		return false
	}
	if length := uint32(c.length() - 8); binary.LittleEndian.Uint32(data[4:]) != length {
		c.own()
		binary.LittleEndian.PutUint32(c.out[4:], length)
	}
	return true
}

// webPChunks keeps chunks of a file or of a frame. It reports whether it found a picture and every chunk was whole.
func webPChunks(c *cutter, at, end int, inFrame bool) bool {
	pixels := false
	for at < end {
		if at+8 > end {
			return false
		}
		name, length := string(c.data[at:at+4]), int64(binary.LittleEndian.Uint32(c.data[at+4:]))
		if length > int64(end-at-8) {
			return false
		}
		body, next := at+8, at+8+int(length+length&1)
		switch name {
		case "VP8 ", "VP8L":
			pixels = true
			keepChunk(c, at, next, end)
		case "ALPH":
			keepChunk(c, at, next, end)
		case "VP8X", "ICCP", "ANIM", "ANMF":
			switch {
			case inFrame:
			case name == "ANMF":
				if length < 16 || !webPFrame(c, at, body+int(length)) {
					return false
				}
				pixels = true
			default:
				keepChunk(c, at, next, end)
				if flags := byte(0x08 | 0x04); name == "VP8X" && length > 0 && c.data[body]&flags != 0 { // Exif and XMP
					c.own()
					c.out[c.length()-(next-at)+8] &^= flags
				}
			}
		}
		at = next
	}
	return pixels
}

// keepChunk keeps a chunk with the byte that makes its length even, which may be missing from the last one.
func keepChunk(c *cutter, at, next, end int) {
	c.keep(at, min(next, end))
	if next > end {
		c.put([]byte{0})
	}
}

// webPFrame keeps the frame of an animation: its header of 16 bytes, and the chunks of its picture.
func webPFrame(c *cutter, at, end int) bool {
	start := c.length()
	c.keep(at, at+8+16)
	if !webPChunks(c, at+8+16, end, true) {
		return false
	}
	if length := uint32(c.length() - start - 8); length != uint32(end-at-8) {
		c.own()
		binary.LittleEndian.PutUint32(c.out[start+4:], length)
	}
	return true
}
