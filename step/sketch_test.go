package step

import (
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// What is not sent is not in the digest of what is sent.
func TestSketch_digest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.md": "Text"}, workflow.Step{Name: "one", Prompt: "Read", Set: directives.Set{Inputs: []directives.Input{{Target: fileTarget("a.md")}}}})
	sent := func() engine.Sent { return w.assembled(w.ref()).Sent }
	first := sent().Digest
	model := w.models["seer"]
	for name, change := range map[string]func(m *Model){
		"alias": func(m *Model) { m.ProviderName = "other" }, "window": func(m *Model) { m.ContextWindow = 77_777 },
	} {
		other := model
		change(&other)
		if w.models["seer"] = other; sent().Digest != first {
			t.Errorf("%s: another digest", name)
		}
	}
	warm := 0.5
	for name, change := range map[string]func(m *Model){
		"model": func(m *Model) { m.ID = "seer-2" }, "service": func(m *Model) { m.Service = "http://far.example/v1" }, "temperature": func(m *Model) { m.Temperature = &warm },
		"reserved window": func(m *Model) { m.Kind, m.ContextWindow = "ollama", 77_777 }, "answer": func(m *Model) { m.MaxOutput = 99 },
	} {
		other := model
		change(&other)
		if w.models["seer"] = other; sent().Digest == first {
			t.Errorf("%s: the same digest", name)
		}
	}
}

// A prompt that is sent with other settings than it was made for, as by a retry, says so.
func TestGenerate_differsFromItsPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.md": "Text"}, workflow.Step{Name: "one", Prompt: "Read", Set: directives.Set{Inputs: []directives.Input{{Target: fileTarget("a.md")}}}})
	w.Reply = steptest.Says("Good")
	out := w.assembled(w.ref())
	ask := func() []string {
		t.Helper()
		got, err := w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: w.ref(), Prompt: out.Prompt, Model: out.Model})
		if err != nil {
			t.Fatal(err)
		}
		return got.Differs
	}
	if got := ask(); len(got) != 0 {
		t.Errorf("nothing changed: %q", got)
	}
	warm, model := 0.5, w.models["seer"]
	model.ID, model.Service, model.Temperature = "seer-2", "http://far.example/v1", &warm
	want := []string{"model changed: seer (lab, seer-2), was seer (lab, seer-1)", "service changed: http://far.example/v1, was lab", "setting changed: temperature is 0.5, was not set"}
	model.Capabilities = model.Capabilities.Without(policy.Tools) // none are offered
	w.models["seer"] = model
	if got := ask(); len(got) != 3 || got[0] != want[0] || got[2] != want[2] {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Limits count as far as they can change an attached picture.
func TestScaledBy(t *testing.T) {
	t.Parallel()
	limits := imaging.Limits{MaxSide: 1000, MaxPixels: 900_000, MaxBytes: 5 << 20, Accept: []string{"image/png"}}
	picture := func(w, h int, size int64) content.Block {
		return content.Image{Name: "p.png", Source: content.SourceVault, MediaType: "image/png", Width: w, Height: h, Size: size}
	}
	small := imaging.Limits{Accept: limits.Accept}
	side, pixels, bytes := small, small, small
	side.MaxSide, pixels.MaxPixels, bytes.MaxBytes = 1000, 900_000, 5<<20
	for name, tt := range map[string]struct {
		block content.Block
		want  imaging.Limits
	}{
		"text": {content.Text{Value: "x"}, small}, "small": {picture(500, 500, 9000), small}, "wide": {picture(1001, 100, 9000), side},
		"many pixels": {picture(950, 950, 9000), pixels}, "many bytes": {picture(500, 500, 6<<20), bytes},
		"of a page": {content.Image{Name: "a.pdf", Source: content.SourcePage, Width: 10, Height: 10}, limits}, "unknown": {picture(0, 0, 0), limits},
		"a document": {content.Document{Name: "a.pdf"}, limits},
	} {
		got := scaledBy(limits, []content.Block{content.Text{Value: "x"}, tt.block})
		if got.MaxSide != tt.want.MaxSide || got.MaxPixels != tt.want.MaxPixels || got.MaxBytes != tt.want.MaxBytes || !slices.Equal(got.Accept, tt.want.Accept) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
