package bedrock

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/vaultflow/vaultflow/llm/wire"
)

// endless is a stream that never stops saying the same.
type endless struct{ said, rest []byte }

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		e.rest = e.said
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func TestFrames_anAnswerWithoutEnd(t *testing.T) {
	t.Parallel()
	var one bytes.Buffer
	message := eventstream.Message{Payload: bytes.Repeat([]byte(" "), 4<<20)}
	message.Headers.Set(":message-type", eventstream.StringValue("event"))
	if err := eventstream.NewEncoder().Encode(&one, message); err != nil {
		t.Fatal(err)
	}
	whole, last := 0, error(nil)
	for _, err := range frames(&endless{said: one.Bytes()}) {
		if last = err; err == nil {
			whole++
		}
	}
	if !errors.Is(last, wire.ErrTooLong) || whole != 2 { // of 4 MiB each
		t.Errorf("%d frames, %v; want 2 and an end", whole, last)
	}
}

func TestFrames_endWithTheirStream(t *testing.T) {
	t.Parallel()
	var one bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&one, eventstream.Message{Payload: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	for cut, want := range map[int]error{0: nil, one.Len(): nil, 4: io.ErrUnexpectedEOF, 12: io.ErrUnexpectedEOF, one.Len() - 1: io.ErrUnexpectedEOF} {
		var last error
		for _, err := range frames(bytes.NewReader(one.Bytes()[:cut])) {
			last = err
		}
		if !errors.Is(last, want) {
			t.Errorf("cut at %d: got %v, want %v", cut, last, want)
		}
	}
}
