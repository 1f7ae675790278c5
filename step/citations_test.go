package step

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// quoting answers every request with a text that rests on a document.
func quoting(stop llm.Stop) func(llm.Request) (*llm.Response, error) {
	return func(r llm.Request) (*llm.Response, error) {
		return &llm.Response{
			Text: "It is so.", Stop: stop, Model: r.Model, Blocks: []content.Block{content.Text{Value: "It is so."}},
			Citations: []llm.Citation{{End: 9, Document: "a.pdf", From: 2, To: 2, Text: "so"}},
		}, nil
	}
}

// cite gives the model citations, when the alias wants them.
func (w *world) cite(wanted bool, capabilities ...string) {
	w.t.Helper()
	caps, err := policy.ExactOverride(capabilities)
	if err != nil {
		w.t.Fatal(err)
	}
	model := w.models["seer"]
	model.Citations, model.Capabilities = wanted, policy.Lookup("openai_chat", "seer-1", caps, nil)
	w.models["seer"] = model
}

func TestGenerate_footnotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Cache: &directives.Cache{Until: "forever"}}})
	w.cite(true, "text", "citations")
	w.Reply = quoting(llm.StopEnd)
	out := w.assembled(w.ref())
	got, err := w.ask(w.ref())
	if err != nil || !w.Requests[0].Citations {
		t.Fatalf("%v, %+v", err, w.Requests)
	}
	text := w.text(got.Answer)
	if !strings.HasPrefix(text, "It is so.[^") || !strings.HasSuffix(text, "]: [[a.pdf#page=2]]: “so”") {
		t.Errorf("the answer is %q", text)
	}
	said, _, err := w.deps().Stored.Answer(t.Context(), got.Raw)
	if err != nil || content.Join(said) != "It is so." {
		t.Errorf("the model is told it said %q, %v", content.Join(said), err)
	}
	w.cite(false, "text", "citations")
	if again := w.assembled(w.ref()); again.Key == out.Key {
		t.Error("with and without citations an answer has one key of the cache")
	}
	w.cite(true, "text", "citations")
	w.Reply = quoting(llm.StopToolUse)
	if got, err = w.ask(w.ref()); err != nil || w.text(got.Answer) != "It is so." {
		t.Errorf("a turn that goes on: %q, %v", w.text(got.Answer), err)
	}
}

// TestGenerate_asksForCitations only where footnotes can stand, of models that give them; an alias that wants them in vain is
// told of.
func TestGenerate_asksForCitations(t *testing.T) {
	t.Parallel()
	output := func(format string) []directives.Output {
		return []directives.Output{{Target: fileTarget("Out"), Format: format}}
	}
	for name, c := range map[string]struct {
		step   workflow.Step
		wanted bool
		caps   []string
		asks   bool
	}{
		"Markdown":              {workflow.Step{Set: directives.Set{Outputs: output("")}}, true, []string{"text", "citations"}, true},
		"not wanted":            {workflow.Step{Set: directives.Set{Outputs: output("")}}, false, []string{"text", "citations"}, false},
		"not able":              {workflow.Step{Set: directives.Set{Outputs: output("")}}, true, []string{"text"}, false},
		"YAML":                  {workflow.Step{Set: directives.Set{Outputs: output(directives.FormatYAML)}}, true, []string{"text", "citations"}, false},
		"JSON":                  {workflow.Step{Set: directives.Set{Outputs: output(directives.FormatJSON)}}, true, []string{"text", "citations"}, false},
		"properties":            {workflow.Step{Set: directives.Set{Outputs: output(""), WriteMode: directives.WriteMode{Mode: directives.ModeFrontmatter}}}, true, []string{"text", "citations"}, false},
		"held to a schema":      {workflow.Step{Set: directives.Set{Schema: &directives.Schema{Inline: json.RawMessage(`{"type":"object"}`)}}}, true, []string{"text", "citations"}, false},
		"a table":               {workflow.Step{Set: directives.Set{Outputs: []directives.Output{{Target: fileTarget("Out.csv")}}}}, true, []string{"text", "citations"}, false},
		"a note and a variable": {workflow.Step{Set: directives.Set{Outputs: []directives.Output{{Target: fileTarget("Out.md")}, {Target: variableTarget("v")}}}}, true, []string{"text", "citations"}, true},
		"without any output":    {workflow.Step{}, true, []string{"text", "citations"}, true},
	} {
		c.step.Prompt = "x"
		w := newWorld(t, nil, c.step)
		w.cite(c.wanted, c.caps...)
		w.Reply = steptest.Says("{}")
		ref := w.ref()
		out := w.assembled(ref)
		if _, err := w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: ref, Prompt: out.Prompt, Model: out.Model}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if w.Requests[0].Citations != c.asks {
			t.Errorf("%s: asked for %t, want %t", name, w.Requests[0].Citations, c.asks)
		}
		if warned := strings.Contains(strings.Join(out.Warnings, "\n"), "models.aliases.seer.citations has no effect"); warned != (name == "not able") {
			t.Errorf("%s: warnings %q", name, out.Warnings)
		}
	}
}
