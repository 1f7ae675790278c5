package mistralocr

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

const (
	key = "sk-test-key"
	png = "\x89PNG\r\n\x1a\nnot more"
)

type loader string

func (l loader) Load(context.Context, content.Block) ([]byte, string, error) {
	if l == "" {
		return nil, "", errors.New("gone")
	}
	return []byte(l), "image/png", nil
}

func (loader) Fit(llm.PictureLimits) (llm.Loader, error) { return nil, errors.ErrUnsupported }

func asking(media llm.Loader, blocks ...content.Block) llm.Request {
	return llm.Request{Model: DefaultModel, Messages: []llm.Message{{Role: llm.User, Blocks: blocks}}, Media: media}
}

var picture = content.Image{Name: "page.png", MediaType: "image/png"}

// strict is a server that takes nothing but what the published description of /v1/ocr takes, and what we mean to send.
func strict(t *testing.T, pictures bool, status int, answer string) *Provider {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/ocr" || r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := llmtest.Published("mistral_ocr", data); err != nil {
			t.Error(err)
		}
		var got map[string]any
		if err := json.Unmarshal(data, &got); err != nil {
			t.Errorf("%v in %s", err, data)
		}
		want := map[string]any{
			"model": DefaultModel, "include_image_base64": pictures,
			"document": map[string]any{"type": "image_url", "image_url": "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(png))},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return New(Config{Config: wire.Config{BaseURL: server.URL + "/v1", APIKey: key}, Pictures: pictures, PricePerPage: 0.001})
}

const whole = `{"model":"mistral-ocr-2505","pages":[{"index":0,"markdown":"# Rain\n\n![img-0.jpeg](img-0.jpeg)",
"images":[{"id":"img-0.jpeg","top_left_x":1,"image_base64":"data:image/jpeg;base64,/9j/AA=="},{"id":"img-1.jpeg","image_base64":"%%%"},{"id":"img-2.jpeg","image_base64":null}],
"dimensions":{"dpi":200,"height":10,"width":10}}],"usage_info":{"pages_processed":2,"doc_size_bytes":9},"document_annotation":null}`

func TestGenerate(t *testing.T) {
	t.Parallel()
	for _, pictures := range []bool{false, true} {
		got, err := strict(t, pictures, http.StatusOK, whole).Generate(t.Context(), asking(loader(png), picture, content.Text{Value: "never sent"}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != "# Rain\n\n![img-0.jpeg](img-0.jpeg)" || got.Stop != llm.StopEnd || got.Model != "mistral-ocr-2505" || got.Usage.CostUSD != 0.002 || got.Usage.CostUnknown {
			t.Errorf("got %+v", got)
		}
		images, err := Pictures(got, DefaultModel)
		if diff := cmp.Diff([]imaging.Cutout{{ID: "img-0.jpeg", Data: []byte{0xff, 0xd8, 0xff, 0}}}, images); diff != "" || err != nil {
			t.Errorf("pictures, %v (-want +got):\n%s", err, diff)
		}
	}
}

func TestGenerate_failures(t *testing.T) {
	t.Parallel()
	llmtest.Failures(t, func(t *testing.T, status int, answer string) llm.Provider {
		return strict(t, false, status, answer)
	}, asking(loader(png), picture), key, `{"pages":[]}`)
}

func TestGenerate_refusesBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	p := New(Config{Config: wire.Config{BaseURL: "http://127.0.0.1:1/v1"}})
	for want, r := range map[string]llm.Request{
		"no picture": asking(loader(png), content.Text{Value: "x"}), "one picture": asking(loader(png), picture, picture),
	} {
		if _, err := p.Generate(t.Context(), r, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestProvider_contract(t *testing.T) {
	t.Parallel()
	llmtest.Contract(t, func(t *testing.T) llm.Provider { return strict(t, false, http.StatusOK, whole) }, asking(loader(png), picture))
}
