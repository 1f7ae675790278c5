package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// citing is a request with three documents, one of which cannot be had and one of which is cut.
func citing(t *testing.T) llm.Request {
	t.Helper()
	album := &llmtest.Album{}
	cut := album.AddDocument(t, "Books/long.pdf", 90)
	cut.PageRange = "40-44"
	r := llm.Request{Model: "claude-test", Citations: true, Media: album, Tools: []llm.Tool{{Name: "look"}}}
	r.Messages = []llm.Message{{Role: llm.User, Blocks: []content.Block{
		content.Text{Value: "What do they say?"}, content.Document{Name: "gone.pdf", Pages: 1}, album.AddDocument(t, "short.pdf", 2), cut,
	}}}
	return r
}

// cited is an answer with citations as the service streams them, members of answers alone included.
var cited = events(
	`{"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"output_tokens":1}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"They say: "}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":[]}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"page_location","cited_text":"Grass is green.","document_index":1,"document_title":null,"start_page_number":3,"end_page_number":5,"file_id":null}}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"grün "}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ist es"}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"es","document_index":0,"document_title":null,"start_char_index":3,"end_char_index":5,"file_id":"file_1"}}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"content_block_location","cited_text":"b","document_index":0,"document_title":"t","start_block_index":0,"end_block_index":1,"file_id":null}}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"page_location","cited_text":"x","document_index":7,"document_title":null,"start_page_number":1,"end_page_number":2,"file_id":null}}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"x","url":"https://a.example","title":"t","encrypted_index":"e"}}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"page_location","cited_text":"y","document_index":0,"document_title":"TITLE","start_page_number":1,"end_page_number":2,"file_id":null}}}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}`,
	`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":42}}`,
	`{"type":"message_stop"}`,
)

// TestGenerate_citations: what the answer rests on is told by the vault's names and pages, and goes back in a form that the
// published schema takes.
func TestGenerate_citations(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{"its own service": "", "vertex": "vertex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			format := llmtest.Anthropic{Vertex: kind != ""}
			r := citing(t)
			title := llm.MediaID(r.Messages[0].Blocks[3])
			fixed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				_, _ = io.Copy(io.Discard, q.Body) // a short body fails the test by the citations that it lacks
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, strings.ReplaceAll(cited, "TITLE", title))
			}))
			t.Cleanup(fixed.Close)
			provider := func(address string) llm.Provider {
				if kind != "" {
					address += strings.TrimSuffix(llmtest.VertexPath, "/") + "/anthropic"
				}
				return anthropic.New(wire.Config{Kind: kind, BaseURL: address, APIKey: llmtest.Key})
			}
			got, err := provider(fixed.URL).Generate(t.Context(), r, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := []llm.Citation{
				{Start: 10, End: 22, Document: "Books/long.pdf", From: 42, To: 43, Text: "Grass is green."},
				{Start: 10, End: 22, Document: "short.pdf", Text: "es"},
				{Start: 10, End: 22, Document: "short.pdf", Text: "b"},
				{Start: 10, End: 22, Document: "Books/long.pdf", From: 40, To: 40, Text: "y"}, // the title goes before the number
			}
			if diff := cmp.Diff(want, got.Citations); diff != "" {
				t.Errorf("citations (-want +got):\n%s", diff)
			}
			if got.Text[10:22] != "grün ist es" {
				t.Errorf("cited %q", got.Text[10:22])
			}
			r.Messages = append(
				r.Messages, llm.Message{Role: llm.Assistant, Blocks: got.Blocks, Raw: got.Raw},
				llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "t1", Success: true, Output: "x"}}},
			)
			server := llmtest.NewServer(t, format, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
			if _, err := provider(server.URL).Generate(t.Context(), r, nil); err != nil {
				t.Fatal(err)
			}
			body := string(server.Requests()[0].Body)
			if strings.Count(body, `"citations":{"enabled":true}`) != 2 || !strings.Contains(body, `"title":"`+title+`"`) || !strings.Contains(body, "Grass is green.") || strings.Contains(body, "file_id") {
				t.Errorf("the second request is %s", body)
			}
		})
	}
}

// TestGenerate_citationsExcludeASchema: a request with a schema asks for none, and reads none.
func TestGenerate_citationsExcludeASchema(t *testing.T) {
	t.Parallel()
	r := citing(t)
	r.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	p, body := serve(t, cited)
	got, err := p.Generate(t.Context(), r, nil)
	if err != nil || got.Citations != nil || strings.Contains(*body, "citations") {
		t.Errorf("%v, %+v, %s", err, got, *body)
	}
	r.Schema, r.Citations = nil, false
	if got, err = p.Generate(t.Context(), r, nil); err != nil || got.Citations != nil || strings.Contains(*body, "citations") {
		t.Errorf("not asked for: %v, %+v, %s", err, got, *body)
	}
}
