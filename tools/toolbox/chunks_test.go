package toolbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/workflow"
)

// longNote makes a prompt of which most is deferred.
func longNote(t *testing.T) *world {
	t.Helper()
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "## Part %d\n\n%s\n\n![[p%d.png]]\n\n", i, strings.Repeat(fmt.Sprintf("word%d ", i), 60), i)
	}
	files := map[string]string{"long.md": b.String()}
	for i := range 60 {
		files[fmt.Sprintf("p%d.png", i)] = pixel + string(rune('a'+i%26)) + fmt.Sprint(i)
	}
	w := newWorld(t, files, workflow.Step{Prompt: "Read", Set: directives.Set{Inputs: []directives.Input{{Target: fileTarget("long")}}, Budget: &directives.Budget{Limits: map[string]float64{"max_images": 2, "max_tool_images": 3, "max_step_images": 7}}}})
	return w
}

// call makes an answer that calls tools and lets UseTools carry them out.
func (w *world) call(ref engine.StepRef, prompt string, media int, calls ...content.ToolCall) (engine.UseToolsOut, []content.ToolResult) {
	w.t.Helper()
	return w.callAfter(engine.UseToolsIn{StepRef: ref, Prompt: prompt, Media: media}, calls...)
}

// callAfter is call with what the step knows of its earlier calls.
func (w *world) callAfter(in engine.UseToolsIn, calls ...content.ToolCall) (engine.UseToolsOut, []content.ToolResult) {
	w.t.Helper()
	blocks := []content.Block{content.Text{Value: "Let me see."}}
	for _, c := range calls {
		blocks = append(blocks, c)
	}
	w.Reply = func(llm.Request) (*llm.Response, error) {
		return &llm.Response{Stop: llm.StopToolUse, Blocks: blocks}, nil
	}
	got, err := w.steps().Generator.Generate(w.t.Context(), engine.GenerateIn{StepRef: in.StepRef, Prompt: in.Prompt, Model: "seer"})
	if err != nil {
		w.t.Fatal(err)
	}
	in.Raw, in.Model = got.Raw, "seer"
	out, err := w.box().Use(w.t.Context(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	var results []content.ToolResult
	if out.Reply != "" {
		reply, err := content.UnmarshalBlocks([]byte(w.text(out.Reply)))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, b := range reply {
			results = append(results, b.(content.ToolResult))
		}
	}
	return out, results
}

func TestUseTools_readsDeferredChunks(t *testing.T) {
	t.Parallel()
	w := longNote(t)
	ref := w.ref()
	assembled := w.assembled(ref)
	if len(assembled.Omissions) < 50 {
		t.Fatalf("%d references left out", len(assembled.Omissions))
	}
	stored, err := w.deps().Stored.Prompt(t.Context(), assembled.Prompt)
	if err != nil {
		t.Fatal(err)
	}
	var deferred []string
	for _, c := range stored.Chunks {
		deferred = append(deferred, c.ID)
	}
	input, err := json.Marshal(map[string]any{"ids": []string{deferred[5], deferred[2]}})
	if err != nil {
		t.Fatal(err)
	}
	out, results := w.call(ref, assembled.Prompt, 0, content.ToolCall{ID: "t1", Name: "read_chunks", Input: input},
		content.ToolCall{ID: "t2", Name: "read_chunks", Input: json.RawMessage(`{"range":"` + deferred[10] + `-` + deferred[30] + `"}`)},
		content.ToolCall{ID: "t3", Name: "delete_everything", Input: json.RawMessage(`{}`)})
	if len(w.Requests[0].Tools) != 1 || w.Requests[0].Tools[0].Name != "read_chunks" || !json.Valid(w.Requests[0].Tools[0].Parameters) {
		t.Fatalf("offered %+v", w.Requests[0].Tools)
	}
	if len(results) != 3 || results[0].CallID != "t1" || results[1].CallID != "t2" || results[2].CallID != "t3" {
		t.Fatalf("results %+v", results)
	}
	if got := results[0].Text(); strings.Index(got, deferred[2]) > strings.Index(got, deferred[5]) {
		t.Errorf("the chunks do not come in the prompt's order:\n%s", got)
	}
	if !slices.Equal(out.Shown[:2], []string{deferred[2], deferred[5]}) || out.Media != 5 {
		t.Errorf("shown %v, %d pictures: want 2 and 3 (max_tool_images)", out.Shown, out.Media)
	}
	if !strings.Contains(results[1].Text(), "no room in this result for") {
		t.Errorf("the second result does not name what did not fit:\n%s", results[1].Text())
	}
	if results[2].Success || !strings.Contains(results[2].Error, `no tool "delete_everything"`) {
		t.Errorf("the third result: %+v", results[2])
	}
	// The step's pictures run out: max_step_images is 7.
	next, more := w.call(ref, assembled.Prompt, out.Media, content.ToolCall{ID: "t4", Name: "read_chunks", Input: json.RawMessage(`{"range":"` + deferred[31] + `-` + deferred[40] + `"}`)})
	if next.Media != 2 || !strings.Contains(more[0].Text(), "all the pictures it may have") {
		t.Errorf("%d pictures, %s", next.Media, more[0].Text())
	}
}

func TestUseTools_offeredOnlyWhenUseful(t *testing.T) {
	t.Parallel()
	short := newWorld(t, map[string]string{"a.md": "short"}, workflow.Step{Prompt: "x", Set: directives.Set{Inputs: []directives.Input{{Target: fileTarget("a")}}}})
	none := longNote(t)
	none.plan.Steps[0].Tools = &directives.Tools{None: true}
	unable := longNote(t)
	caps, err := policy.ExactOverride([]string{"vision"})
	if err != nil {
		t.Fatal(err)
	}
	m := unable.models["seer"]
	m.Capabilities = policy.Lookup("openai_chat", "seer-1", caps, nil)
	unable.models["seer"] = m
	for name, w := range map[string]*world{"nothing deferred": short, "@tools none": none, "a model without tools": unable} {
		w.Reply = func(llm.Request) (*llm.Response, error) {
			return &llm.Response{Text: "Good", Stop: llm.StopEnd, Blocks: []content.Block{content.Text{Value: "Good"}}}, nil
		}
		ref := w.ref()
		in := engine.GenerateIn{StepRef: ref, Prompt: w.assembled(ref).Prompt, Model: "seer"}
		if _, err := w.steps().Generator.Generate(t.Context(), in); err != nil || len(w.Requests[0].Tools) != 0 {
			t.Errorf("%s: offered %+v, %v", name, w.Requests[0].Tools, err)
		}
	}
}

func TestUseTools_noCall(t *testing.T) {
	t.Parallel()
	w := longNote(t)
	ref := w.ref()
	if out, _ := w.call(ref, w.assembled(ref).Prompt, 0); out.Reply != "" {
		t.Errorf("an answer without calls has the reply %q", w.text(out.Reply))
	}
}
