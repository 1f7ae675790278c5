package picture

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Types that only MuPDF reads here, besides the Netpbm formats.
const (
	jpeg2000  = "image/jp2"
	photoshop = "image/vnd.adobe.photoshop"
)

// mupdfSize reads the size of a picture that only MuPDF reads from its head, and its type, or "".
func mupdfSize(data []byte) (size storedSize, mediaType string) {
	if size, ok := plainSize(data); ok {
		return size, plainPicture
	}
	big := binary.BigEndian
	var width, height uint32
	head := data[:min(len(data), 4096)]
	switch at := bytes.Index(head, []byte("ihdr")); {
	case bytes.HasPrefix(head, []byte("\x00\x00\x00\x0cjP  \r\n\x87\n")) && at > 0 && len(head) >= at+12: // ISO/IEC 15444-1 annex I.5.3.1
		height, width, mediaType = big.Uint32(head[at+4:]), big.Uint32(head[at+8:]), jpeg2000
	case bytes.HasPrefix(head, []byte("\xff\x4f\xff\x51")) && len(head) >= 24: // a codestream alone; annex A.5.1
		width, height, mediaType = big.Uint32(head[8:])-big.Uint32(head[16:]), big.Uint32(head[12:])-big.Uint32(head[20:]), jpeg2000
	case bytes.HasPrefix(head, []byte("8BPS\x00\x01")) && len(head) >= 26:
		height, width, mediaType = big.Uint32(head[14:]), big.Uint32(head[18:]), photoshop
	}
	if width == 0 || height == 0 || width > math.MaxInt32 || height > math.MaxInt32 {
		return storedSize{}, ""
	}
	return storedSize{width: int(width), height: int(height)}, mediaType
}
