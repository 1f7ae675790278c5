//go:build unix

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// mistralServer answers like Mistral's text recognition, and takes only what that takes. The first call is put off.
func mistralServer(t *testing.T, calls *atomic.Int32) *httptest.Server {
	t.Helper()
	dot := base64.StdEncoding.EncodeToString(pngPicture(t, "cut"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got struct {
			Model    string
			Document struct {
				Type     string
				ImageURL string `json:"image_url"`
			}
			Pictures *bool `json:"include_image_base64"`
		}
		dec := json.NewDecoder(r.Body)
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil {
			t.Error(err)
		}
		isPicture := strings.HasPrefix(got.Document.ImageURL, "data:image/png;base64,") || strings.HasPrefix(got.Document.ImageURL, "data:image/jpeg;base64,")
		if r.URL.Path != "/v1/ocr" || r.Header.Get("Authorization") != "Bearer "+llmtest.Key || got.Model != "mistral-ocr-latest" ||
			got.Document.Type != "image_url" || !isPicture || got.Pictures == nil || !*got.Pictures {
			t.Errorf("%s %s with %.60s", r.Method, r.URL.Path, got.Document.ImageURL)
		}
		n := calls.Add(1)
		if n == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprintf(w, `{"model":"mistral-ocr-latest","pages":[{"index":0,"markdown":"# Harbour\n\nRead for call %d.\n\n![img-0.png](img-0.png)","images":[{"id":"img-0.png","image_base64":"data:image/png;base64,%s"}]}],"usage_info":{"pages_processed":1}}`, n, dot)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestImport_readByMistral(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := mistralServer(t, &calls)
	s := newSite(t, worker(t), fmt.Sprintf("ingestion: {ocr: {engines: [mistral, tesseract], mistral: {endpoint: %q, price_per_page: 0.5}}}\nproviders: {mistral: {api_key_env: OCR_KEY}}\n", server.URL+"/v1"))
	s.Env = append(s.Env, "OCR_KEY="+llmtest.Key)
	s.Write("scan.pdf", pdftest.New().ScanPage(scanLines...).ScanPage("another", "page").Bytes())
	s.Must("import", "--retain-ocr-images", s.Path("scan.pdf"))
	r := s.ended(1)["Import/scan.pdf"]
	if r.State != engine.ImportDone {
		t.Fatalf("%+v", r)
	}
	note := s.Read(r.Note)
	for _, want := range []string{"### Harbour", "Read for call", "![](./assets/page_0002_01.png)"} {
		if !strings.Contains(note, want) {
			t.Errorf("no %q in\n%s", want, note)
		}
	}
	m := s.manifest(r.Bundle)
	for _, p := range m.Pages {
		if p.OCR.Engine != "mistral mistral-ocr-latest" || p.OCR.CostUSD != 0.5 || len(p.Assets) != 1 || p.Text.Source != manifest.TextOCR {
			t.Errorf("page %d: %+v, %+v", p.N, p, p.OCR)
		}
	}
	if calls.Load() != 3 || len(m.Assets) != 2 || strings.Contains(s.Read(r.Bundle+"/manifest.json"), llmtest.Key) {
		t.Errorf("%d calls, assets %+v", calls.Load(), m.Assets)
	}
}

func TestImport_withoutMistralsKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "ingestion: {ocr: {engines: [mistral, tesseract]}}\n")
	s.Write("scan.pdf", pdftest.New().ScanPage(scanLines...).Bytes())
	s.Must("import", s.Path("scan.pdf"))
	r := s.ended(1)["Import/scan.pdf"]
	if note := strings.ToLower(s.Read(r.Note)); !strings.Contains(note, "harbour office") || !strings.Contains(note, "page 1 not read by mistral: its key is missing: mistral_api_key is not set") {
		t.Errorf("%+v:\n%s", r, note)
	}
}

func TestImport_readByModel(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, llmtest.OpenAI{}, says("# Sign\n\nNo %% vaultflow:end %% entry"))
	s := newSite(t, worker(t), fmt.Sprintf("ingestion: {ocr: {engines: [model], model: seer}}\nmodels: {default: seer, aliases: {seer: {provider: lab, model: test-model, capabilities: [text, vision]}, blind: {provider: lab, model: test-model, capabilities: [text]}}}\n"+
		"providers:\n  lab: {kind: openai_chat, base_url: %q, api_key_env: LAB_KEY}\n", server.URL+"/v1"))
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.Write("sign.png", llmtest.WithLocation(pngPicture(t, scanLines...)))
	s.Must("import", s.Path("sign.png"))
	r := s.ended(1)["Import/sign.png"]
	if note := s.Read(r.Note); !strings.Contains(note, "### Sign") || strings.Count(note, "%% vaultflow:end %%") != 1 {
		t.Errorf("%+v:\n%s", r, note)
	}
	if sent := server.Requests(); len(sent) != 1 || images(sent[0].Parts) != 1 {
		t.Errorf("sent %+v", sent)
	}
	s.Write("other.png", pngPicture(t, "another"))
	s.Env = append(s.Env, "VAULTFLOW_INGESTION_OCR_MODEL=blind")
	if out, errs, code := s.CLI("import", s.Path("other.png")); code != exitOmissions {
		t.Errorf("exit code %d for a picture whose text was not read\n%s%s", code, out, errs)
	}
	r = s.ended(2)["Import/other.png"]
	if note := s.Read(r.Note); !strings.Contains(note, "the model blind takes no pictures") {
		t.Errorf("%+v:\n%s", r, note)
	}
}

