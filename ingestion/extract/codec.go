// Package extract is the protocol between the daemon and its document worker: requests, answers, and their frames on a
// pipe.
//
// The package owns no state. It never opens a document and never starts a process. A frame from a worker is untrusted:
// [Decode] limits its size and checks its values before anything uses it, because the worker reads files that may have
// taken it over.
package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Encode writes one message: a Hello, Open, Document, PageRequest, Page, CutRequest, Cut or *Error. The picture of a page
// and the bytes of a cut follow their frame in one of their own.
func Encode(w io.Writer, message any) error {
	var kind byte
	var picture []byte // what follows the frame
	switch m := message.(type) {
	case Hello:
		kind = typeHello
	case Open:
		kind = typeOpen
	case Document:
		kind = typeDocument
	case PageRequest:
		kind = typeRequest
	case *Error:
		kind = typeError
	case CutRequest:
		kind = typeCutOrder
	case Cut:
		kind, picture = typeCut, m.Bytes
		m.Size = len(m.Bytes)
		message = m
	case Page:
		kind = typePage
		if m.Image != nil {
			announced := *m.Image
			announced.Size = len(announced.Bytes)
			m.Image, picture = &announced, announced.Bytes
			message = m
		}
	default:
		return fmt.Errorf("encode %T: no such message", message)
	}
	payload, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode %T: %w", message, err)
	}
	if err := writeFrame(w, kind, payload); err != nil {
		return err
	}
	if picture != nil {
		return writeFrame(w, typePicture, picture)
	}
	return nil
}

// Decode reads one message and checks it. The result is one of the types that [Encode] takes. The error is io.EOF when
// the stream ended between messages, and matches [ErrFrame] when the other side does not keep to the protocol; nothing
// more can be read from the stream then.
func Decode(r io.Reader) (any, error) {
	kind, payload, err := readFrame(r)
	if err != nil {
		return nil, err
	}
	switch kind {
	case typeHello:
		return decode(payload, Hello.check)
	case typeOpen:
		return decode(payload, Open.check)
	case typeDocument:
		return decode(payload, Document.check)
	case typeRequest:
		return decode(payload, PageRequest.check)
	case typeError:
		e, err := decode(payload, Error.check)
		if err != nil {
			return nil, err
		}
		failure := e.(Error)
		return &failure, nil
	case typePage:
		return decodePage(r, payload)
	case typeCutOrder:
		return decode(payload, CutRequest.check)
	case typeCut:
		return decodeCut(r, payload)
	}
	return nil, fmt.Errorf("frame %q at the wrong place: %w", kind, ErrFrame)
}

func decode[T any](payload []byte, check func(T) error) (any, error) {
	var m T
	if err := json.Unmarshal(payload, &m); err != nil {
		return nil, fmt.Errorf("decode %T: %w: %w", m, ErrFrame, err)
	}
	if err := check(m); err != nil {
		return nil, fmt.Errorf("decode %T: %w: %w", m, ErrFrame, err)
	}
	return m, nil
}

func decodePage(r io.Reader, payload []byte) (any, error) {
	m, err := decode(payload, Page.check)
	if err != nil {
		return nil, err
	}
	page := m.(Page)
	if page.Image == nil {
		return page, nil
	}
	if page.Image.Bytes, err = readBytes(r, fmt.Sprintf("picture of page %d", page.N)); err != nil {
		return nil, err
	}
	if err := page.Image.checkBytes(); err != nil {
		return nil, fmt.Errorf("picture of page %d: %w: %w", page.N, ErrFrame, err)
	}
	return page, nil
}

func decodeCut(r io.Reader, payload []byte) (any, error) {
	m, err := decode(payload, Cut.check)
	if err != nil {
		return nil, err
	}
	cut := m.(Cut)
	if cut.Bytes, err = readBytes(r, "cut document"); err != nil {
		return nil, err
	}
	if err := cut.checkBytes(); err != nil {
		return nil, fmt.Errorf("cut document: %w: %w", ErrFrame, err)
	}
	return cut, nil
}

// readBytes reads the frame of bytes that follows another.
func readBytes(r io.Reader, what string) ([]byte, error) {
	kind, data, err := readFrame(r)
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: %w", what, io.ErrUnexpectedEOF)
	case err != nil:
		return nil, err
	case kind != typePicture:
		return nil, fmt.Errorf("%s: frame %q came in its place: %w", what, kind, ErrFrame)
	}
	return data, nil
}
