package llmtest

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
)

// caching has a conversation whose beginning is worth keeping: the service is asked to in its own way, in each turn alike;
// a request that says nothing of it asks for nothing.
func caching(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(twoCalls()), one(Answer{Text: "done", Input: 100, Cached: 60}))
	p := s.provider(server)
	request := ask()
	request.Tools, request.Cache = toolbox(), true
	request, calls := called(t, p, request)
	request = answered(request, content.ToolResult{CallID: calls[0].ID, Success: true, Output: "a"}, content.ToolResult{CallID: calls[1].ID, Success: true, Output: "b"})
	response := generate(t, p, request, nil)
	if !s.NoCache && response.Usage.CachedTokens != 60 {
		t.Errorf("%d tokens came from the cache, want 60", response.Usage.CachedTokens)
	}
	for i, sent := range server.Requests() {
		if body := string(sent.Body); s.CacheMark != "" && !strings.Contains(body, s.CacheMark) || strings.Count(body, `"cache_control":{`) > 4 {
			t.Errorf("request %d: want %s, at most four times: %s", i+1, s.CacheMark, body)
		}
	}
	request.Cache = false
	generate(t, p, request, nil)
	if body := string(server.Requests()[2].Body); strings.Contains(body, "cache") {
		t.Errorf("the service is asked to keep what nobody asks again: %s", body)
	}
}
