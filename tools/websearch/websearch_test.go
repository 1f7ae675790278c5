package websearch

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// strict is a server that answers what the services document, and only what they take: path, method, headers and parameters
// must be those of their reference, with nothing besides.
func strict(t *testing.T, provider string) *httptest.Server {
	t.Helper()
	answers := map[string]string{
		"searxng": `{"query":"go release","number_of_results":0,"results":[{"url":"https://go.dev/doc/","title":"Documentation ","content":"The Go language","engine":"bing","parsed_url":["https","go.dev","/doc/","","",""],"template":"default.html","engines":["bing"],"positions":[1],"score":1.0,"category":"general"},
			{"url":"ftp://go.dev/","title":"No page","content":""},{"url":"https://go.dev/blog/","title":"Blog","content":null}],"answers":[],"corrections":[],"infoboxes":[],"suggestions":["x"],"unresponsive_engines":[]}`,
		"brave": `{"type":"search","query":{"original":"go release","more_results_available":true},"web":{"type":"search","family_friendly":true,"results":[
			{"type":"search_result","subtype":"generic","title":"Documentation","url":"https://go.dev/doc/","description":"The Go language","language":"en","meta_url":{"scheme":"https"},"page_age":"2026-02-01T00:00:00"},
			{"type":"search_result","title":"No page","url":"javascript:alert(1)","description":""},{"type":"search_result","title":"Blog","url":"https://go.dev/blog/","description":""}]}}`,
		"tavily": `{"query":"go release","answer":null,"images":[],"results":[{"title":"Documentation","url":"https://go.dev/doc/","content":"The Go language","score":0.99,"raw_content":null,"favicon":"https://go.dev/f.ico"},
			{"title":"No page","url":"","content":""},{"title":"Blog","url":"https://go.dev/blog/","content":""}],"response_time":1.67,"request_id":"r1"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if problem := violation(provider, r); problem != "" {
			t.Errorf("%s: %s", provider, problem)
			http.Error(w, problem, http.StatusUnprocessableEntity)
			return
		}
		_, _ = io.WriteString(w, answers[provider])
	}))
	t.Cleanup(server.Close)
	return server
}

// violation says what in a request the real service would not take, or would not have been meant.
func violation(provider string, r *http.Request) string {
	if r.Header.Get("Accept") != "application/json" {
		return "Accept " + r.Header.Get("Accept")
	}
	body, _ := io.ReadAll(r.Body) // an empty body is found below
	switch provider {
	case "searxng":
		if r.Method != http.MethodGet || r.URL.Path != "/search" || r.URL.RawQuery != "format=json&q=go+release" {
			return r.Method + " " + r.URL.String()
		}
		return r.Header.Get("Authorization") + r.Header.Get("X-Subscription-Token")
	case "brave":
		if r.Method != http.MethodGet || r.URL.Path != "/res/v1/web/search" || r.Header.Get("X-Subscription-Token") != "s3cr3t" || r.Header.Get("Authorization") != "" ||
			r.URL.RawQuery != "count=2&q=go+release&result_filter=web&text_decorations=false" {
			return r.Method + " " + r.URL.String()
		}
		return ""
	}
	var in struct {
		Query  string `json:"query"`
		Most   int    `json:"max_results"`
		Depth  string `json:"search_depth"`
		APIKey string `json:"api_key"`
	}
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil || r.Method != http.MethodPost || r.URL.String() != "/search" || r.Header.Get("Authorization") != "Bearer s3cr3t" ||
		r.Header.Get("Content-Type") != "application/json" || in.Query != "go release" || in.Most != 2 || in.Depth != "basic" || in.APIKey != "" {
		return r.Method + " " + r.URL.String() + " " + string(body)
	}
	return ""
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"searxng", "brave", "tavily"} {
		key := "s3cr3t"
		if provider == "searxng" {
			key = ""
		}
		s, err := New(Config{Provider: provider, BaseURL: strict(t, provider).URL + "/", Key: key, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Search(t.Context(), "go release", 2)
		want := []Found{{"Documentation", "https://go.dev/doc/", "The Go language"}, {"Blog", "https://go.dev/blog/", ""}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", provider, err, diff)
		}
	}
	if _, err := New(Config{Provider: "other"}); err == nil {
		t.Error("an unknown provider is taken")
	}
}

func TestSearch_saysWhyThereIsNothing(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	t.Cleanup(func() { close(block) })
	for name, tt := range map[string]struct {
		provider, want string
		handler        http.HandlerFunc
	}{
		"key":      {"brave", "answered 401 Unauthorized: the key", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "s3cr3t", http.StatusUnauthorized) }},
		"format":   {"searxng", "search.formats", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusForbidden) }},
		"plan":     {"tavily", "too many searches", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusTooManyRequests) }},
		"redirect": {"tavily", "web_search.base_url", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusMovedPermanently) }},
		"page":     {"searxng", "not the JSON", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>s3cr3t") }},
		"other":    {"brave", "not the JSON", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"type":"ErrorResponse"}`) }},
		"much":     {"tavily", "more than 4 MB", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxAnswer+1)) }},
		"slow": {"brave", "did not answer within", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-block:
			case <-r.Context().Done():
			}
		}},
		"gone": {"brave", "cannot be reached", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.handler)
			t.Cleanup(server.Close)
			c := Config{Provider: tt.provider, BaseURL: server.URL, Key: "s3cr3t", Timeout: time.Minute}
			if name == "slow" {
				c.Timeout = 30 * time.Millisecond
			}
			if tt.handler == nil {
				server.Close()
			}
			s, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Search(t.Context(), "geheim", 3)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "geheim") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
