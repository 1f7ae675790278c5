package deflate

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Sizes of the alphabets (RFC 1951, section 3.2.5 and 3.2.7).
const (
	literals    = 286
	distances   = 30
	codeLengths = 19
	endOfBlock  = 256
	firstLength = 257
)

// counts is how often each symbol is used in a block.
type counts struct {
	literals  [literals]uint32
	distances [distances]uint32
}

// Extra bits of the codes of lengths and distances, and the least of each code (section 3.2.5).
var (
	lengthBits    [literals - firstLength]uint8
	lengthBase    [literals - firstLength]uint16
	lengthCodes   [maxMatch + 1]uint16
	distanceBits  [distances]uint8
	distanceBase  [distances]uint16
	distanceCodes [512]uint8 // of distances up to 256, then of distances of 128 together
)

func init() {
	base := 3
	for c := range lengthBits {
		if c >= 8 && c < 28 {
			lengthBits[c] = uint8(c/4 - 1)
		}
		if c == 28 {
			base = maxMatch // it has a code of its own
		}
		lengthBase[c] = uint16(base)
		for n := base; n < base+1<<lengthBits[c] && n <= maxMatch; n++ {
			lengthCodes[n] = uint16(firstLength + c)
		}
		base += 1 << lengthBits[c]
	}
	far := 1
	for c := range distanceBits {
		if c >= 4 {
			distanceBits[c] = uint8(c/2 - 1)
		}
		distanceBase[c] = uint16(far)
		for d := far; d < far+1<<distanceBits[c]; d++ {
			*distanceSlot(d) = uint8(c)
		}
		far += 1 << distanceBits[c]
	}
}

func distanceSlot(d int) *uint8 {
	if d <= 256 {
		return &distanceCodes[d-1]
	}
	return &distanceCodes[256+(d-1)>>7]
}

func lengthCode(n int) int   { return int(lengthCodes[n]) }
func distanceCode(d int) int { return int(*distanceSlot(d)) }

// code is a symbol's bits, the first one lowest, and how many they are.
type code struct {
	bits uint16
	n    uint8
}

// lengthsOf returns the lengths of the codes of an optimal prefix code, none longer than most.
func lengthsOf(count []uint32, most int, lengths []uint8) {
	clear(lengths)
	type leaf struct {
		count  uint32
		symbol uint16
	}
	var all [literals]leaf
	used := all[:0]
	for s, n := range count {
		if n > 0 {
			used = append(used, leaf{n, uint16(s)})
		}
	}
	for s := 0; len(used) < 2; s++ { // a decoder expects two
		if count[s] == 0 {
			used = append(used, leaf{1, uint16(s)})
		}
	}
	slices.SortFunc(used, func(a, b leaf) int {
		if a.count != b.count {
			return int(int64(a.count) - int64(b.count))
		}
		return int(a.symbol) - int(b.symbol)
	})
	// The two least are joined until one is left; joined ones come out in order.
	n := len(used)
	var weight, parent [2 * literals]uint32
	for i, l := range used {
		weight[i] = l.count
	}
	next, joined := 0, n
	for made := n; made < 2*n-1; made++ {
		for range 2 {
			least := joined
			if joined >= made || next < n && weight[next] <= weight[joined] {
				least = next
				next++
			} else {
				joined++
			}
			weight[made] += weight[least]
			parent[least] = uint32(made)
		}
	}
	var depth [2 * literals]uint8
	var many [33]int // of each length
	for i := 2*n - 3; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
		if i < n {
			many[min(int(depth[i]), 32)]++
		}
	}
	limit(&many, most)
	i := 0
	for length := most; length > 0; length-- {
		for range many[length] {
			lengths[used[i].symbol] = uint8(length)
			i++
		}
	}
}

// limit shortens the codes that are too long, and lengthens others until all fit: the sum of 1/2^length is at most 1.
func limit(many *[33]int, most int) {
	for length := most + 1; length < len(many); length++ {
		many[most] += many[length]
		many[length] = 0
	}
	sum := 0
	for length := 1; length <= most; length++ {
		sum += many[length] << (most - length)
	}
	for ; sum > 1<<most; sum-- {
		many[most]--
		for length := most - 1; ; length-- {
			if many[length] > 0 {
				many[length]--
				many[length+1] += 2
				break
			}
		}
	}
}

