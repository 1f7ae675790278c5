package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/policy"
)

// TestModels_probe asks Ollama and OpenRouter, keeps what they say with its date and origin, and says so when they are gone.
func TestModels_probe(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/models" && r.Header.Get("Authorization") == "Bearer "+llmtest.Key:
			fmt.Fprint(w, `{"data":[{"id":"lab/seer","context_length":65536,"architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools"],"pricing":{"prompt":"0.000001","completion":"0.000004"}}]}`)
		case r.URL.Path == "/api/show":
			fmt.Fprint(w, `{"capabilities":["completion","thinking"],"model_info":{"x.context_length":8192}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":"no such page"}`)
		}
	}))
	t.Cleanup(server.Close)
	b := &bench{t: t, dir: t.TempDir()}
	b.write("settings.yaml", fmt.Sprintf(`models:
  default: router
  aliases:
    router: {provider: openrouter, model: lab/seer}
    pinned: {provider: openrouter, model: lab/seer, capabilities: {vision: false}, price: {input: 9, output: 9}}
    lost: {provider: openrouter, model: lab/nowhere}
    near: {provider: ollama, model: "some:7b"}
    far: {provider: anthropic, model: claude-sonnet-4-5}
providers:
  openrouter: {base_url: "%[1]s/api/v1", api_key_env: LAB_KEY}
  ollama: {base_url: "%[1]s"}
`, server.URL))
	lines := func(code int, args ...string) (map[string]modelLine, string) {
		out, errs := b.run(code, append([]string{"models", "--json"}, args...)...)
		byAlias := map[string]modelLine{}
		for line := range strings.Lines(out) {
			var l modelLine
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			byAlias[l.Alias] = l
		}
		return byAlias, errs
	}
	zone, err := time.LoadLocation("Europe/Oslo") // of the commands, see environment
	if err != nil {
		t.Fatal(err)
	}
	today := time.Now().In(zone).Format(time.DateOnly)
	asked, errs := lines(exitProvider, "--probe")
	if !strings.Contains(errs, "could not be probed") || !strings.Contains(asked["lost"].ProbeFailed, `lists no model "lab/nowhere"`) || asked["router"].ProbeFailed+asked["far"].ProbeFailed != "" {
		t.Errorf("of the model that is not listed: %+v, %s", asked["lost"], errs)
	}
	kept, _ := lines(exitDone) // nobody is asked now
	for name, l := range map[string]map[string]modelLine{"asked": asked, "kept": kept} {
		router, near := l["router"], l["near"]
		vision := router.Capabilities[policy.Vision]
		if !vision.Has || vision.From != policy.FromProbe || vision.Checked != today || vision.Source != "OpenRouter's /models" || router.Probed != today {
			t.Errorf("%s: router sees as %+v", name, vision)
		}
		if router.Capabilities.Has(policy.PDF) || !router.Capabilities.Has(policy.Tools) || router.ContextWindow != 65536 || router.Price == nil || router.Price.Input != 1 || router.Price.Output != 4 {
			t.Errorf("%s: router is %+v with %+v", name, router, router.Price)
		}
		if p := l["pinned"]; p.Capabilities[policy.Vision] != (policy.Learned{From: policy.FromSettings}) || p.Price.Input != 9 {
			t.Errorf("%s: the settings' word does not go first: %+v", name, p)
		}
		if near.Capabilities.Has(policy.Tools) || !near.Capabilities.Has(policy.Thinking) || near.ContextWindow != 8192 {
			t.Errorf("%s: near is %+v", name, near)
		}
		if far := l["far"]; far.Probed != "" || far.Capabilities[policy.Vision].From != policy.FromTable {
			t.Errorf("%s: far is %+v", name, far)
		}
	}
	text, _ := b.run(exitDone, "models")
	if !strings.Contains(text, "window 65536 tokens, $1 in, $4 out for a million tokens (OpenRouter's /models, "+today+"), asked on "+today) {
		t.Errorf("for people:\n%s", text)
	}
	server.Close()
	gone, errs := lines(exitProvider, "--probe")
	if gone["router"].ProbeFailed == "" || !gone["router"].Capabilities.Has(policy.Vision) || !strings.Contains(errs, "4 of 4 models") {
		t.Errorf("with the services gone: %+v, %s", gone["router"], errs)
	}
	file := filepath.Join(b.dir, "state", "models.json")
	if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), llmtest.Key) {
		t.Errorf("the file %s: %v, or it holds the key", file, err)
	} else if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if broken, errs := lines(exitDone); broken["router"].Probed != "" || !strings.Contains(errs, "cannot be read") {
		t.Errorf("with a broken file: %+v, %s", broken["router"], errs)
	}
}
