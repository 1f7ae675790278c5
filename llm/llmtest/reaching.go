package llmtest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// headers has further headers sent with a request, and kept out of errors.
func headers(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Text: "ok"}), Reply{Status: 400, Message: "who is team-7-token?"})
	p := s.New(wire.Config{BaseURL: server.URL + s.Path, APIKey: Key, Headers: map[string]string{"X-Team": "team-7-token"}})
	generate(t, p, ask(), nil)
	if got := server.Requests()[0].Header.Get("X-Team"); got != "team-7-token" {
		t.Errorf("X-Team is %q", got)
	}
	if _, err := p.Generate(t.Context(), ask(), nil); err == nil || strings.Contains(err.Error(), "team-7-token") {
		t.Errorf("got %v, want a failure that does not repeat the header", err)
	}
}

// proxied reaches the service through a proxy alone: the address itself is nobody's.
func proxied(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Text: "ok"}))
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var through atomic.Int64
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		through.Add(1)
		r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
	}, Transport: &http.Transport{DisableKeepAlives: true}}
	proxy := httptest.NewServer(forward)
	t.Cleanup(proxy.Close)
	client, err := wire.NewClient(proxy.URL, 0)
	if err != nil {
		t.Fatal(err)
	}
	generate(t, s.New(wire.Config{BaseURL: "http://nowhere.invalid" + s.Path, APIKey: Key, Client: client}), ask(), nil)
	if through.Load() != 1 {
		t.Errorf("%d requests went through the proxy, want one", through.Load())
	}
	client.CloseIdleConnections()
}

// tooLong ends a call that goes on and on, although something is heard all the while.
func tooLong(t *testing.T, s Subject) {
	release := make(chan struct{})
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"one", "two"}, Between: func() { <-release }}))
	defer close(release)
	p := s.New(wire.Config{BaseURL: server.URL + s.Path, APIKey: Key, Timeout: 60 * time.Millisecond, IdleTimeout: -1})
	e := failure(t, p, ask(), nil, llm.ClassNetwork)
	if !strings.Contains(e.Message, "60ms") {
		t.Errorf("message %q does not say how long", e.Message)
	}
}
