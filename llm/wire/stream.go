package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Bounds of an answer, in bytes. A provider's stream is untrusted input: each line, the data of one event and the whole
// text are held in memory. With these bounds an endless answer costs less than 64 MB. The longest answers today
// have 128,000 tokens; at a few hundred bytes an event that is half of maxStream, and less than 1 MB of text.
const (
	maxLine   = 8 << 20
	maxStream = 64 << 20
	maxSaid   = 8 << 20
	framing   = 256 // of an event: what a service writes around a piece of text
	maxEvents = 1 << 18
)

// StreamLimit bounds a streamed answer. The zero value is ready; it belongs to one stream.
type StreamLimit struct{ read, said, events int }

// Take counts a line or an event. It returns an error if the answer is too long.
func (m *StreamLimit) Take(n int) error {
	m.read += n
	m.said += max(n-framing, 0)
	m.events++
	if m.read > maxStream || m.said > maxSaid || m.events > maxEvents {
		return ErrTooLong
	}
	return nil
}

// ErrTooLong ends an answer that exceeds the bounds.
var ErrTooLong = errors.New("the answer is too long")

// Lines yields the non-empty lines of a stream (JSON lines). A line is valid until the next one. The last pair holds the
// error, if reading ended with one; exceeding the bounds is an error.
func Lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line, err := range rawLines(r) {
			if err == nil && len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

func rawLines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		limited := &io.LimitedReader{R: r, N: maxStream}
		scanner := bufio.NewScanner(limited)
		scanner.Buffer(make([]byte, 0, 64<<10), maxLine)
		var limit StreamLimit
		for scanner.Scan() {
			if len(scanner.Bytes()) > 0 { // blank lines end events; the limit of the reader is theirs
				if err := limit.Take(len(scanner.Bytes())); err != nil {
					yield(nil, err)
					return
				}
			}
			if !yield(scanner.Bytes(), nil) {
				return
			}
		}
		switch err := scanner.Err(); {
		case errors.Is(err, bufio.ErrTooLong), err == nil && limited.N <= 0:
			yield(nil, ErrTooLong)
		case err != nil:
			yield(nil, fmt.Errorf("read the answer: %w", err))
		}
	}
}

// ServerEvent is one server-sent event.
type ServerEvent struct {
	Name string // "" when the stream does not name it
	Data []byte // valid until the next event
}

// ServerEvents yields the events of a text/event-stream, within the bounds of Lines. Comments are skipped; an event that
// the stream does not end with a blank line is still yielded, since some servers leave it out.
func ServerEvents(r io.Reader) iter.Seq2[ServerEvent, error] {
	return func(yield func(ServerEvent, error) bool) {
		var event ServerEvent
		seen := false
		for line, err := range rawLines(r) {
			switch {
			case err != nil:
				yield(ServerEvent{}, err)
				return
			case len(line) == 0:
				if seen && !yield(event, nil) {
					return
				}
				event, seen = ServerEvent{}, false
			case len(event.Data)+len(line) > maxLine: // an endless event would fill the memory
				yield(ServerEvent{}, ErrTooLong)
				return
			default:
				seen = event.take(line) || seen
			}
		}
		if seen {
			yield(event, nil)
		}
	}
}

// take adds a line to the event and reports whether it carried data.
func (e *ServerEvent) take(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.Name = string(value)
	case "data":
		if e.Data != nil {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
		if e.Data == nil {
			e.Data = []byte{}
		}
		return true
	}
	return false
}
