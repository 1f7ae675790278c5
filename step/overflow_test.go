package step

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// TestOverflow_costs: both requests are accounted, and max_cost_usd is asked again before the second.
func TestOverflow_costs(t *testing.T) {
	t.Parallel()
	var drawing bytes.Buffer
	if err := png.Encode(&drawing, image.NewGray(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		bound   float64
		calls   int
		refused bool
	}{{0.15, 1, true}, {0.30, 2, false}} {
		w := newWorld(t, map[string]string{"p.png": drawing.String()}, workflow.Step{Prompt: "See", Set: directives.Set{Inputs: []directives.Input{{Target: fileTarget("p.png")}}, Model: &directives.Model{Alias: "seer", MaxOutputTokens: 1000}, Budget: &directives.Budget{Limits: map[string]float64{"max_cost_usd": tt.bound}}}})
		w.priced(&cost.Price{Output: 100}, nil) // at most $0.10 a call
		w.Reply = func(r llm.Request) (*llm.Response, error) {
			if len(w.Requests) == 1 {
				return nil, &llm.Error{Class: llm.ClassUnsupportedMedia, Message: "no image input", Usage: cost.Usage{InputTokens: 10, OutputTokens: 1000, CostUSD: 0.1}}
			}
			answer, err := steptest.Says("Good")(r)
			answer.Usage = cost.Usage{InputTokens: 300, OutputTokens: 10, CostUSD: 0.05}
			return answer, err
		}
		got, err := w.ask(w.ref())
		if len(w.Requests) != tt.calls || (code(err) == failure.Budget) != tt.refused {
			t.Fatalf("bound %g: %d calls, %v", tt.bound, len(w.Requests), err)
		}
		if !tt.refused && (got.Usage.InputTokens != 310 || got.Usage.CostUSD < 0.149 || got.Usage.CostUSD > 0.151 || got.Count.Counted != 300 || got.Count.Estimated == 0) {
			t.Errorf("usage %+v, count %+v", got.Usage, got.Count)
		}
	}
}

// TestWithin_toolLoop: what outgrows the window is left out before it is sent, and told once.
func TestWithin_toolLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, workflow.Step{Prompt: "Look around", Set: directives.Set{Model: &directives.Model{Alias: "seer", MaxOutputTokens: 500}}})
	m := w.models["seer"]
	m.ContextWindow = 4000
	w.models["seer"] = m
	w.Reply = steptest.Says("Done")
	ref := w.ref()
	out := w.assembled(ref)
	in := engine.GenerateIn{StepRef: ref, Prompt: out.Prompt, Model: out.Model}
	for i := range 6 {
		id := fmt.Sprintf("c%d", i)
		call, err := w.deps().Stored.putJSON(t.Context(), storedAnswer{Blocks: []byte(fmt.Sprintf(`[{"type":"tool_call","id":%q,"name":"read_file","input":{}}]`, id))})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := w.deps().Stored.PutBlocks(t.Context(), []content.Block{content.ToolResult{CallID: id, Success: true, Output: strings.Repeat("words ", 500)}})
		if err != nil {
			t.Fatal(err)
		}
		in.Turns = append(in.Turns, engine.Turn{Raw: call, Reply: reply})
	}
	var events []engine.Event
	ctx := engine.WithReporter(t.Context(), func(e engine.Event) { events = append(events, e) })
	got, err := w.steps().Generator.Generate(ctx, in)
	if err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "texts in results of tools") {
		t.Fatalf("%v, warnings %q", err, got.Warnings)
	}
	sent := w.Requests[0].Messages
	if first, last := content.Join(sent[2].Blocks), content.Join(sent[len(sent)-1].Blocks); !strings.HasPrefix(first, "[left out to fit; ") || len(last) < 3000 {
		t.Errorf("the oldest result is %.80q, the newest has %d bytes", first, len(last))
	}
	if got.Count.Estimated > 0 || len(events) < 2 || events[0].Kind != engine.EventRewrite || events[1].Kind != engine.EventBuilt || events[1].Request.Tokens > 3500 {
		t.Errorf("events %+v", events)
	}
}
