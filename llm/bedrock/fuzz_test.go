package bedrock_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func FuzzProvider_stream(f *testing.F) {
	llmtest.FuzzStream(f, llmtest.Bedrock{}, "application/vnd.amazon.eventstream", of("claude"))
}

// FuzzProvider_events gives the adapter whatever events in frames that are right: checksums would keep nearly all others out.
func FuzzProvider_events(f *testing.F) {
	llmtest.FuzzStream(f, lined{}, "text/plain", func(c wire.Config) llm.Provider {
		c.Client = &http.Client{Transport: framing{c.Client.Transport}}
		return of("claude")(c)
	})
}

// lined is the service with a line for each frame: its type, a blank, its payload.
type lined struct{ llmtest.Bedrock }

func (l lined) Answer(w http.ResponseWriter, a llmtest.Answer) {
	recorded := httptest.NewRecorder()
	l.Bedrock.Answer(recorded, a)
	decoder := eventstream.NewDecoder()
	for recorded.Body.Len() > 0 {
		message, err := decoder.Decode(recorded.Body, nil)
		if err != nil {
			panic(err) // a fault of the test's server
		}
		fmt.Fprintf(w, "%s %s\n", message.Headers.Get(":event-type"), message.Payload)
	}
}

// framing puts the lines of answers back into frames.
type framing struct{ under http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (r framing) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := r.under.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	lines, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	framed := httptest.NewRecorder()
	for line := range bytes.Lines(lines) {
		name, payload, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		kind := "event"
		if strings.HasSuffix(name, "Exception") {
			kind = "exception"
		}
		llmtest.BedrockFrame(framed, kind, name, payload)
	}
	answer.Body = io.NopCloser(framed.Body)
	return answer, nil
}
