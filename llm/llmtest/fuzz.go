package llmtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// FuzzStream gives an adapter whatever streams: it must end with an answer or an error, never both; what it made of tool
// calls must be fit to be answered; and the turn must go back in a request that is JSON. Seeds are the answers of the
// wire's own server.
func FuzzStream(f *testing.F, spoken Wire, mediaType string, build func(wire.Config) llm.Provider) {
	f.Helper()
	for _, a := range []Answer{
		{Thinking: "hm", Deltas: []string{"an ", "answer"}, Input: 5, Output: 3},
		twoCalls(),
		{ToolCalls: []ToolCall{{Name: "list", Input: `{"a": [1,`}}, Stop: llm.StopLength},
		{Refusal: "no"},
		{Deltas: []string{"it is ", "so"}, Passages: []Passage{{0, 2, "So it is."}, {7, 0, ""}}},
		{Text: "half", Broken: true},
	} {
		w := httptest.NewRecorder()
		spoken.Answer(w, a)
		f.Add(w.Body.String())
	}
	f.Fuzz(func(t *testing.T, stream string) {
		bodies := []string{}
		p := build(wire.Config{BaseURL: "http://nowhere.invalid", APIKey: Key, Client: &http.Client{Transport: transport(func(q *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(q.Body)
			if err != nil {
				return nil, err
			}
			bodies = append(bodies, string(body))
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {mediaType}}, Body: io.NopCloser(strings.NewReader(stream)), Request: q,
			}, nil
		})}})
		album := &Album{}
		request := ask(text("hello"), album.AddDocument(t, "a.pdf", 3))
		request.Tools, request.Media, request.Citations = toolbox(), album, true
		said := ""
		response, err := p.Generate(t.Context(), request, func(piece string) { said += piece })
		if (response == nil) == (err == nil) {
			t.Fatalf("got %+v and %v, want one of them", response, err)
		}
		if err != nil {
			if e, ok := llm.AsError(err); !ok || e.Class == "" {
				t.Fatalf("got %v, want a failure with a class", err)
			}
			return
		}
		if response.Stop != llm.StopRefusal && response.Text != said {
			t.Fatalf("the answer is %q, told was %q", response.Text, said)
		}
		for _, c := range response.Citations {
			if c.Start < 0 || c.Start >= c.End || c.End > len(response.Text) || c.From < 0 || c.To < c.From || c.To > 3 || c.Document != "a.pdf" {
				t.Fatalf("%+v is a citation of %q", c, response.Text)
			}
		}
		goesBack(t, p, request, response, &bodies)
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(q *http.Request) (*http.Response, error) { return t(q) }

// goesBack answers the calls of a turn and sends it again.
func goesBack(t *testing.T, p llm.Provider, request llm.Request, response *llm.Response, bodies *[]string) {
	t.Helper()
	var results []content.Block
	for _, b := range response.Blocks {
		call, ok := b.(content.ToolCall)
		if !ok {
			continue
		}
		if call.ID == "" || !json.Valid(call.Input) {
			t.Fatalf("the call cannot be answered: %+v", call)
		}
		results = append(results, content.ToolResult{CallID: call.ID, Success: true, Output: "x"})
	}
	request.Messages = append(request.Messages, llm.Message{Role: llm.Assistant, Blocks: response.Blocks, Raw: response.Raw})
	request = answered(request, append(results, text("go on"))...)
	_, err := p.Generate(t.Context(), request, nil)
	var failure *llm.Error
	if errors.As(err, &failure) && failure.Class == llm.ClassPairing {
		t.Fatalf("the results do not fit the calls: %v", err)
	}
	if len(*bodies) != 2 || !json.Valid([]byte((*bodies)[1])) {
		t.Fatalf("the second request is not JSON: %q, %v", *bodies, err)
	}
}
