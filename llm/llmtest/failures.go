package llmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/rewrite"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// patient is a policy that writes down how long it would have slept.
func patient(slept *[]time.Duration) llm.RetryPolicy {
	return llm.RetryPolicy{
		Jitter: func() float64 { return 0 },
		Sleep: func(_ context.Context, d time.Duration) error {
			if slept != nil {
				*slept = append(*slept, d)
			}
			return nil
		},
	}
}

func rateLimit(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire,
		Reply{Status: 429, Header: map[string]string{"Retry-After": "7"}, Code: "rate_limit_error", Message: "too many tokens per minute"},
		one(Answer{Deltas: []string{"ok"}}))
	var slept []time.Duration
	response := generate(t, llm.Retry(s.provider(server), patient(&slept)), ask(), nil)
	if response.Text != "ok" || len(slept) != 1 || slept[0] != 7*time.Second {
		t.Errorf("got %q after %v, want one wait of 7s", response.Text, slept)
	}
}

func rateLimitDate(t *testing.T, s Subject) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	server := NewServer(t, s.Wire, Reply{Status: 429, Code: "rate_limit_error", Message: "slow down", Header: map[string]string{
		"Date": now.Format(http.TimeFormat), "Retry-After": now.Add(90 * time.Second).Format(http.TimeFormat),
	}})
	e := failure(t, s.provider(server), ask(), nil, llm.ClassRateLimit)
	if e.RetryAfter != 90*time.Second || !e.Retryable() || e.Status != 429 {
		t.Errorf("got %v, retryable %v, status %d", e.RetryAfter, e.Retryable(), e.Status)
	}
}

func serverError(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, Reply{Status: 500, Code: "api_error", Message: "oops"}, Reply{Status: 500, Message: "again"}, one(Answer{Deltas: []string{"ok"}}))
	var slept []time.Duration
	generate(t, llm.Retry(s.provider(server), patient(&slept)), ask(), nil)
	if n := len(server.Requests()); n != 3 || len(slept) != 2 || slept[1] <= slept[0] {
		t.Errorf("%d requests, waits %v, want 3 with growing waits", n, slept)
	}
}

func authentication(t *testing.T, s Subject) {
	media := strings.Repeat("iVBORw0KGgoAAAANSUhEUg", 40)
	server := NewServer(t, s.Wire, Reply{Status: 401, Code: "authentication_error", Message: "bad key " + Key + " in Bearer " + Key + " for data:image/png;base64," + media})
	e := failure(t, llm.Retry(s.provider(server), patient(nil)), ask(), nil, llm.ClassAuth)
	for _, secret := range []string{Key, "0123456789", media[:100], "hello"} {
		if strings.Contains(e.Error(), secret) {
			t.Errorf("the error shows %q: %v", secret, e)
		}
	}
	if n := len(server.Requests()); n != 1 || e.Hint() == "" {
		t.Errorf("%d requests, hint %q; want one and a hint", n, e.Hint())
	}
}

func overflow(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, Reply{Status: 400, Code: "invalid_request_error", Message: "prompt is too long: 213462 tokens > 200000 maximum"})
	e := failure(t, s.provider(server), ask(), nil, llm.ClassContextTokens)
	if e.Actual != 213462 || e.Limit != 200000 {
		t.Errorf("got %d of %d", e.Actual, e.Limit)
	}
}

