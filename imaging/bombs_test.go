package imaging

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"testing"
)

// bombs are small files that declare huge pictures, as an attacker sends them.
func bombs() map[string][]byte {
	avif := heifFile("avif", [2]int{17_000, 17_000}, 0)
	avif = append(avif, make([]byte, 1340-len(avif))...)
	gif := []byte("GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff\x2c\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x44\x01\x00\x3b")
	gif = append(gif, make([]byte, 44-len(gif))...)
	header := append([]byte("IHDR"), be32(50_000, 50_000)...)
	header = append(header, 8, 6, 0, 0, 0)
	png := append([]byte("\x89PNG\r\n\x1a\n"), be32(13)...)
	png = append(append(png, header...), be32(int(crc32.ChecksumIEEE(header)))...)
	png = append(png, make([]byte, 300_000)...)
	return map[string][]byte{
		"AVIF 17,000x17,000":        avif,
		"HEIC 65,535x65,535":        heifFile("heic", [2]int{65_535, 65_535}, 1),
		"HEIC behind a small item":  bytes.Replace(heifFile("heic", [2]int{64, 48}, 0), be32(160, 90), be32(60_000, 60_000), 1),
		"GIF 65,535x65,535":         gif,
		"BMP 3,000,000x2,000,000":   bmpFile(3_000_000, 2_000_000, 24),
		"BMP 3,000,000x2,000,000 8": bmpFile(3_000_000, -2_000_000, 8),
		"PNG 50,000x50,000":         png,
		"WebP 16,384x16,384":        webpBomb(),
	}
}

// webpBomb is an animation on the largest canvas.
func webpBomb() []byte {
	data := webpHeader(1, 1, 0x02)
	copy(data[24:], "\xff\x3f\x00\xff\x3f\x00")
	return data
}

// counted counts what is read of a file.
type counted struct {
	io.ReaderAt
	bytes int64
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.bytes += int64(n)
	return n, err
}

func TestNormalise_refusesEveryBombFromItsHeader(t *testing.T) {
	t.Parallel()
	for name, data := range bombs() {
		file := &counted{ReaderAt: bytes.NewReader(data)}
		_, err := Normalise(t.Context(), file, int64(len(data)), Limits{MaxSide: 2000, Accept: []string{"image/png", "image/jpeg", "image/avif"}})
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s of %d bytes: %v, want ErrTooLarge", name, len(data), err)
		}
		if most := int64(12 << 10); file.bytes > most {
			t.Errorf("%s: %d bytes were read, want at most %d", name, file.bytes, most)
		}
	}
	if n := len(bombs()["AVIF 17,000x17,000"]); n != 1340 {
		t.Errorf("the AVIF has %d bytes", n)
	}
	if n := len(bombs()["GIF 65,535x65,535"]); n != 44 {
		t.Errorf("the GIF has %d bytes", n)
	}
}

// Not parallel: the allocations of other tests would be counted.
func TestProbe_takesNoMemoryForBombs(t *testing.T) { //nolint:paralleltest // see above
	const most, times = 1 << 20, 10
	for name, data := range bombs() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			if info, err := probe(data); err != nil || info.Pixels < DefaultDecodePixels {
				t.Fatalf("%s: %+v %v", name, info, err)
			}
		}
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) / times; got == 0 || got > most {
			t.Errorf("%s: %d bytes are allocated, want at most %d", name, got, most)
		}
	}
}

func BenchmarkProbe_bombs(b *testing.B) {
	for name, data := range bombs() {
		b.Run(fmt.Sprintf("%s/%d bytes", name, len(data)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := probe(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
