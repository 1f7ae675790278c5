package disk

import (
	"bytes"
	"encoding/binary"
	"io"
)

const (
	headBytes = 1024      // where a PDF may begin
	tailBytes = 66 * 1024 // a ZIP end record with the longest comment, and any PDF trailer
)

// incomplete says, in words, what a file lacks at its end for the format that its first bytes announce; empty when it
// lacks nothing or its format has no end mark. It judges by bytes, never by name.
func incomplete(r io.ReaderAt, size int64) (string, error) {
	head, err := readAt(r, 0, min(size, headBytes))
	if err != nil {
		return "", err
	}
	check := formatOf(head)
	if check == nil {
		return "", nil
	}
	tail, err := readAt(r, max(0, size-tailBytes), min(size, tailBytes))
	if err != nil {
		return "", err
	}
	return check(head, tail, size), nil
}

// ShowsEnd reports whether a file that begins with these bytes is of a format whose end can be recognised: one that is cut off
// is noticed.
func ShowsEnd(head []byte) bool { return formatOf(head[:min(len(head), headBytes)]) != nil }

func readAt(r io.ReaderAt, off, n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := r.ReadAt(buf, off)
	if int64(got) == n {
		return buf, nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

type endCheck func(head, tail []byte, size int64) string

func formatOf(head []byte) endCheck {
	switch {
	case bytes.Contains(head, []byte("%PDF-")):
		return pdfEnd
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return zipEnd
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return jpegEnd
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return pngEnd
	case bytes.HasPrefix(head, []byte("GIF8")):
		return gifEnd
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return webpEnd
	}
	return nil
}

func pdfEnd(_, tail []byte, _ int64) string {
	if bytes.Contains(tail[max(0, len(tail)-4096):], []byte("%%EOF")) {
		return ""
	}
	return "the PDF has no trailer yet"
}

// zipEnd wants an end record whose comment reaches the end of the file: a stored archive inside has one too.
func zipEnd(_, tail []byte, _ int64) string {
	const record = 22
	for i := len(tail) - record; i >= 0; i-- {
		if !bytes.HasPrefix(tail[i:], []byte("PK\x05\x06")) {
			continue
		}
		if comment := int(binary.LittleEndian.Uint16(tail[i+20:])); i+record+comment == len(tail) {
			return ""
		}
	}
	return "the ZIP has no end record yet"
}

func jpegEnd(_, tail []byte, _ int64) string {
	if bytes.HasSuffix(padless(tail), []byte("\xff\xd9")) {
		return ""
	}
	return "the JPEG has no end mark yet"
}

func pngEnd(_, tail []byte, _ int64) string {
	if bytes.Contains(tail[max(0, len(tail)-4096):], []byte("IEND\xaeB`\x82")) {
		return ""
	}
	return "the PNG has no end chunk yet"
}

func gifEnd(_, tail []byte, _ int64) string {
	if bytes.HasSuffix(padless(tail), []byte{0x3b}) {
		return ""
	}
	return "the GIF has no trailer yet"
}

func webpEnd(head, _ []byte, size int64) string {
	if int64(binary.LittleEndian.Uint32(head[4:]))+8 <= size {
		return ""
	}
	return "the WebP is shorter than it says"
}

// padless leaves out what some programs write after the end.
func padless(tail []byte) []byte { return bytes.TrimRight(tail, "\x00\r\n ") }
