package deflate

import (
	"bytes"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// stream compresses lines.
func stream(z *Writer, lines []byte, line, pixel int) []byte {
	z.Reset(nil, line, pixel)
	for ; len(lines) > 0; lines = lines[line:] {
		copy(z.Line(), lines[:line])
	}
	return z.Close()
}

// unpacked is what the standard library reads from a stream, to its last byte.
func unpacked(t *testing.T, packed []byte) []byte {
	t.Helper()
	in := bytes.NewReader(packed)
	r, err := zlib.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil || in.Len() > 0 {
		t.Fatalf("%d bytes left: %v", in.Len(), err)
	}
	return data
}

// page is the lines of a page of text in grey, with a filter before each.
func page() (lines []byte, line int) {
	img := pdftest.Drawing(1240, 1754, 30, "the quick brown fox jumps over it", "and a lazy dog looks at what it does")
	for y := range img.Rect.Dy() {
		lines = append(append(lines, 0), img.Pix[y*img.Stride:][:img.Rect.Dx()]...)
	}
	return lines, 1 + img.Rect.Dx()
}

func TestWriter(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same bytes each time
	noise := func(n, of int) []byte {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(random.IntN(of)) //nolint:gosec // below 256
		}
		return data
	}
	text, wide := page()
	z := new(Writer) // used again, as for the pages of a document
	for _, c := range []struct {
		name        string
		lines       []byte
		line, pixel int
	}{
		{"nothing", nil, 5, 1},
		{"a byte", []byte{7}, 1, 1},
		{"seven bytes", []byte("aaaaaaa"), 7, 1},
		{"eight bytes", []byte("aaaaaaaa"), 8, 1},
		{"one colour", bytes.Repeat([]byte{1, 2, 3}, 40_000), 300, 3},
		{"a page", text, wide, 1},
		{"noise", noise(300_000, 256), 1000, 1},
		{"noise of two", noise(3<<20, 2), 512, 1},
		{"equal lines of noise", bytes.Repeat(noise(1000, 256), 3000), 1000, 1},
		{"lines longer than matches reach", bytes.Repeat(noise(window+100, 256), 40), window + 100, 3},
		{"lines as long as matches reach", bytes.Repeat(noise(window, 256), 40), window, 3},
		{"lines longer than a band", noise(4*(band+5), 3), band + 5, 1},
		{"bands of whole lines", bytes.Repeat(noise(64, 256), 2*band/64), 64, 1},
	} {
		packed := stream(z, c.lines, c.line, c.pixel)
		if !bytes.Equal(unpacked(t, packed), c.lines) {
			t.Errorf("%s: other bytes", c.name)
		}
		if !bytes.Equal(packed, stream(new(Writer), c.lines, c.line, c.pixel)) {
			t.Errorf("%s: the stream depends on the picture before", c.name)
		}
	}
	if got := stream(z, bytes.Repeat(noise(1000, 256), 3000), 1000, 1); len(got) > 30_000 {
		t.Errorf("equal lines have %d bytes", len(got))
	}
	if got := stream(z, make([]byte, 3<<20), 1024, 1); len(got) > 6_000 {
		t.Errorf("white paper has %d bytes", len(got))
	}
}

// The stream is appended to what a buffer holds.
func TestWriter_appends(t *testing.T) {
	t.Parallel()
	z := new(Writer)
	z.Reset([]byte("before"), 3, 1)
	copy(z.Line(), "abc")
	got, ok := bytes.CutPrefix(z.Close(), []byte("before"))
	if !ok || string(unpacked(t, got)) != "abc" {
		t.Errorf("%q", got)
	}
}

// Counts that would make codes of 30 bits make codes of 15, which a decoder reads.
func TestLengthsOf_limit(t *testing.T) {
	t.Parallel()
	for symbols := range 33 {
		var count [literals]uint32
		a, b := uint32(1), uint32(1)
		for s := range symbols {
			count[s] = a
			a, b = b, a+b
		}
		for _, most := range []int{7, 15} {
			var lengths [literals]uint8
			lengthsOf(count[:], most, lengths[:])
			sum, used := 0, 0
			for s, n := range lengths {
				if int(n) > most || n == 0 && count[s] > 0 {
					t.Fatalf("%d symbols, at most %d bits: %d of symbol %d", symbols, most, n, s)
				}
				if n > 0 {
					sum += 1 << (most - int(n))
					used++
				}
			}
			if sum != 1<<most || used < max(symbols, 2) {
				t.Errorf("%d symbols, at most %d bits: the codes of %d symbols take %d of %d", symbols, most, used, sum, 1<<most)
			}
		}
	}
}

func FuzzWriter(f *testing.F) {
	f.Add([]byte("abcabcabcabcabcabc"), uint16(3), uint8(1))
	f.Add(bytes.Repeat([]byte{0, 255, 255, 255, 250}, 200), uint16(5), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, line uint16, pixel uint8) {
		n := int(line%1000) + 1
		data = bytes.Repeat(data, 7)
		data = data[:len(data)/n*n]
		if packed := stream(new(Writer), data, n, int(pixel%4)+1); !bytes.Equal(unpacked(t, packed), data) {
			t.Error("other bytes")
		}
	})
}

// Beside the standard library's fastest, on the same page.
func BenchmarkWriter(b *testing.B) {
	lines, line := page()
	own, std := new(Writer), zlib.NewWriter(nil)
	if level, err := zlib.NewWriterLevel(nil, zlib.BestSpeed); err == nil {
		std = level
	}
	for _, c := range []struct {
		name string
		pack func() int
	}{
		{"own", func() int { return len(stream(own, lines, line, 1)) }},
		{"standard library", func() int {
			var out bytes.Buffer
			std.Reset(&out)
			_, _ = std.Write(lines) // a buffer takes everything
			_ = std.Close()
			return out.Len()
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(lines)))
			n := 0
			for b.Loop() {
				n = c.pack()
			}
			b.ReportMetric(float64(n), "packed-bytes")
		})
	}
}
