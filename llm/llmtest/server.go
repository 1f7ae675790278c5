package llmtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
)

// Key is what clients of a Server must present, and what no error may show.
const Key = "sk-test-0123456789-secret"

// Wire is a service's side of one wire format.
type Wire interface {
	// Path is where questions are posted.
	Path() string
	// Read refuses a request that the service would refuse, and returns the parts of all user turns in order.
	Read(header http.Header, body []byte) ([]Part, error)
	// Answer writes a streamed answer.
	Answer(w http.ResponseWriter, a Answer)
	// Fail writes a failure, status included.
	Fail(w http.ResponseWriter, status int, code, message string)
}

// Part is one piece of what the user sent.
type Part struct {
	Text      string // of a text
	MediaType string // of a picture, sniffed from its bytes
	Data      []byte // of a picture
}

// Kind is "text" or "image".
func (p Part) Kind() string {
	if p.Data != nil {
		return "image"
	}
	return "text"
}

// Answer is what the model says. The zero value is an empty answer that ended by itself.
type Answer struct {
	Thinking              string
	Deltas                []string
	Refusal               string
	Stop                  llm.Stop // "" is llm.StopEnd
	Input, Output, Cached int      // tokens; Cached is part of Input
	Between               func()   // runs after each delta was flushed
	Broken                bool     // end the stream before its end
}

// Reply is what the server does with one request: fail when Status is set, else answer.
type Reply struct {
	Status  int
	Header  map[string]string
	Code    string
	Message string
	Answer  Answer
}

// Captured is a request that was accepted.
type Captured struct {
	Header http.Header
	Body   []byte
	Parts  []Part
}

// Server is a local service. Its replies are given in turn, the last one again and again.
type Server struct {
	URL  string
	wire Wire

	mu       sync.Mutex // guards requests
	requests []Captured
	replies  []Reply
}

// NewServer starts a server that ends with the test. A request that the service would refuse fails the test.
func NewServer(t testing.TB, wire Wire, replies ...Reply) *Server {
	t.Helper()
	s := &Server{wire: wire, replies: replies}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.serve(w, r); err != nil {
			t.Errorf("%s: the service would refuse this: %v", wire.Path(), err)
			wire.Fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		}
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Requests returns what was asked so far.
func (s *Server) Requests() []Captured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// beside is implemented by wires whose service answers more than generation, such as questions about a model. Aside says
// whether it has answered; such requests are not captured.
type beside interface {
	Aside(w http.ResponseWriter, r *http.Request) bool
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) error {
	if b, ok := s.wire.(beside); ok && b.Aside(w, r) {
		return nil
	}
	if r.Method != http.MethodPost || r.URL.Path != s.wire.Path() {
		return fmt.Errorf("%s %s: no such method", r.Method, r.URL.Path)
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return fmt.Errorf("content type %q", kind)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil // the client went away
	}
	parts, err := s.wire.Read(r.Header, body)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.requests = append(s.requests, Captured{r.Header, body, parts})
	reply := Reply{}
	if n := len(s.replies); n > 0 {
		reply = s.replies[min(len(s.requests), n)-1]
	}
	s.mu.Unlock()
	for key, value := range reply.Header {
		w.Header().Set(key, value)
	}
	if reply.Status != 0 {
		s.wire.Fail(w, reply.Status, reply.Code, reply.Message)
		return nil
	}
	s.wire.Answer(w, reply.Answer)
	return nil
}
