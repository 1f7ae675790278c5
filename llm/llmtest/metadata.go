package llmtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Location is the place in the metadata of WithLocation's pictures.
const Location = "59.9139 N 10.7522 E"

// WithLocation returns a JPEG or PNG with Exif and XMP that say where it was taken. Its pixels stay.
func WithLocation(picture []byte) []byte {
	exif := "MM\x00*\x00\x00\x00\x08\x00\x01\x88\x25\x00\x04\x00\x00\x00\x01\x00\x00\x00\x1a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + Location
	xmp := "<x:xmpmeta xmlns:x='adobe:ns:meta/'>" + Location + "</x:xmpmeta>"
	if bytes.HasPrefix(picture, []byte("\x89PNG")) {
		out := bytes.Clone(picture[:33]) // signature and IHDR
		for _, body := range []string{"eXIf" + exif, "iTXtXML:com.adobe.xmp\x00\x00\x00\x00\x00" + xmp} {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(body)-4)), body...)
			out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(body)))
		}
		return append(out, picture[33:]...)
	}
	out := bytes.Clone(picture[:2])
	for _, body := range []string{"Exif\x00\x00" + exif, "http://ns.adobe.com/xap/1.0/\x00" + xmp} {
		out = append(binary.BigEndian.AppendUint16(append(out, 0xff, 0xe1), uint16(len(body)+2)), body...)
	}
	return append(out, picture[2:]...)
}

// metadata are beginnings of what pictures say besides their pixels.
var metadata = []string{
	Location, "Exif\x00\x00", "eXIf", "EXIF", "XMP ", "XMP Data", "http://ns.adobe.com/", "xmpmeta", "Photoshop 3.0\x00", "tEXt", "zTXt", "iTXt", "\x00MPF\x00", "JFXX\x00", "GPSLatitude",
}

// Bare refuses a picture that carries metadata: none may reach a service. It searches the bytes and does not parse the format.
func Bare(picture []byte) error {
	for _, mark := range metadata {
		if bytes.Contains(picture, []byte(mark)) {
			return fmt.Errorf("a picture of %d bytes with metadata (%q)", len(picture), mark)
		}
	}
	return nil
}

// bare refuses pictures with metadata among the parts of a request.
func bare(parts []Part) error {
	for _, p := range parts {
		if p.Kind() != "image" {
			continue
		}
		if err := Bare(p.Data); err != nil {
			return err
		}
	}
	return nil
}
