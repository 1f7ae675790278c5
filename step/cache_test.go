package step

import (
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// keepAnswer asks once and commits with the answer, as the body does.
func (w *world) keepAnswer(ref engine.StepRef) {
	w.t.Helper()
	out := w.assembled(ref)
	got, err := w.ask(ref)
	if err != nil || got.Cached || out.Key == "" {
		w.t.Fatalf("key %q, %+v, %v", out.Key, got, err)
	}
	entry := &engine.CacheEntry{Key: out.Key, Answer: got.Answer, Raw: got.Raw, Model: got.Model, Provider: got.Provider}
	if _, err := w.steps().Committer.Commit(w.t.Context(), engine.CommitIn{StepRef: ref, Cache: entry}); err != nil {
		w.t.Fatal(err)
	}
}

func TestCache_fresh(t *testing.T) {
	t.Parallel()
	day := func(d, h int) time.Time { return time.Date(2026, 3, d, h, 0, 0, 0, time.UTC) } // the 4th is a Wednesday
	tests := []struct {
		name  string
		cache directives.Cache
		later time.Time
		hit   bool
	}{
		{"duration", directives.Cache{For: 2 * time.Hour}, noon.Add(2 * time.Hour), true},
		{"duration over", directives.Cache{For: 2 * time.Hour}, noon.Add(2*time.Hour + 1), false},
		{"duration over midnight", directives.Cache{For: 24 * time.Hour}, day(5, 11), true},
		{"daily", directives.Cache{Until: "daily"}, day(4, 23), true},
		{"daily over", directives.Cache{Until: "daily"}, day(5, 0), false},
		{"weekly", directives.Cache{Until: "weekly"}, day(8, 23), true},
		{"weekly over", directives.Cache{Until: "weekly"}, day(9, 0), false},
		{"forever", directives.Cache{Until: "forever"}, day(4, 0).AddDate(9, 0, 0), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Cache: &tt.cache}})
			w.Reply = steptest.Says("Answer")
			w.keepAnswer(w.ref())
			w.Clock = tt.later
			ref := w.ref()
			ref.At = tt.later
			calls := len(w.Requests)
			got, err := w.ask(ref)
			if err != nil || got.Cached != tt.hit || (len(w.Requests) == calls) != tt.hit || w.text(got.Answer) != "Answer" || got.Stop != engine.StopEnd {
				t.Errorf("%+v, %v, %d calls more: want a hit %t", got, err, len(w.Requests)-calls, tt.hit)
			}
			if tt.hit && got.Usage != (cost.Usage{}) {
				t.Errorf("a hit costs %+v", got.Usage)
			}
		})
	}
}

// TestCache_key: whatever changes what the model gets changes the key; the nonce does not.
func TestCache_key(t *testing.T) {
	t.Parallel()
	base := func() *world {
		return newWorld(t, map[string]string{"a.md": "text"}, workflow.Step{Prompt: "Read", Set: directives.Set{Inputs: []directives.Input{{Target: fileTarget("a")}}, Cache: &directives.Cache{Until: "forever"}}})
	}
	warm := 0.5
	key := base().key()
	if again := base().key(); again != key || key == "" {
		t.Fatalf("two equal prompts have the keys %q and %q", key, again)
	}
	tests := map[string]func(w *world){
		"prompt":       func(w *world) { w.plan.Steps[0].Prompt = "Read it" },
		"instructions": func(w *world) { w.plan.Instructions = "Be brief" },
		"file":         func(w *world) { w.files["a.md"].Data = []byte("other") },
		"temperature":  func(w *world) { w.plan.Steps[0].Model = &directives.Model{Alias: "seer", Temperature: &warm} },
		"thinking":     func(w *world) { w.plan.Steps[0].Model = &directives.Model{Alias: "seer", Thinking: "high"} },
		"length":       func(w *world) { w.plan.Steps[0].Model = &directives.Model{Alias: "seer", MaxOutputTokens: 5} },
		"schema":       func(w *world) { w.plan.Steps[0].Schema = &directives.Schema{Inline: []byte(`{"type":"object"}`)} },
		"model": func(w *world) {
			m := w.models["seer"]
			m.ID = "seer-2"
			w.models["seer"] = m
		},
		"provider kind": func(w *world) {
			m := w.models["seer"]
			m.Kind = "ollama"
			w.models["seer"] = m
		},
	}
	seen := map[string]string{key: "nothing"}
	for name, change := range tests {
		w := base()
		change(w)
		got := w.key()
		if other, twice := seen[got]; twice {
			t.Errorf("changing %s gives the key of changing %s", name, other)
		}
		seen[got] = name
	}
	w := base()
	w.plan.Steps[0].Cache = nil
	if got := w.key(); got != "" {
		t.Errorf("a step without @cache has the key %q", got)
	}
}

func (w *world) key() string { return w.assembled(w.ref()).Key }

// TestCache_preview says what a run would find, and asks nobody.
func TestCache_preview(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Cache: &directives.Cache{Until: "daily"}}})
	w.Reply = steptest.Says("Answer")
	state := func() string {
		t.Helper()
		got, err := w.steps().Previewer.Preview(t.Context(), w.plan, 0, noon, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Cache
	}
	if got := state(); got != "miss" {
		t.Errorf("before: %q", got)
	}
	w.keepAnswer(w.ref())
	calls := len(w.Requests)
	if got := state(); got != "hit" || len(w.Requests) != calls {
		t.Errorf("after: %q, %d calls", got, len(w.Requests)-calls)
	}
}
