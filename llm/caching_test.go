package llm_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/llm"
)

func TestRequest_cacheKey(t *testing.T) {
	t.Parallel()
	r := llm.Request{Model: "m", System: "s", Cache: true, Tools: []llm.Tool{{Name: "list"}}}
	more := r
	more.Messages = []llm.Message{{Role: llm.User}}
	if r.CacheKey() != more.CacheKey() || len(r.CacheKey()) != 32 {
		t.Errorf("keys %q and %q of one beginning", r.CacheKey(), more.CacheKey())
	}
	for name, other := range map[string]llm.Request{
		"model": {Model: "n", System: "s", Cache: true, Tools: r.Tools}, "system": {Model: "m", System: "t", Cache: true, Tools: r.Tools}, "tools": {Model: "m", System: "s", Cache: true},
	} {
		if other.CacheKey() == r.CacheKey() {
			t.Errorf("another %s has the same key", name)
		}
	}
	if r.Cache = false; r.CacheKey() != "" {
		t.Errorf("got %q where nothing is kept", r.CacheKey())
	}
}
