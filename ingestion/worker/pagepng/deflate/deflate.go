// Package deflate compresses the lines of a picture of a page into a zlib stream (RFC 1950, RFC 1951). It looks where such pictures repeat
// themselves: before the place (paper), in the line above (strokes and rules) and where the same bytes last were (the same letter). That takes
// less time than a compressor for any data, and makes fewer bytes. See docs/benchmarks.md.
package deflate

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"math/bits"
	"slices"
)

// Limits of the format (RFC 1951, section 2 and 3.2.5).
const (
	window   = 32 << 10 // the farthest match
	minMatch = 4        // 3 in the format; those cost more than they save
	maxMatch = 258
)

// blockTokens is how many tokens share a code.
const blockTokens = 32 << 10

// token is a literal byte, or a match: its length from bit 16 and its distance below.
type token uint32

const lengthShift = 16

// hashBits is the size of the table of places, which stays in the processor's cache.
const hashBits = 14

// band is how many bytes of lines are compressed at a time, at least a line.
const band = 1 << 20

// loaded is how many bytes are looked at together. So many are behind the lines, and may hold anything.
const loaded = 8

// Writer compresses the lines of one picture after the other. The zero value is ready for Reset. It is not safe for concurrent use.
type Writer struct {
	data        []byte // what was compressed, as far as matches reach, and then lines that were not
	from        int    // where those begin
	line, pixel int    // bytes of each
	tokens      [blockTokens]token
	n           int                   // of tokens
	places      [1 << hashBits]uint32 // where the bytes of a hash last were
	sum, last   checksum              // of all lines, of the last one
	out         bitWriter
}

// Reset begins a picture with lines of this many bytes, of pixels of this many. The stream is appended to a buffer.
func (z *Writer) Reset(to []byte, line, pixel int) {
	z.line, z.pixel, z.n, z.from, z.sum = line, pixel, 0, 0, 1
	z.data = slices.Grow(z.data[:0], window+max(band, line)+loaded)
	clear(z.places[:])
	z.out = bitWriter{out: append(to, 0x78, 0x5e)} // a window of 32 KB; both bytes together are a multiple of 31
}

// Line returns the next line, which holds anything and is to be filled before the next call.
func (z *Writer) Line() []byte {
	if len(z.data)+z.line+loaded > cap(z.data) {
		z.compress()
		z.from = min(window, len(z.data))
		z.data = z.data[:copy(z.data, z.data[len(z.data)-z.from:])]
	}
	z.data = z.data[:len(z.data)+z.line]
	return z.data[len(z.data)-z.line:]
}

// Close ends the stream and returns the buffer.
func (z *Writer) Close() []byte {
	z.compress()
	z.block(true)
	z.out.flush()
	out := binary.BigEndian.AppendUint32(z.out.out, uint32(z.sum))
	z.out = bitWriter{}
	return out
}

// compress makes tokens of the lines that have none.
func (z *Writer) compress() {
	at := z.from // where there are tokens up to
	for begin := z.from; begin < len(z.data); begin += z.line {
		end := begin + z.line
		line, above := z.data[begin:end], begin-z.line
		again := above >= 0 && bytes.Equal(line, z.data[above:begin])
		if !again {
			z.last = checksum(adler32.Checksum(line))
		}
		z.sum = z.sum.with(z.last, z.line)
		if again && at == begin && z.line <= window && !z.flat(line) {
			z.repeat(line)
			at = end
		} else {
			at = z.fresh(at, end)
		}
	}
}

// flat reports whether a line has one colour behind the byte at its beginning. Its runs take fewer bits than matches with the line above.
func (z *Writer) flat(line []byte) bool {
	return len(line) <= 1+z.pixel || bytes.Equal(line[1+z.pixel:], line[1:len(line)-z.pixel])
}

// repeat makes tokens of a line that is the one above.
func (z *Writer) repeat(line []byte) {
	for len(line) >= minMatch {
		n := min(len(line), maxMatch)
		z.add(token(n<<lengthShift | z.line))
		line = line[n:]
	}
	for _, b := range line {
		z.add(token(b))
	}
}

// fresh makes tokens up to the end of a line, or beyond it, and returns up to where.
func (z *Writer) fresh(i, end int) int {
	data := z.data[: len(z.data)+loaded : len(z.data)+loaded]
	for i < end {
		m := z.find(data, i)
		if m == 0 {
			z.add(token(data[i]))
			i++
			continue
		}
		for m < lazy<<lengthShift && i+1 < len(z.data) {
			next := z.find(data, i+1)
			if next>>lengthShift <= m>>lengthShift {
				break
			}
			z.add(token(data[i]))
			i, m = i+1, next
		}
		z.add(m)
		after := i + int(m>>lengthShift)
		if m < long<<lengthShift {
			for i++; i < after; i++ {
				z.places[hashOf(load32(data, i))] = uint32(i) //nolint:gosec // a place in the band
			}
		}
		i = after
	}
	return i
}

func (z *Writer) add(t token) {
	if z.n == blockTokens {
		z.block(false)
	}
	z.tokens[z.n] = t
	z.n++
}

// Lengths from which a match is taken without a look at the next place, and without any other look.
const (
	lazy = 12
	long = 32
)

// find returns the longest match at a place, or 0, and notes the place.
func (z *Writer) find(data []byte, i int) token {
	end := len(data) - loaded
	now := load32(data, i)
	best, distance := minMatch-1, 0
	if j := i - z.pixel; j >= 0 && load32(data, j) == now {
		if n := same(data, i, j, end); n > best {
			if best, distance = n, z.pixel; n >= long {
				return token(n<<lengthShift | distance)
			}
		}
	}
	if j := i - z.line; j >= 0 && z.line <= window && load32(data, j) == now {
		if n := same(data, i, j, end); n > best+1 { // a far one takes more bits
			if best, distance = n, z.line; n >= long {
				return token(n<<lengthShift | distance)
			}
		}
	}
	at := &z.places[hashOf(now)]
	j := int(*at)
	*at = uint32(i) //nolint:gosec // a place in the band
	if j < i && i-j <= window && load32(data, j) == now {
		if n := same(data, i, j, end); n > best {
			best, distance = n, i-j
		}
	}
	if distance == 0 {
		return 0
	}
	return token(best<<lengthShift | distance)
}

func hashOf(v uint32) uint32 { return v * 0x9e3779b1 >> (32 - hashBits) }

func load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// same returns how many bytes from i are those from j on, at most to the end or the longest match.
func same(b []byte, i, j, end int) int {
	n, most := 0, min(maxMatch, end-i)
	for n < most {
		if x := load64(b, i+n) ^ load64(b, j+n); x != 0 {
			n += bits.TrailingZeros64(x) / 8
			break
		}
		n += loaded
	}
	return min(n, most)
}

// checksum is an Adler-32 (RFC 1950, section 8.2).
type checksum uint32

// with returns the checksum of bytes followed by others of that length.
func (c checksum) with(next checksum, length int) checksum {
	const mod = 65521
	a, b := uint64(c&0xffff), uint64(c>>16)
	b += uint64(next>>16) + uint64(length)*(a+mod-1) //nolint:gosec // positive
	a += uint64(next&0xffff) + mod - 1
	return checksum(b%mod<<16 | a%mod)
}
