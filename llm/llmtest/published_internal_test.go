package llmtest

import (
	"strings"
	"testing"
)

func TestPublished_areSchemas(t *testing.T) {
	t.Parallel()
	for name, made := range compiled {
		if _, err := made(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Published("no such service", []byte("{}")); err == nil {
		t.Error("a schema that does not exist refuses nothing")
	}
}

// The message names the place and the form that was meant, not the first of many forms.
func TestPublished_saysWhere(t *testing.T) {
	t.Parallel()
	err := Published("openai_chat", []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u","size":1}}]}]}`))
	if err == nil || !strings.Contains(err.Error(), "/messages/0/content/0/image_url") || !strings.Contains(err.Error(), "'size'") {
		t.Errorf("got %v", err)
	}
}
