package intake

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
)

// The vendor's key is not sent to another address because a settings file in a vault names one.
func TestMistral_keyStaysWithItsAddress(t *testing.T) {
	t.Parallel()
	loaded, err := settings.Load(settings.Input{Vault: t.TempDir(), Environ: []string{"MISTRAL_API_KEY=" + llmtest.Key}, Overrides: map[string]string{
		"ingestion.ocr.engines": "mistral", "ingestion.ocr.mistral.endpoint": "https://example.org/v1",
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := &Recognition{settings: loaded}
	if _, err := r.mistral(config.OCR{}); err == nil || !strings.Contains(err.Error(), "api_key_env") {
		t.Errorf("got %v", err)
	}
}

// TestRecogniser_paysFromTheMonth: pages count in the budget of the month, and one that does not fit is not sent.
func TestRecogniser_paysFromTheMonth(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, `{"model":"mistral-ocr-latest","pages":[{"index":0,"markdown":"# Harbour","images":[]}],"usage_info":{"pages_processed":1}}`)
	}))
	t.Cleanup(server.Close)
	loaded, err := settings.Load(settings.Input{Vault: t.TempDir(), Environ: []string{"OCR_KEY=" + llmtest.Key}, Overrides: map[string]string{
		"ingestion.ocr.engines": "mistral", "ingestion.ocr.mistral.endpoint": server.URL + "/v1", "ingestion.ocr.mistral.price_per_page": "0.5",
		"providers.mistral.api_key_env": "OCR_KEY",
	}})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	log, own := slog.New(slog.DiscardHandler), ownTrust(t, loaded)
	r := NewRecognition(loaded, modelset.New(loaded, log, t.TempDir(), modelset.NewServices(), func(string) error { return nil }), own, log)
	budget := policy.Budget{PerMonth: cost.Amount{USD: 1.2}, PerDay: cost.Amount{USD: 0.1}, MaxCostUSD: 0.1}
	service, err := r.recogniser(payerOf(j.Spending, budget, time.UTC, "r1"))(config.EngineMistral, config.OCR{KeepPictures: true})
	if err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	for page := range 3 {
		_, err := service.Recognise(t.Context(), picture.Bytes(), "image/png")
		if over := (failure.Of(err) != nil && failure.Of(err).Code == failure.Budget); over != (page == 2) || err != nil && !over {
			t.Errorf("page %d: %v", page+1, err)
		}
	}
	got, err := j.Spending.Of(t.Context(), "r1")
	if err != nil || calls.Load() != 3 || got.Calls != 3 || got.Cost.USD != 1 || got.Open != (cost.Amount{}) || got.Presumed != (cost.Amount{}) {
		t.Errorf("%d requests (the first is put off), booked %+v, %v", calls.Load(), got, err)
	}
}

// Pages that a vault means for a model that waits go to no other one.
func TestRecogniser_sendsNothingInPlaceOfWhatWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "own.yaml")
	for name, text := range map[string]string{
		own: "models: {default: cloud, aliases: {cloud: {provider: mine, model: a, capabilities: {vision: true}}}}\n" +
			"providers: {mine: {kind: vllm, base_url: 'http://127.0.0.1:9/v1'}}\ningestion: {ocr: {engines: [model, mistral]}}\n",
		filepath.Join(dir, "settings.yaml"): "models: {default: lab, aliases: {lab: {provider: lab, model: b}}}\n" +
			"providers: {lab: {kind: vllm, base_url: 'http://127.0.0.1:9/v1'}, mistral: {base_url: 'http://127.0.0.1:9/v1'}}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := settings.Load(settings.Input{Vault: dir, User: own, Environ: []string{"MISTRAL_API_KEY=" + llmtest.Key}})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	r := &Recognition{
		settings: loaded, trust: ownTrust(t, loaded), log: log, made: map[string]ocrService{},
		models: modelset.New(loaded, log, t.TempDir(), modelset.NewServices(), func(string) error { return nil }),
	}
	for engine, want := range map[string]string{"model": "providers.lab", "mistral": "providers.mistral"} {
		s, err := r.recogniser(payer{})(engine, config.OCR{Model: loaded.Models.Default})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", engine, s, err)
		}
	}
}

// A refusal names the setting that the user wrote, and what to do.
func TestPayer_namesTheSettingThatRefuses(t *testing.T) {
	t.Parallel()
	const setting = "ingestion.max_cost_usd_per_import"
	run := cost.CapState{Scope: cost.ScopeRun, Unit: cost.UnitUSD, Limit: 0.5, Spent: 0.25}
	for name, c := range map[string]struct {
		budget float64 // of a run
		over   cost.OverBudget
		want   string
	}{
		"no price":      {0, cost.OverBudget{Cap: run, NoPrice: true, Model: "seer"}, setting + " is set, and no price is known for the model seer"},
		"too little":    {9, cost.OverBudget{Cap: run, Estimate: 0.375}, "a page may cost up to $0.375; with $0.25 spent before, that would pass the $0.5 of " + setting},
		"of the month":  {0, cost.OverBudget{Cap: cost.CapState{Scope: cost.ScopeMonth, Unit: cost.UnitUSD}, NoPrice: true, Model: "seer"}, "max_cost_usd_per_month is set, and no price is known for the model seer"},
		"of the budget": {0.1, cost.OverBudget{Cap: run, NoPrice: true, Model: "seer"}, "max_cost_usd is set, and no price is known for the model seer"},
	} {
		by := payerOf(nil, policy.Budget{PerRun: cost.Amount{USD: c.budget}}, time.UTC, "r1").within(0.5, setting)
		f := failure.Of(by.named(&c.over))
		if f.Message != c.want || f.Hint == "" || f.Code != failure.Budget {
			t.Errorf("%s: %q (%s), hint %q", name, f.Message, f.Code, f.Hint)
		}
	}
	if by := (payer{}).within(0.5, setting); by.named(nil) != nil {
		t.Error("an answer became an error")
	}
}