// Only the page whose text is doubtful goes to the model, within the limit of cost, and its words are checked against what Tesseract
// and the renderers read.
func TestImport_doubtfulPagesReadByModel(t *testing.T) {
	t.Parallel()
	const dear = "price: {input: 1, output: 100}"
	for name, c := range map[string]struct{ budget, answer, outcome, source string }{
		"the page's words": {"1", "# " + strings.Join(scanLines, "\n"), manifest.VisionUsed, manifest.TextVision},
		"other words":      {"1", "The model has a story of its own to report here.", manifest.VisionRefused, manifest.TextOCR},
		"too little money": {"0.01", "# " + strings.Join(scanLines, "\n"), manifest.VisionNotRead, manifest.TextOCR},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.NewServer(t, llmtest.OpenAI{}, says(c.answer))
			s := newSite(t, worker(t), fmt.Sprintf("ingestion: {vision: doubtful, max_cost_usd_per_import: %s, ocr: {model: seer, min_confidence: 100}}\n"+
				"models: {default: seer, aliases: {seer: {provider: lab, model: test-model, max_output_tokens: 1000, capabilities: [text, vision], %s}}}\n"+
				"providers:\n  lab: {kind: openai_chat, base_url: %q, api_key_env: LAB_KEY}\n", c.budget, dear, server.URL+"/v1"))
			s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
			s.Write("letter.pdf", pdftest.New().TextPage(pdftest.Text("A page with a text layer that nobody doubts, of one paragraph.")...).ScanPage(scanLines...).Bytes())
			out := s.Must("import", s.Path("letter.pdf"))
			r := s.ended(1)["Import/letter.pdf"]
			if strings.Contains(out, "page 2 not read by a model; once it can be: vaultflow import --retry "+r.ID) != (c.outcome == manifest.VisionNotRead) {
				t.Errorf("it reports\n%s", out)
			}
			m := s.manifest(r.Bundle)
			if m.Pages[0].Vision != nil || m.Pages[0].Text.Source != manifest.TextLayer {
				t.Errorf("page 1: %+v", m.Pages[0])
			}
			p := m.Pages[1]
			if p.Vision == nil || p.Vision.Outcome != c.outcome || p.Text.Source != c.source || (len(p.Doubts) == 0) != (c.outcome == manifest.VisionUsed) {
				t.Fatalf("page 2: %+v, %+v, %+v", p.Text, p.Vision, p.Doubts)
			}
			sent := server.Requests()
			if asked := c.outcome != manifest.VisionNotRead; asked != (len(sent) == 1 && images(sent[0].Parts) == 1) || asked != (p.Vision.CostUSD > 0) {
				t.Errorf("%d requests, %+v", len(sent), p.Vision)
			}
			if c.outcome != manifest.VisionNotRead {
				return
			}
			if out, errs, _ := s.CLI("import", "--retry", r.ID); strings.Count(out+errs, "warning: page 2 not read by a model: ") != 1 || !strings.Contains(out+errs, "raise ingestion.max_cost_usd_per_import") {
				t.Errorf("the retry reports\n%s%s", out, errs)
			}
			s.Env = append(s.Env, "VAULTFLOW_INGESTION_MAX_COST_USD_PER_IMPORT=1")
			s.Must("import", "--retry", r.ID)
			m = s.manifest(r.Bundle)
			if p := m.Pages[1]; p.Vision == nil || p.Vision.Outcome != manifest.VisionUsed || len(p.Doubts) > 0 || m.Import.Version != 1 || len(server.Requests()) != 1 {
				t.Errorf("after the retry: %+v, %+v, %d requests", p.Vision, p.Doubts, len(server.Requests()))
			}
			if note := s.Read(r.Note); strings.Contains(note, "doubtful") || !strings.Contains(note, "read by the model test-model") {
				t.Errorf("after the retry:\n%s", note)
			}
		})
	}
}

// One layer repeats requests to a service. The import fails after its attempts, as the provider's failure, and is tried
// again later.
func TestImport_overloadedService(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	s := newSite(t, worker(t), fmt.Sprintf("ingestion: {ocr: {engines: [mistral], mistral: {endpoint: %q}}}\nproviders: {mistral: {api_key_env: OCR_KEY}}\n", server.URL+"/v1"))
	s.Env = append(s.Env, "OCR_KEY="+llmtest.Key)
	s.Write("scan.png", pngPicture(t, scanLines...))
	_, errs, code := s.CLI("import", s.Path("scan.png"))
	if code != exitProvider {
		t.Errorf("exit code %d, want %d:\n%s", code, exitProvider, errs)
	}
	if n := calls.Load(); n != 4 {
		t.Errorf("%d requests for one photo, want 4", n)
	}
}
