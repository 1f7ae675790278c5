package bedrock

import (
	"bufio"
	"errors"
	"io"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/vaultflow/vaultflow/llm/wire"
)

const frameType = "application/vnd.amazon.eventstream"

// frame is one message of an event stream.
type frame struct {
	kind    string // messageStart, contentBlockDelta, … or throttlingException, …
	failed  bool   // the answer ends here, with this failure
	payload []byte // JSON, valid until the next frame
	words   string // of a failure that has no payload
}

// frames yields the messages of an event stream. The last pair holds the error, if reading ended with one.
func frames(r io.Reader) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		stream := bufio.NewReader(r)
		var limit wire.StreamLimit
		decoder := eventstream.NewDecoder()
		var buf []byte
		for {
			if _, err := stream.Peek(1); errors.Is(err, io.EOF) {
				return
			}
			message, err := decoder.Decode(stream, buf)
			if err == nil {
				err = limit.Take(len(message.Payload))
			}
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				yield(frame{}, err)
				return
			}
			buf = message.Payload
			if !yield(frameOf(message), nil) {
				return
			}
		}
	}
}

// frameOf reads the headers that the protocol knows. A message is an event, an exception of the service model, or an error
// outside it.
func frameOf(message eventstream.Message) frame {
	said := func(name string) string {
		value := message.Headers.Get(name)
		if value == nil {
			return ""
		}
		text, _ := value.Get().(string) // other types are not used
		return text
	}
	switch said(":message-type") {
	case "event":
		return frame{kind: said(":event-type"), payload: message.Payload}
	case "exception":
		return frame{kind: said(":exception-type"), failed: true, payload: message.Payload}
	}
	return frame{kind: said(":error-code"), failed: true, payload: message.Payload, words: said(":error-message")}
}
