package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
)

// Key is what clients of a Server must present, and what no error may show.
const Key = "sk-test-0123456789-secret"

// AddressHeader tells a wire that has the model in the address, and rules for it, where a request was posted.
const AddressHeader = "X-Llmtest-Address"

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
	MediaType string // of a medium, sniffed from its bytes
	Data      []byte // likewise
	Result    string // the call that it answers, when it stands in a tool's result: its id, on Ollama the tool's name
}

// Kind is "text", "image", "audio", "video" or "document".
func (p Part) Kind() string {
	if p.Data == nil {
		return "text"
	}
	switch kind, _, _ := strings.Cut(p.MediaType, "/"); kind {
	case "image", "audio", "video":
		return kind
	}
	return "document"
}

// Answer is what the model says. The zero value is an empty answer that ended by itself; Answer{Text: "…"} is the plainest
// one, Answer{ToolCalls: …} asks for tools, Answer{Text: `{"half":`, Stop: llm.StopLength} is cut off.
type Answer struct {
	Thinking              string
	Redacted              bool      // a closed block of reasoning follows, where the wire has such
	Text                  string    // in one piece
	Deltas                []string  // further pieces of text
	Passages              []Passage // that the text rests on, where the wire has citations
	ToolCalls             []ToolCall
	Refusal               string
	Stop                  llm.Stop // "" is llm.StopEnd, with ToolCalls llm.StopToolUse
	Input, Output, Cached int      // tokens; Cached is part of Input
	Between               func()   // runs after each delta was flushed
	Broken                bool     // end the stream before its end
	turn                  int      // of the server, for the ids of calls
}

// Passage is a part of a document in the request, as a citation of it says.
type Passage struct {
	Document int // from 0
	Page     int // of what was sent, from 1
	Text     string
}

// pieces is the answer's text as it is streamed.
func (a Answer) pieces() []string {
	if a.Text == "" {
		return a.Deltas
	}
	return append([]string{a.Text}, a.Deltas...)
}

func (a Answer) stop() llm.Stop {
	if a.Stop == "" && len(a.ToolCalls) > 0 {
		return llm.StopToolUse
	}
	return a.Stop
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

// Tools names the tools that the request offers.
func (c Captured) Tools() []string {
	var body struct {
		Tools []struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			Tools []struct {
				Spec struct {
					Name string `json:"name"`
				} `json:"toolSpec"`
			} `json:"tools"`
		} `json:"toolConfig"`
	}
	_ = json.Unmarshal(c.Body, &body) // it was read before it was captured
	var names []string
	for _, t := range body.Config.Tools {
		if t.Spec.Name != "" { // no mark of a cache
			names = append(names, t.Spec.Name)
		}
	}
	for _, t := range body.Tools {
		if name := t.Name + t.Function.Name; name != "" {
			names = append(names, name)
		}
		for _, f := range t.Functions {
			names = append(names, f.Name)
		}
	}
	return names
}

// Schema is the JSON Schema that the service was asked to hold the answer to; nil when it was not.
func (c Captured) Schema() json.RawMessage {
	var body struct {
		Output struct {
			Format struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
		Response struct {
			JSON struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Text struct {
			Format struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"text"`
		Generation struct {
			Schema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
		Config struct {
			Format struct {
				Structure struct {
					JSON struct {
						Schema string `json:"schema"`
					} `json:"jsonSchema"`
				} `json:"structure"`
			} `json:"textFormat"`
		} `json:"outputConfig"`
		Format json.RawMessage `json:"format"`
	}
	_ = json.Unmarshal(c.Body, &body) // it was read before it was captured
	if told := body.Config.Format.Structure.JSON.Schema; told != "" {
		return json.RawMessage(told)
	}
	for _, schema := range []json.RawMessage{body.Output.Format.Schema, body.Response.JSON.Schema, body.Text.Format.Schema, body.Generation.Schema} {
		if schema != nil {
			return schema
		}
	}
	return body.Format
}

// Server is a local service. Its replies are given in turn, the last one again and again.
type Server struct {
	URL  string
	wire Wire

	mu       sync.Mutex // guards requests
	requests []Captured
	replies  []Reply
	limits   Limits               // of NewLimited
	compose  func(Captured) Reply // of NewComposing
	bound    map[string]string    // for each signature of reasoning: the conversation before it
}

// NewServer starts a server that ends with the test. A request that the service would refuse fails the test, and so does a picture
// that says more than its pixels.
func NewServer(t testing.TB, wire Wire, replies ...Reply) *Server {
	t.Helper()
	return NewLimited(t, wire, Limits{}, replies...)
}

// NewComposing is NewLimited for a model that makes its reply out of what it was shown. The function is called for several
// requests at a time; requests that a killed client broke off never reach it.
func NewComposing(t testing.TB, wire Wire, limits Limits, compose func(Captured) Reply) *Server {
	t.Helper()
	return start(t, &Server{wire: wire, limits: limits, compose: compose})
}

// NewLimited is NewServer for a service that refuses what is above its limits, as services do, in place of its reply. What it
// refuses so is captured too.
func NewLimited(t testing.TB, wire Wire, limits Limits, replies ...Reply) *Server {
	t.Helper()
	return start(t, &Server{wire: wire, replies: replies, limits: limits})
}

func start(t testing.TB, s *Server) *Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.serve(w, r); err != nil {
			t.Errorf("%s: the service would refuse this: %v", s.wire.Path(), err)
			s.wire.Fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
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

// serves says whether a request goes to where questions are posted. A wire that has the model in its address tells itself.
func serves(wire Wire, r *http.Request) bool {
	if many, ok := wire.(interface{ Serves(r *http.Request) bool }); ok {
		return many.Serves(r)
	}
	return r.URL.Path == wire.Path()
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) error {
	if b, ok := s.wire.(beside); ok && b.Aside(w, r) {
		return nil
	}
	if r.Method != http.MethodPost || !serves(s.wire, r) {
		return fmt.Errorf("%s %s: no such method", r.Method, r.URL.Path)
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return fmt.Errorf("content type %q", kind)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil // the client went away
	}
	head := r.Header.Clone()
	head.Set(AddressHeader, r.URL.Path)
	parts, err := s.wire.Read(head, body)
	if err == nil {
		err = bare(parts)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.requests = append(s.requests, Captured{r.Header, body, parts})
	reply := Reply{}
	if n := len(s.replies); n > 0 {
		reply = s.replies[min(len(s.requests), n)-1]
	}
	turn := len(s.requests)
	s.mu.Unlock()
	if refusal, refused := s.limits.refuse(Captured{r.Header, body, parts}); refused {
		reply = refusal
	} else if refusal, refused := s.binds(head, body, turn); refused {
		reply = refusal
	} else if s.compose != nil {
		reply = s.compose(Captured{r.Header, body, parts})
	}
	reply.Answer.turn = turn
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
