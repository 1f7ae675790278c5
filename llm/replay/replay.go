package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/vaultflow/vaultflow/llm"
)

// maxAnswer limits the recording of one answer.
const maxAnswer = 64 << 20

// Recorder passes requests on and records the exchanges, in the order in which they ended. It is safe for concurrent use.
type Recorder struct {
	next    http.RoundTripper
	secrets []llm.Secret

	mu   sync.Mutex // guards tape
	tape cassette
}

// NewRecorder returns a recorder that sends through next (nil: http.DefaultTransport). It removes secrets from bodies.
func NewRecorder(next http.RoundTripper, secrets ...llm.Secret) *Recorder {
	if next == nil {
		next = http.DefaultTransport
	}
	return &Recorder{next: next, secrets: secrets, tape: cassette{Version: version}}
}

// RoundTrip implements http.RoundTripper.
func (r *Recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	asked, body, err := describe(q, r.secrets)
	if err != nil {
		return nil, err
	}
	passed := q.Clone(q.Context())
	if body != nil {
		passed.Body, passed.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	answer, err := r.next.RoundTrip(passed)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("record an answer: %w", err)
	}
	said := response{Status: answer.StatusCode, Header: map[string]string{}, Body: withoutKeys(string(data), r.secrets)}
	for _, name := range kept {
		if value := answer.Header.Get(name); value != "" {
			said.Header[name] = value
		}
	}
	r.mu.Lock()
	r.tape.Exchanges = append(r.tape.Exchanges, exchange{asked, said})
	r.mu.Unlock()
	answer.Body = io.NopCloser(bytes.NewReader(data))
	return answer, nil
}

// Save writes the cassette.
func (r *Recorder) Save(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tape.save(path)
}

// Player answers from a cassette, in its order. A request that differs from the recorded one is an error: the adapter has
// changed what it sends, and the recording proves nothing any more. It is safe for concurrent use.
type Player struct {
	secrets []llm.Secret

	mu   sync.Mutex // guards both
	tape cassette
	next int
}

// NewPlayer opens a cassette. secrets are those that the requests will carry, as given to the recorder.
func NewPlayer(path string, secrets ...llm.Secret) (*Player, error) {
	tape, err := load(path)
	if err != nil {
		return nil, err
	}
	return &Player{secrets: secrets, tape: tape}, nil
}

// RoundTrip implements http.RoundTripper.
func (p *Player) RoundTrip(q *http.Request) (*http.Response, error) {
	asked, _, err := describe(q, p.secrets)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next >= len(p.tape.Exchanges) {
		return nil, fmt.Errorf("replay: no exchange left for %s %s", asked.Method, asked.Path)
	}
	e := p.tape.Exchanges[p.next]
	if e.Request.Method != asked.Method || e.Request.Path != asked.Path {
		return nil, fmt.Errorf("replay: exchange %d was %s %s, got %s %s", p.next+1, e.Request.Method, e.Request.Path, asked.Method, asked.Path)
	}
	if !bytes.Equal(e.Request.Body, asked.Body) {
		return nil, fmt.Errorf("replay: exchange %d has another body\nrecorded: %s\n     got: %s", p.next+1, e.Request.Body, asked.Body)
	}
	p.next++
	header := make(http.Header)
	for name, value := range e.Response.Header {
		header.Set(name, value)
	}
	return &http.Response{
		Status: http.StatusText(e.Response.Status), StatusCode: e.Response.Status, Header: header, Request: q,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(e.Response.Body)),
		Body: io.NopCloser(strings.NewReader(e.Response.Body)),
	}, nil
}

var errLeft = errors.New("replay: not every exchange was played")

// Done reports whether the whole cassette was played.
func (p *Player) Done() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.tape.Exchanges) - p.next; n > 0 {
		return fmt.Errorf("%w: %d left", errLeft, n)
	}
	return nil
}

// describe returns a request as a cassette records it, and its body. It closes the body, as RoundTrip must.
func describe(q *http.Request, secrets []llm.Secret) (request, []byte, error) {
	asked := request{Method: q.Method, Path: q.URL.Path}
	if q.Body == nil {
		return asked, nil, nil
	}
	defer q.Body.Close()
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return request{}, nil, fmt.Errorf("read a request: %w", err)
	}
	asked.Body, err = scrubBody(body, secrets)
	return asked, body, err
}
