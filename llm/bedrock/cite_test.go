package bedrock_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// TestGenerate_tellsCitations by the vault's names and pages, when it is asked to.
func TestGenerate_tellsCitations(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	cut := album.AddDocument(t, "Books/long.pdf", 90)
	cut.PageRange = "40-44"
	id := llm.MediaID(cut)
	base := frames(
		t, "messageStart", `{"role":"assistant"}`,
		deltaOf, `{"contentBlockIndex":0,"delta":{"text":"So: "}}`,
		deltaOf, `{"contentBlockIndex":1,"delta":{"text":"größer"}}`,
		deltaOf, `{"contentBlockIndex":1,"delta":{"citation":{"title":"t","sourceContent":[{"text":"a "},{"text":"b"}],"location":{"documentPage":{"documentIndex":1,"start":3,"end":5}}}}}`,
		deltaOf, `{"contentBlockIndex":1,"delta":{"citation":{"title":"`+id+`","location":{"web":{}}}}}`,
		deltaOf, `{"contentBlockIndex":1,"delta":{"citation":{"title":"t","location":{"documentChar":{"documentIndex":0,"start":3,"end":5}}}}}`,
		deltaOf, `{"contentBlockIndex":1,"delta":{"citation":{"title":"t","location":{"documentPage":{"documentIndex":2,"start":1,"end":2}}}}}`,
		deltaOf, `{"contentBlockIndex":1,"delta":{"citation":{"title":"`+id+`","location":{"web":{"url":"https://a.example"}}}}}`,
		deltaOf, `{"contentBlockIndex":1,"delta":{"citation":{"title":"unknown"}}}`,
		"messageStop", `{"stopReason":"end_turn"}`,
		"metadata", `{"usage":{"inputTokens":10,"outputTokens":42,"totalTokens":52}}`,
	)
	r := ask(families["claude"], text("What?"), album.AddDocument(t, "short.pdf", 2), cut)
	r.Media, r.Citations = album, true
	got, err := provider(base).Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	end := len(got.Text)
	want := []llm.Citation{
		{Start: 4, End: end, Document: "Books/long.pdf", From: 42, To: 42, Text: "a b"},
		{Start: 4, End: end, Document: "Books/long.pdf"},
		{Start: 4, End: end, Document: "short.pdf"},
	}
	if diff := cmp.Diff(want, got.Citations); diff != "" || !strings.HasSuffix(got.Text, "größer") {
		t.Errorf("%q, citations (-want +got):\n%s", got.Text, diff)
	}
	r.Citations = false
	if got, err = provider(base).Generate(t.Context(), r, nil); err != nil || got.Citations != nil {
		t.Errorf("not asked for: %+v, %v", got, err)
	}
}
