package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
)

// endless is a server that never stops; it repeats a piece.
type endless struct {
	piece string
	at    int
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], e.piece[e.at:])
		n, e.at = n+c, (e.at+c)%len(e.piece)
	}
	e.read += n
	return n, nil
}

// A server that never stops ends the answer, whether it sends no line end, one event without end, or events without end:
// nothing larger than a line is held, and no more than a stream is read.
func TestStream_withoutEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		piece string
		most  int // bytes read
	}{
		"one line":        {"xxxxxxxxxxxxxxx", maxLine + 1<<20},
		"one event":       {"data: 0123456789012345678901234567890123456789\n", maxLine * 3 / 2},
		"names of events": {"event: 012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\n", maxStream + 1<<20},
		"events":          {"data: 012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\n\n", maxStream + 1<<20},
		"long events":     {"data: " + strings.Repeat("x", 8<<10) + "\n\n", maxSaid + 1<<20},
	} {
		source := &endless{piece: tt.piece}
		var last error
		held := 0
		for event, err := range ServerEvents(source) {
			held, last = max(held, len(event.Data)), err
		}
		if !errors.Is(last, ErrTooLong) || source.read > tt.most || held > maxLine {
			t.Errorf("%s: ended with %v after %d bytes, %d held at once", name, last, source.read, held)
		}
	}
	var last error
	for _, err := range Lines(&endless{piece: "{                                                                                                  }\n"}) {
		last = err
	}
	if !errors.Is(last, ErrTooLong) {
		t.Errorf("lines without end: %v", last)
	}
}

// An answer that is too long is not asked for again: it would be paid for again.
func TestBroken_tooLongIsNoNetworkFailure(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	failure, ok := llm.AsError((&Endpoint{provider: "lab"}).broken(&watch{parent: ctx, ctx: ctx}, fmt.Errorf("read: %w", ErrTooLong)))
	if !ok || failure.Retryable() || !errors.Is(failure, ErrTooLong) {
		t.Errorf("%v, retryable %v", failure, ok && failure.Retryable())
	}
}
