package modelset

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/step"
)

// A preview asks a local server for its window as a run does. What it said is kept, and a guess is marked as one.
func TestModel_localWindow(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"capabilities":["completion","vision"],"model_info":{"x.context_length":8192}}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	set := func(dir string) *Set {
		return New(&settings.Settings{
			Models:    settings.Models{Default: "near", Aliases: map[string]settings.Alias{"near": {Provider: "lab", Model: "some:7b"}}},
			Providers: map[string]settings.Provider{"lab": {Kind: "ollama", BaseURL: settings.Address(server.URL)}},
		}, slog.New(slog.DiscardHandler), dir, NewServices(), func(string) error { return nil })
	}
	check := func(what string, models step.Models, window int, guess, from string) {
		t.Helper()
		m, err := models.Model(t.Context(), "near")
		bounds := policy.DefaultBudget().Bound(m.RequestLimits())
		if err != nil || m.ContextWindow != window || bounds.WindowGuess != guess || bounds.From["max_prompt_tokens"] != from {
			t.Errorf("%s: window %d, guess %q, from %q, %v", what, m.ContextWindow, bounds.WindowGuess, bounds.From["max_prompt_tokens"], err)
		}
	}
	other := set(dir) // a process that learned something else meanwhile
	other.probes["else"], other.learned["else"] = &Probed{}, true
	check("preview", Unasked{set(dir)}, 8192, "", "context window")
	check("run", Probing{set(t.TempDir())}, 8192, "", "context window")
	if err := other.Keep(); err != nil {
		t.Fatal(err)
	}
	server.Close()
	check("preview without a server", Unasked{set(dir)}, 8192, "", "context window")
	check("run without a server", Probing{set(dir)}, 8192, "", "context window")
	check("preview that knows nothing", Unasked{set(t.TempDir())}, localWindow, "the server did not answer", "context window")
}