// codesOf returns the codes of these lengths (section 3.2.2).
func codesOf(lengths []uint8, codes []code) {
	var many, next [16]uint16
	for _, n := range lengths {
		many[n]++
	}
	many[0] = 0
	for n := 1; n < 16; n++ {
		next[n] = (next[n-1] + many[n-1]) << 1
	}
	for s, n := range lengths {
		codes[s] = code{}
		if n > 0 {
			codes[s] = code{bits.Reverse16(next[n]) >> (16 - n), n}
			next[n]++
		}
	}
}

// bitWriter writes bits, the first one lowest in a byte.
type bitWriter struct {
	out  []byte
	bits uint64
	n    uint
}

// add adds at most 32 bits.
func (w *bitWriter) add(v uint64, n uint) {
	w.bits |= v << w.n
	if w.n += n; w.n >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.bits))
		w.bits >>= 32
		w.n -= 32
	}
}

// flush writes the bits that are left, up to the end of a byte.
func (w *bitWriter) flush() {
	for ; w.n > 0; w.n -= min(w.n, 8) {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
}

// lengthOrder is the order in which the lengths of the codes of lengths are written (section 3.2.7).
var lengthOrder = [codeLengths]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// block writes the tokens as a block with codes of its own.
func (z *Writer) block(last bool) {
	var count counts
	for _, t := range z.tokens[:z.n] {
		if t < 1<<lengthShift {
			count.literals[t&0xff]++
		} else {
			count.literals[lengthCode(int(t>>lengthShift))]++
			count.distances[distanceCode(int(t&(1<<lengthShift-1)))]++
		}
	}
	count.literals[endOfBlock] = 1
	var lengths [literals + distances]uint8
	lengthsOf(count.literals[:], 15, lengths[:literals])
	lengthsOf(count.distances[:], 15, lengths[literals:])
	var symbols [literals]code
	var far [distances]code
	codesOf(lengths[:literals], symbols[:])
	codesOf(lengths[literals:], far[:])
	final := uint64(0)
	if last {
		final = 1
	}
	z.out.add(final|2<<1, 3)
	z.out.codes(lengths[:])
	w := z.out
	for _, t := range z.tokens[:z.n] {
		if t < 1<<lengthShift {
			c := symbols[t&0xff]
			w.add(uint64(c.bits), uint(c.n))
			continue
		}
		length, distance := int(t>>lengthShift), int(t&(1<<lengthShift-1))
		s := lengthCode(length) - firstLength
		c := symbols[s+firstLength]
		w.add(uint64(c.bits)|uint64(length-int(lengthBase[s]))<<c.n, uint(c.n+lengthBits[s]))
		d := distanceCode(distance)
		c = far[d]
		w.add(uint64(c.bits)|uint64(distance-int(distanceBase[d]))<<c.n, uint(c.n+distanceBits[d]))
	}
	c := symbols[endOfBlock]
	w.add(uint64(c.bits), uint(c.n))
	z.out = w
	z.n = 0
}

// codes writes the lengths of a block's codes, which are compressed themselves.
func (w *bitWriter) codes(lengths []uint8) {
	var run [literals + distances]struct{ symbol, extra uint8 }
	var count [codeLengths]uint32
	n := 0
	note := func(symbol, extra uint8) {
		run[n].symbol, run[n].extra = symbol, extra
		count[symbol]++
		n++
	}
	for i := 0; i < len(lengths); {
		v, j := lengths[i], i+1
		for j < len(lengths) && lengths[j] == v {
			j++
		}
		many := j - i
		i = j
		if v > 0 {
			note(v, 0)
			many--
		}
		for many >= 3 {
			switch {
			case v > 0:
				k := min(many, 6)
				note(16, uint8(k-3))
				many -= k
			case many <= 10:
				note(17, uint8(many-3))
				many = 0
			default:
				k := min(many, 138)
				note(18, uint8(k-11))
				many -= k
			}
		}
		for ; many > 0; many-- {
			note(v, 0)
		}
	}
	var short [codeLengths]uint8
	var codes [codeLengths]code
	lengthsOf(count[:], 7, short[:])
	codesOf(short[:], codes[:])
	sent := codeLengths
	for sent > 4 && short[lengthOrder[sent-1]] == 0 {
		sent--
	}
	w.add(literals-257, 5)
	w.add(distances-1, 5)
	w.add(uint64(sent-4), 4)
	for _, s := range lengthOrder[:sent] {
		w.add(uint64(short[s]), 3)
	}
	extra := [codeLengths]uint8{16: 2, 17: 3, 18: 7}
	for _, r := range run[:n] {
		c := codes[r.symbol]
		w.add(uint64(c.bits)|uint64(r.extra)<<c.n, uint(c.n+extra[r.symbol]))
	}
}