// rewritten: a service with limits of its own gets a second request that keeps them, for pictures in prompts and in results.
func rewritten(t *testing.T, s Subject) {
	for name, limits := range map[string]Limits{"sides": {Side: 60}, "number": {Images: 2}, "kinds": {Without: []string{"image"}}} {
		server := NewLimited(t, s.Wire, limits, one(Answer{Text: "ok"}))
		picture := func(n int) content.Image {
			return content.Image{Name: fmt.Sprintf("p%d.png", n), MediaType: "image/png", Width: 90, Height: 40, SHA256: fmt.Sprintf("%064x", n)}
		}
		request := ask(text("see"), picture(1), text("and"), picture(2))
		request.Media = Studio{}
		request.Tools = []llm.Tool{{Name: "look", Description: "looks", Parameters: []byte(`{"type":"object","properties":{}}`)}}
		request.Messages = append(
			request.Messages, llm.Message{Role: llm.Assistant, Blocks: []content.Block{content.ToolCall{ID: "call_1_0", Name: "look", Input: []byte("{}")}}},
			llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "call_1_0", Success: true, Output: "there:", Blocks: []content.Block{picture(3)}}}},
		)
		p := rewrite.Overflow(llm.Retry(llm.NewGate(llm.Limits{Calls: 1}).Wrap(s.provider(server)), patient(nil)), rewrite.OverflowPolicy{})
		response, err := p.Generate(t.Context(), request, func(string) {})
		sent := server.Requests()
		if err != nil || response.Text != "ok" || len(sent) != 2 || bytes.Equal(sent[0].Body, sent[1].Body) {
			t.Errorf("%s: %d requests, %v", name, len(sent), err)
		}
	}
}

func notRewritten(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, Reply{Status: 429, Code: "rate_limit_error", Message: "too many tokens per minute"})
	forbid := rewrite.OverflowPolicy{Rewriting: func(llm.Request, rewrite.Change, cost.Usage) error { return errors.New("it was rewritten") }}
	e := failure(t, rewrite.Overflow(llm.Retry(s.provider(server), llm.RetryPolicy{Attempts: 1}), forbid), ask(), nil, llm.ClassRateLimit)
	if n := len(server.Requests()); n != 1 || e.Tried != "" {
		t.Errorf("%d requests, tried %q", n, e.Tried)
	}
}

func broken(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"half"}, Broken: true}))
	e := failure(t, llm.Retry(s.provider(server), patient(nil)), ask(), func(string) {}, llm.ClassNetwork)
	if n := len(server.Requests()); n != 1 || !e.Partial || !e.Retryable() || e.Unsent {
		t.Errorf("%d requests, partial %v, retryable %v, unsent %v; want one, true, true, false", n, e.Partial, e.Retryable(), e.Unsent)
	}
}

func brokenUnseen(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"half"}, Broken: true}), one(Answer{Deltas: []string{"whole"}}))
	response := generate(t, llm.Retry(s.provider(server), patient(nil)), ask(), nil)
	if response.Text != "whole" {
		t.Errorf("got %q, want the second answer alone", response.Text)
	}
}

func cancelled(t *testing.T, s Subject) {
	release := make(chan struct{})
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"one", "two"}, Between: func() { <-release }}))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := llm.Retry(s.provider(server), patient(nil)).Generate(ctx, ask(), func(string) { cancel() })
	close(release)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests, want one", n)
	}
}

func silence(t *testing.T, s Subject) {
	release := make(chan struct{})
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"one"}, Between: func() { <-release }}))
	defer close(release)
	p := s.New(wire.Config{BaseURL: server.URL + s.Path, APIKey: Key, IdleTimeout: 50 * time.Millisecond})
	e := failure(t, p, ask(), nil, llm.ClassNetwork)
	if !strings.Contains(e.Message, "50ms") {
		t.Errorf("message %q does not say how long", e.Message)
	}
}

func unreachable(t *testing.T, s Subject) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	p := s.New(wire.Config{Name: "lab", BaseURL: "http://user:hunter22@" + address + s.Path + "?key=" + Key, APIKey: Key})
	e := failure(t, p, ask(), nil, llm.ClassNetwork)
	if strings.Contains(e.Error(), "hunter22") || strings.Contains(e.Error(), Key) || e.Provider != "lab" || e.Hint() == "" || !e.Unsent {
		t.Errorf("got %v, hint %q, unsent %v", e, e.Hint(), e.Unsent)
	}
}

func redirected(t *testing.T, s Subject) {
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer thief.Close()
	honest := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer honest.Close()
	failure(t, s.New(wire.Config{BaseURL: honest.URL + s.Path, APIKey: Key}), ask(), nil, llm.ClassNotFound)
}
