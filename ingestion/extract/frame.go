package extract

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Sizes of frames in bytes.
const (
	maxMessage = 32 << 20  // JSON
	maxPage    = 16 << 20  // likewise, of a page
	MaxText    = 4 << 20   // of the texts and words of a page together: a thousand times what is usual
	MaxPicture = 192 << 20 // an uncompressible picture of 40 million pixels in colour is 120 MB; also of a cut document
)

// Types of frames.
const (
	typeHello    = 'H'
	typeOpen     = 'O'
	typeDocument = 'D'
	typeRequest  = 'R'
	typePage     = 'P'
	typePicture  = 'I'
	typeError    = 'E'
	typeCutOrder = 'C'
	typeCut      = 'F'
)

// ErrFrame is matched by every fault in what came over the pipe: wrong type, size or value.
var ErrFrame = errors.New("invalid frame")

// ErrTooMuch is matched by the fault of a page that has more than [maxPage] or [MaxText] allow. It matches ErrFrame as well.
var ErrTooMuch = fmt.Errorf("%w: too much", ErrFrame)

// head is the length of the payload, big-endian, and the type.
const head = 5

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	if len(payload) > sizeLimit(kind) {
		return fmt.Errorf("frame %q of %d bytes is above its limit: %w", kind, len(payload), ErrFrame)
	}
	var h [head]byte
	binary.BigEndian.PutUint32(h[:], uint32(len(payload)))
	h[4] = kind
	if _, err := w.Write(h[:]); err != nil {
		return fmt.Errorf("write frame head: %w", err)
	}
	if _, err := w.Write(payload); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

// readFrame reads one frame. io.EOF is returned only between frames. The memory taken grows with what arrives, not with
// what the head announces.
func readFrame(r io.Reader) (kind byte, payload []byte, err error) {
	var h [head]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, nil, io.EOF
		}
		return 0, nil, fmt.Errorf("read frame head: %w", err)
	}
	kind = h[4]
	size := int64(binary.BigEndian.Uint32(h[:]))
	if limit := sizeLimit(kind); limit == 0 {
		return 0, nil, fmt.Errorf("frame type %q is unknown: %w", kind, ErrFrame)
	} else if kind == typePage && size > int64(limit) {
		return 0, nil, fmt.Errorf("%w: %d MB arrived, more than the %d MB allowed for a page", ErrTooMuch, size>>20, limit>>20)
	} else if size > int64(limit) {
		return 0, nil, fmt.Errorf("frame %q of %d bytes is above its limit of %d: %w", kind, size, limit, ErrFrame)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, size); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, fmt.Errorf("read frame %q of %d bytes: %w", kind, size, err)
	}
	return kind, b.Bytes(), nil
}

func sizeLimit(kind byte) int {
	switch kind {
	case typePicture:
		return MaxPicture
	case typePage:
		return maxPage
	case typeHello, typeOpen, typeDocument, typeRequest, typeError, typeCutOrder, typeCut:
		return maxMessage
	}
	return 0
}
