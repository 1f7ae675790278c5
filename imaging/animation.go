package imaging

import (
	"encoding/binary"
	"image"
	"io"
)

// animatedWebP reads the canvas of an extended WebP whose animation flag is set (RIFF container, VP8X chunk, bit 1).
// The decoder at hand knows nothing of animations: it gets the first frame as a file of its own.
func animatedWebP(head []byte) (width, height int, animated bool) {
	const flag = 0x02
	if len(head) < 30 || string(head[12:16]) != "VP8X" || head[20]&flag == 0 {
		return 0, 0, false
	}
	return 1 + int(uint24(head[24:])), 1 + int(uint24(head[27:])), true
}

// animatedPNG looks for the chunk acTL, which stands before the picture data (PNG 3rd edition §11.3.6).
func animatedPNG(r io.ReaderAt, size int64) bool {
	found := false
	eachChunk(r, size, 8, pngChunk, func(name string, _, _ int64) bool {
		found = name == "acTL"
		return !found && name != "IDAT"
	})
	return found
}

// firstWebPFrame returns the first frame of an animated WebP as a file, and its place on the canvas. It is
// nil when there is none.
func firstWebPFrame(r io.ReaderAt, size int64) (file []byte, at image.Point) {
	eachChunk(r, size, 12, riffChunk, func(name string, data, length int64) bool {
		if name != "ANMF" {
			return true
		}
		b := make([]byte, min(length, size-data))
		if n, err := r.ReadAt(b, data); n < len(b) || err != nil && err != io.EOF || len(b) < 24 {
			return false
		}
		at = image.Pt(2*int(uint24(b)), 2*int(uint24(b[3:])))
		file = webPFile(b[6:12], b[16:])
		return false
	})
	return file, at
}

// webPFile makes a still WebP of a frame's chunks. size is that of the frame, less one, as the container has it.
func webPFile(size, chunks []byte) []byte {
	body := []byte("WEBP")
	if string(chunks[:4]) == "ALPH" {
		const alpha = 0x10
		body = append(append(body, "VP8X\x0a\x00\x00\x00"...), alpha, 0, 0, 0)
		body = append(body, size...)
	}
	body = append(body, chunks...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func uint24(b []byte) uint32 { return uint32(binary.LittleEndian.Uint16(b)) | uint32(b[2])<<16 }

// animatedGIF counts image descriptors by walking the blocks, without decoding them.
func animatedGIF(r io.ReaderAt, size int64) bool {
	head := make([]byte, 13)
	if _, err := r.ReadAt(head, 0); err != nil {
		return false
	}
	at := int64(13) + colourTable(head[10])
	frames := 0
	for at < size && frames < 2 {
		var b [10]byte
		n, _ := r.ReadAt(b[:], at) // a short read near the end leaves zeroes, which end the walk
		switch {
		case n > 0 && b[0] == 0x21: // extension
			at = skipBlocks(r, at+2)
		case n == 10 && b[0] == 0x2C: // image descriptor
			frames++
			at = skipBlocks(r, at+10+colourTable(b[9])+1)
		default:
			return frames > 1
		}
	}
	return frames > 1
}

func colourTable(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// skipBlocks passes over data sub-blocks, each with its length before it, up to the empty one.
func skipBlocks(r io.ReaderAt, at int64) int64 {
	for {
		var length [1]byte
		if n, err := r.ReadAt(length[:], at); n == 0 && err != nil {
			return at
		}
		at += 1 + int64(length[0])
		if length[0] == 0 {
			return at
		}
	}
}
