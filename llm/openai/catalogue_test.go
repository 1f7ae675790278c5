package openai_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func TestModels(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/v1/models":
			w.WriteHeader(404)
		case r.URL.Query().Get("offset") == "":
			fmt.Fprint(w, `{"data":[{"id":"lab/seer","context_length":128000,"architecture":{"input_modalities":["text","image","file"]},
				"supported_parameters":["tools","structured_outputs"],"pricing":{"prompt":"0.0000025","completion":"0.00001","input_cache_read":"0.00000125","image":"0.003"}}],
				"links":{"next":"https://elsewhere.example/v1/models?offset=1"}}`)
		default:
			fmt.Fprint(w, `{"data":[{"id":"lab/router","pricing":{"prompt":"-1","completion":"-1"}},{"id":"lab/free","context_length":-4,"pricing":{"prompt":"0","completion":"0"}}]}`)
		}
	}))
	defer server.Close()
	got, err := openai.New(wire.Config{Kind: "openrouter", BaseURL: server.URL + "/v1"}).Models(t.Context())
	want := []openai.Listed{
		{ID: "lab/seer", Inputs: []string{"text", "image", "file"}, Parameters: []string{"tools", "structured_outputs"}, ContextLength: 128000, Price: &cost.Price{Input: 2.5, Output: 10, Cached: 1.25}},
		{ID: "lab/router"},
		{ID: "lab/free", Price: &cost.Price{}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, body := range []string{"<html>", `{"error":"x"}`} {
		broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		_, err := openai.New(wire.Config{Kind: "openrouter", BaseURL: broken.URL}).Models(t.Context())
		if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassNetwork {
			t.Errorf("%s: %v", body, err)
		}
		broken.Close()
	}
}
