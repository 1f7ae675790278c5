package sound

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// wav is a recording of 16 bits, mono, at a rate in hertz, with a comment before the sound.
func wav(rate, samples int) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*rate))
	b = append(b, "\x02\x00\x10\x00LIST\x05\x00\x00\x00INFO!\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(2*samples))
	for i := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(i))
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// mp3 is a recording of frames of 417 or 418 bytes, 128 kbit/s at 44,100 Hz, between tags.
func mp3(frames int) []byte {
	b := append([]byte("ID3\x04\x00\x00\x00\x00\x00\x0a"), "ten bytes."...)
	for i := range frames {
		frame := make([]byte, 417+i%2)
		copy(frame, []byte{0xff, 0xfb, 0x90 | byte(i%2)<<1, 0})
		frame[5] = byte(i)
		b = append(b, frame...)
	}
	return append(b, "TAG a title"...)
}

func TestCut_whole(t *testing.T) {
	t.Parallel()
	data := []byte("any bytes at all")
	parts, err := Cut(bytes.NewReader(data), int64(len(data)), 100)
	if err != nil || len(parts) != 1 {
		t.Fatalf("%v, %v", parts, err)
	}
	if got, err := parts[0].Read(bytes.NewReader(data)); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCut_wav(t *testing.T) {
	t.Parallel()
	data := wav(100, 1000)
	for _, length := range []uint32{2000, 0, math.MaxUint32} { // a recorder that was switched off
		binary.LittleEndian.PutUint32(data[54:], length)
		parts, err := Cut(bytes.NewReader(data), int64(len(data)), 645)
		if err != nil || len(parts) != 4 {
			t.Fatalf("%d parts, %v", len(parts), err)
		}
		var sound []byte
		for i, p := range parts {
			got, err := p.Read(bytes.NewReader(data))
			if err != nil || len(got) > 645 || string(got[:4]) != "RIFF" || int(binary.LittleEndian.Uint32(got[4:])) != len(got)-8 || int(binary.LittleEndian.Uint32(got[40:])) != len(got)-44 {
				t.Fatalf("part %d: %d bytes, %q, %v", i, len(got), got[:44], err)
			}
			if want := float64(len(sound)) / 200; p.Start != want {
				t.Errorf("part %d starts at %g s, want %g", i, p.Start, want)
			}
			sound = append(sound, got[44:]...)
		}
		if !bytes.Equal(sound, data[58:]) {
			t.Error("the parts are not the sound")
		}
	}
}

func TestCut_mp3(t *testing.T) {
	t.Parallel()
	data := mp3(100)
	parts, err := Cut(bytes.NewReader(data), int64(len(data)), 10_000)
	if err != nil || len(parts) != 5 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	frames := 0
	for i, p := range parts {
		got, err := p.Read(bytes.NewReader(data))
		if err != nil || len(got) > 10_000 || got[0] != 0xff || got[1] != 0xfb {
			t.Fatalf("part %d: %d bytes, %v", i, len(got), err)
		}
		if want := float64(frames) * 1152 / 44100; math.Abs(p.Start-want) > 1e-6 {
			t.Errorf("part %d starts at %g s, want %g", i, p.Start, want)
		}
		for at := 0; at < len(got); frames++ {
			if got[at+5] != byte(frames) {
				t.Fatalf("part %d: frame %d is not there", i, frames)
			}
			at += 417 + frames%2
		}
	}
	if frames != 100 {
		t.Errorf("%d frames, want 100", frames)
	}
}

func TestCut_refusesOthers(t *testing.T) {
	t.Parallel()
	compressed := wav(100, 1000)
	compressed[20] = 2 // ADPCM
	for name, data := range map[string][]byte{
		"m4a": append([]byte("\x00\x00\x00\x20ftypM4A "), make([]byte, 5000)...), "ogg": append([]byte("OggS"), make([]byte, 5000)...),
		"compressed": compressed, "no sound": append([]byte("RIFF\x00\x00\x00\x00WAVE"), make([]byte, 5000)...), "too many": wav(100, 40_000),
	} {
		if parts, err := Cut(bytes.NewReader(data), int64(len(data)), 100); !errors.Is(err, ErrWhole) {
			t.Errorf("%s: %d parts, %v", name, len(parts), err)
		}
	}
}

// FuzzCut: parts are in order, within the file and the limit, and there are not too many.
func FuzzCut(f *testing.F) {
	f.Add(wav(100, 1000), uint16(645))
	f.Add(mp3(20), uint16(900))
	f.Fuzz(func(t *testing.T, data []byte, most uint16) {
		parts, err := Cut(bytes.NewReader(data), int64(len(data)), int64(most))
		if err != nil {
			return
		}
		at := int64(0)
		for i, p := range parts {
			if p.From < at || p.To < p.From || p.To > int64(len(data)) || int64(len(p.Head))+p.To-p.From > int64(most) {
				t.Fatalf("part %d is %d to %d of %d bytes after %d, limit %d", i, p.From, p.To, len(data), at, most)
			}
			at = p.To
		}
		if len(parts) > MaxParts {
			t.Errorf("%d parts", len(parts))
		}
	})
}
