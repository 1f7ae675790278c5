package step

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// ask assembles the first step and makes its first call.
func (w *world) ask(ref engine.StepRef) (engine.GenerateOut, error) {
	w.t.Helper()
	out := w.assembled(ref)
	return w.steps().Generator.Generate(w.t.Context(), engine.GenerateIn{StepRef: ref, Prompt: out.Prompt, Model: out.Model, Key: out.Key})
}

// overloaded is a failure that may pass.
func overloaded() error {
	return &llm.Error{Class: llm.ClassOverloaded, Status: 529, Message: "overloaded"}
}

func TestGenerate_retry(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		retry *directives.Retry
		fails int // calls that fail before one succeeds
		calls int
		code  failure.Code
		waits []time.Duration
	}{
		{"the model's own policy", nil, 2, 3, "", []time.Duration{time.Second, 2 * time.Second}},
		{"the model's own policy, too often", nil, 9, 4, failure.Provider, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		{"never", &directives.Retry{Count: 0}, 1, 1, failure.Provider, nil},
		{"once, slowly", &directives.Retry{Count: 1, Backoff: 90 * time.Second}, 1, 2, "", []time.Duration{90 * time.Second}},
		{"five times", &directives.Retry{Count: 5, Backoff: 10 * time.Second}, 5, 6, "", []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Retry: tt.retry}})
			var waits []time.Duration
			m := w.models["seer"]
			m.Retry = llm.RetryPolicy{
				Jitter: func() float64 { return 1 },
				Sleep:  func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
			}
			w.models["seer"] = m
			w.Reply = func(r llm.Request) (*llm.Response, error) {
				if len(w.Requests) <= tt.fails {
					return nil, overloaded()
				}
				return steptest.Says("Good")(r)
			}
			_, err := w.ask(w.ref())
			if code(err) != tt.code || len(w.Requests) != tt.calls {
				t.Errorf("%d calls, %v, want %d and %q", len(w.Requests), err, tt.calls, tt.code)
			}
			if diff := cmp.Diff(tt.waits, waits); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestGenerate_fallback: the second model gets a prompt made for it, not the first one's.
func TestGenerate_fallback(t *testing.T) {
	t.Parallel()
	image, caps := directives.Input{Target: fileTarget("p.png")}, []string{"text"}
	w := newWorld(t, map[string]string{"p.png": pixel}, workflow.Step{Prompt: "See", Set: directives.Set{Inputs: []directives.Input{image}, Model: &directives.Model{Alias: "seer", Fallback: "blind"}}})
	blind, err := policy.ExactOverride(caps)
	if err != nil {
		t.Fatal(err)
	}
	second := w.models["seer"]
	second.Alias, second.ID, second.Capabilities = "blind", "blind-1", policy.Lookup("openai_chat", "blind-1", blind, nil)
	w.models["blind"] = second
	once := w.models["seer"]
	once.Retry.Attempts = 1
	w.models["seer"] = once
	w.Reply = func(r llm.Request) (*llm.Response, error) {
		if r.Model == "seer-1" {
			return nil, overloaded()
		}
		return steptest.Says("Seen")(r)
	}
	ref := w.ref()
	got, err := w.ask(ref)
	if err != nil || len(w.Requests) != 2 {
		t.Fatalf("%d requests, %v", len(w.Requests), err)
	}
	if !holdsImage(w.Requests[0]) || holdsImage(w.Requests[1]) || w.Requests[1].Delivery.Places[policy.Image] != policy.Convert {
		t.Errorf("the first request has an image: %t, the fallback's: %t, want only the first", holdsImage(w.Requests[0]), holdsImage(w.Requests[1]))
	}
	if text := content.Join(w.Requests[1].Messages[0].Blocks); !strings.Contains(text, "cannot see images") {
		t.Errorf("the fallback reads\n%s", text)
	}
	if got.Alias != "blind" || len(got.Warnings) < 2 || !strings.Contains(got.Warnings[0], "asked the fallback blind") || !strings.Contains(strings.Join(got.Warnings, "\n"), "no vision") {
		t.Errorf("alias %q, warnings %q", got.Alias, got.Warnings)
	}
	if receipt := w.Text(t, got.Receipt); !strings.Contains(receipt, `"model":"blind"`) || !strings.Contains(receipt, `"cause":"no_vision"`) {
		t.Errorf("the receipt is that of another prompt:\n%s", receipt)
	}
	// Further calls of the step go to the fallback, and say nothing twice.
	out := w.assembled(ref)
	again, err := w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: ref, Prompt: out.Prompt, Model: "blind"})
	if err != nil || again.Alias != "blind" || len(again.Warnings) != 0 || len(w.Requests) != 3 || holdsImage(w.Requests[2]) {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestGenerate_fallbackThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Model: &directives.Model{Alias: "seer", Fallback: "nobody"}}})
	w.Reply = steptest.Says("Good")
	out := w.assembled(w.ref())
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "the fallback nobody cannot be used") {
		t.Errorf("warnings %q", out.Warnings)
	}
	w.Reply = func(llm.Request) (*llm.Response, error) { return nil, &llm.Error{Class: llm.ClassAuth, Status: 401} }
	if _, err := w.ask(w.ref()); code(err) != failure.Provider || len(w.Requests) != 1 {
		t.Errorf("%d requests, %v: want the first model's failure", len(w.Requests), err)
	}
}

// pixel is a whole picture of 64 by 64 pixels.
var pixel = steptest.Pixel()

func holdsImage(r llm.Request) bool {
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Type() == content.TypeImage {
				return true
			}
		}
	}
	return false
}

// TestGenerate_turns: what was said behind the prompt goes back to the model, the provider's own form included.
func TestGenerate_turns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, workflow.Step{Prompt: "Ask"})
	w.Reply = func(llm.Request) (*llm.Response, error) {
		return &llm.Response{
			Text: "First", Stop: llm.StopEnd, Raw: json.RawMessage(`{"wire":"x"}`),
			Blocks: []content.Block{content.Thinking{Value: "hm", Signature: "s"}, content.Text{Value: "First"}},
		}, nil
	}
	ref := w.ref()
	out := w.assembled(ref)
	first, err := w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: ref, Prompt: out.Prompt, Model: out.Model})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := w.deps().Stored.PutBlocks(t.Context(), []content.Block{content.Text{Value: "Again"}})
	if err != nil {
		t.Fatal(err)
	}
	old := w.put(`[{"type":"text","text":"Older form"}]`)
	turns := []engine.Turn{{Raw: first.Raw, Reply: reply}, {Raw: old, Reply: reply}}
	if _, err := w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: ref, Prompt: out.Prompt, Model: out.Model, Turns: turns}); err != nil {
		t.Fatal(err)
	}
	said := w.Requests[1].Messages
	if len(said) != 5 || said[1].Role != llm.Assistant || said[2].Role != llm.User || string(said[1].Raw) != `{"wire":"x"}` || said[3].Raw != nil {
		t.Fatalf("messages %+v", said)
	}
	if diff := cmp.Diff([]content.Block{content.Thinking{Value: "hm", Signature: "s"}, content.Text{Value: "First"}}, said[1].Blocks); diff != "" {
		t.Error(diff)
	}
	if content.Join(said[2].Blocks) != "Again" || content.Join(said[3].Blocks) != "Older form" {
		t.Errorf("turns %v, %v", said[2].Blocks, said[3].Blocks)
	}
}
