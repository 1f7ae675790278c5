// Package sound cuts recordings into parts that a service takes, without decoding them: WAV between samples, MP3 between frames. It
// reads files, keeps no state, and goes by bytes, never by names.
package sound

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrWhole is matched by the error of a recording that is too large and cannot be cut.
var ErrWhole = errors.New("recordings of this kind cannot be cut")

// Part is a piece of a recording that can be played by itself: Head, then the bytes of the file from From to To.
type Part struct {
	Head     []byte
	From, To int64
	Start    float64 // seconds from the beginning of the recording
}

// Read returns the bytes of the part.
func (p Part) Read(r io.ReaderAt) ([]byte, error) {
	data := make([]byte, int64(len(p.Head))+p.To-p.From)
	n := copy(data, p.Head)
	if _, err := io.ReadFull(io.NewSectionReader(r, p.From, p.To-p.From), data[n:]); err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	return data, nil
}

// Utterance is what was said between two times, in seconds.
type Utterance struct {
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
}

// MaxParts bounds the parts of one recording.
const MaxParts = 1000

// Cut returns the parts of a recording, of at most so many bytes each, in order. One that fits is one part, whatever it is. The same
// bytes and limit always yield the same parts.
func Cut(r io.ReaderAt, size, most int64) ([]Part, error) {
	if size <= most {
		return []Part{{To: size}}, nil
	}
	head := make([]byte, 12)
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, fmt.Errorf("%w: %w", ErrWhole, err)
	}
	var parts []Part
	var err error
	if string(head[:4]) == "RIFF" && string(head[8:]) == "WAVE" {
		parts, err = cutWAV(r, size, most)
	} else {
		parts, err = cutMP3(r, size, most, firstFrame(head))
	}
	if err == nil && len(parts) > MaxParts {
		err = fmt.Errorf("%w: it would have %d parts", ErrWhole, len(parts))
	}
	return parts, err
}

// maxChunks bounds the chunks before the sound.
const maxChunks = 1000

// cutWAV cuts between samples; each part gets the format's header of its own.
func cutWAV(r io.ReaderAt, size, most int64) ([]Part, error) {
	var format []byte
	for n, at := 0, int64(12); n < maxChunks && at+8 <= size; n++ {
		var head [8]byte
		if _, err := r.ReadAt(head[:], at); err != nil {
			return nil, fmt.Errorf("read the recording: %w", err)
		}
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		switch string(head[:4]) {
		case "fmt ":
			if length < 16 || length > 1024 || at+8+length > size {
				return nil, fmt.Errorf("%w: its header makes no sense", ErrWhole)
			}
			format = make([]byte, length)
			if _, err := r.ReadAt(format, at+8); err != nil {
				return nil, fmt.Errorf("read the recording: %w", err)
			}
		case "data": // a recorder that was switched off has not written the length
			end := size
			if length > 0 && at+8+length < size {
				end = at + 8 + length
			}
			return wavParts(format, at+8, end, most)
		}
		at += 8 + length + length&1
	}
	return nil, fmt.Errorf("%w: it holds no sound", ErrWhole)
}

func wavParts(format []byte, from, end, most int64) ([]Part, error) {
	if format == nil {
		return nil, fmt.Errorf("%w: its header makes no sense", ErrWhole)
	}
	kind := binary.LittleEndian.Uint16(format)
	perSecond, block := int64(binary.LittleEndian.Uint32(format[8:])), int64(binary.LittleEndian.Uint16(format[12:]))
	room := most - int64(28+len(format)+len(format)&1)
	if kind != 1 && kind != 3 && kind != 0xfffe || perSecond == 0 || block == 0 || room < block {
		return nil, fmt.Errorf("%w: it is no plain WAV", ErrWhole)
	}
	var parts []Part
	for at := from; at < end; {
		next := min(at+room/block*block, end)
		parts = append(parts, Part{Head: wavHead(format, next-at), From: at, To: next, Start: float64(at-from) / float64(perSecond)})
		if at = next; len(parts) > MaxParts {
			break
		}
	}
	return parts, nil
}

func wavHead(format []byte, length int64) []byte {
	padded := append(bytes.Clone(format), make([]byte, len(format)%2)...)
	head := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(20+int64(len(padded))+length))...)
	head = append(head, "WAVEfmt "...)
	head = append(binary.LittleEndian.AppendUint32(head, uint32(len(format))), padded...)
	return binary.LittleEndian.AppendUint32(append(head, "data"...), uint32(length))
}

// firstFrame is where the frames of an MP3 begin: behind the tag of ID3v2, if there is one.
func firstFrame(head []byte) int64 {
	if string(head[:3]) != "ID3" {
		return 0
	}
	length := int64(0)
	for _, b := range head[6:10] {
		length = length<<7 | int64(b&0x7f)
	}
	return 10 + length
}

// cutMP3 cuts between frames. Tags before and behind them are left out.
func cutMP3(r io.ReaderAt, size, most, from int64) ([]Part, error) {
	frames := bufio.NewReaderSize(io.NewSectionReader(r, from, max(size-from, 0)), 64<<10)
	parts, at, start := []Part{{From: from, To: from}}, from, 0.0
	for at < size {
		head, err := frames.Peek(4)
		if err != nil {
			break // less than a frame is left
		}
		length, seconds, ok := mp3Frame(head)
		if !ok || length > most {
			break
		}
		last := &parts[len(parts)-1]
		if at+length > size {
			length = size - at // the recording was cut off
		}
		if at+length-last.From > most {
			if parts = append(parts, Part{From: at, To: at, Start: start}); len(parts) > MaxParts {
				break
			}
			last = &parts[len(parts)-1]
		}
		if _, err := frames.Discard(int(length)); err != nil {
			return nil, fmt.Errorf("read the recording: %w", err)
		}
		at, start = at+length, start+seconds
		last.To = at
	}
	if left := size - at; at == from || left > maxTag {
		return nil, fmt.Errorf("%w: only WAV and MP3 can", ErrWhole)
	}
	return parts, nil
}

// maxTag is more than tags behind the frames take; more bytes that are no frames mean that the file is something else.
const maxTag = 1 << 20

// Bit rates in kbit/s and sampling rates of layer III (ISO/IEC 11172-3 §2.4.2.3, 13818-3).
var (
	rates1   = [16]int64{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	rates2   = [16]int64{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
	sampling = [4]int64{44100, 48000, 32000}
)

// mp3Frame reads a frame's header: the bytes of the frame and how long it plays.
func mp3Frame(b []byte) (length int64, seconds float64, ok bool) {
	version, layer := b[1]>>3&3, b[1]>>1&3
	if b[0] != 0xff || b[1]&0xe0 != 0xe0 || version == 1 || layer != 1 {
		return 0, 0, false
	}
	samples, rate, hertz := int64(1152), rates1[b[2]>>4], sampling[b[2]>>2&3]
	if version != 3 { // MPEG 2, and 2.5 at half its rates
		samples, rate, hertz = 576, rates2[b[2]>>4], hertz/2
		if version == 0 {
			hertz /= 2
		}
	}
	if rate == 0 || hertz == 0 {
		return 0, 0, false
	}
	return samples/8*rate*1000/hertz + int64(b[2]>>1&1), float64(samples) / float64(hertz), true
}
