package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// talker is a Flow whose model calls tools twice, then gives an answer that does not fit, then one that does. A fallback
// gives the second answer.
type talker struct {
	script
	generated []engine.GenerateIn
	used      []engine.UseToolsIn
	validated []engine.ValidateIn
	commits   []engine.CommitIn
	warnings  []string          // of the second and third answer
	lost      []engine.Omission // likewise
	pictures  []engine.GivenPicture
}

func (f *talker) Do(activity string, in, out any) error {
	switch in := in.(type) {
	case engine.AssembleIn:
		*out.(*engine.AssembleOut) = engine.AssembleOut{Prompt: "p", Model: "m", Key: "k"}
	case engine.GenerateIn:
		f.generated = append(f.generated, in)
		*out.(*engine.GenerateOut) = []engine.GenerateOut{
			{Raw: "r1", Stop: engine.StopToolUse, Usage: cost.Usage{CostUSD: 1}},
			{Raw: "r2", Stop: engine.StopToolUse, Usage: cost.Usage{CostUSD: 2}, Alias: "other", Warnings: f.warnings, Lost: f.lost},
			{Raw: "r3", Stop: engine.StopEnd, Answer: "a3", Usage: cost.Usage{CostUSD: 4}, Warnings: f.warnings, Lost: f.lost},
			{Raw: "r4", Stop: engine.StopEnd, Answer: "a4", Usage: cost.Usage{CostUSD: 8}},
		}[len(in.Turns)]
	case engine.UseToolsIn:
		f.used = append(f.used, in)
		*out.(*engine.UseToolsOut) = engine.UseToolsOut{Reply: "reply to " + in.Raw, Media: 2, Pictures: f.pictures}
	case engine.ValidateIn:
		f.validated = append(f.validated, in)
		if in.Answer == "a3" {
			*out.(*engine.ValidateOut) = engine.ValidateOut{Problems: []string{"bad"}, Reply: "mend"}
		}
	case engine.CommitIn:
		f.commits = append(f.commits, in)
	default:
		return f.script.Do(activity, in, out)
	}
	return nil
}

// Each call of the model gets the whole conversation, asks the cache once, goes on with the model that answered, and
// knows what was spent and how many pictures were shown.
func TestRunWorkflow_conversation(t *testing.T) {
	t.Parallel()
	f := &talker{}
	out := engine.RunWorkflow(f, engine.Pinned{Steps: []engine.PinnedStep{{Name: "a", JSON: true, Repairs: 1, Cache: true}}})
	if out.Status != engine.Done || out.Steps[0].Usage.CostUSD != 15 || out.Steps[0].Calls != 4 {
		t.Fatalf("got %s (%s), %+v", out.Status, out.Reason, out.Steps[0])
	}
	ref := engine.StepRef{Step: "a"}
	turns := []engine.Turn{{Raw: "r1", Reply: "reply to r1"}, {Raw: "r2", Reply: "reply to r2"}, {Raw: "r3", Reply: "mend"}}
	if diff := cmp.Diff([]engine.GenerateIn{
		{StepRef: ref, Prompt: "p", Model: "m", Key: "k"},
		{StepRef: ref, Prompt: "p", Model: "m", Turns: turns[:1], SpentUSD: 1},
		{StepRef: ref, Prompt: "p", Model: "other", Turns: turns[:2], SpentUSD: 3},
		{StepRef: ref, Prompt: "p", Model: "other", Turns: turns, SpentUSD: 7},
	}, f.generated); diff != "" {
		t.Errorf("model calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]engine.UseToolsIn{
		{StepRef: ref, Prompt: "p", Raw: "r1", Model: "m"}, {StepRef: ref, Prompt: "p", Raw: "r2", Model: "other", Media: 2},
	}, f.used); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]engine.ValidateIn{
		{StepRef: ref, Prompt: "p", Answer: "a3"}, {StepRef: ref, Prompt: "p", Answer: "a4", Last: true},
	}, f.validated); diff != "" {
		t.Errorf("validations (-want +got):\n%s", diff)
	}
	if len(f.commits) != 1 || f.commits[0].Cache != nil {
		t.Errorf("commits: %+v; an answer after tools is not kept", f.commits)
	}
	if diff := cmp.Diff(turns, out.Steps[0].Turns); diff != "" {
		t.Errorf("turns of the record (-want +got):\n%s", diff)
	}
}

// A model that says it calls a tool and calls none has not answered.
func TestRunWorkflow_toolUseWithoutCall(t *testing.T) {
	t.Parallel()
	s := &script{answers: map[string]any{engine.ActivityGenerate: engine.GenerateOut{Stop: engine.StopToolUse, Answer: "a"}}}
	out := engine.RunWorkflow(s, engine.Pinned{Steps: []engine.PinnedStep{{Name: "a"}}})
	if out.Status != engine.Truncated || out.Failure.Code != failure.Incomplete {
		t.Errorf("got %s %+v; want incomplete_answer", out.Status, out.Failure)
	}
}

// What a conversation meets with each call is said once.
func TestRunWorkflow_conversationSaysOnce(t *testing.T) {
	t.Parallel()
	f := &talker{warnings: []string{"it was sent again"}}
	for i := range 5 {
		f.lost = append(f.lost, engine.Omission{File: fmt.Sprintf("p%d.png", i), Step: "text", Reason: "image_count"})
	}
	step := engine.RunWorkflow(f, engine.Pinned{Steps: []engine.PinnedStep{{Name: "a", JSON: true, Repairs: 1}}}).Steps[0]
	if want := []string{"5 files, p0.png to p4.png: its text alone (image_count)"}; !slices.Equal(step.Omitted, want) || !slices.Equal(step.Warnings, f.warnings) {
		t.Errorf("omitted are %q, want %q; warnings %q", step.Omitted, want, step.Warnings)
	}
}

// A picture in a tool's result that could not be sent is named with its place, unless the prompt named it.
func TestRunWorkflow_placesPicturesOfTools(t *testing.T) {
	t.Parallel()
	f := &talker{
		lost:     []engine.Omission{{File: "p.png", Step: "line"}, {File: "own.png", Step: "line", Note: "Input.md", Line: 1}, {File: "asked.png", Step: "text"}},
		pictures: []engine.GivenPicture{{Name: "p.png", Note: "Read.md", Line: 7}, {Name: "own.png", Note: "Read.md", Line: 9}, {Name: "asked.png"}},
	}
	step := engine.RunWorkflow(f, engine.Pinned{Steps: []engine.PinnedStep{{Name: "a", JSON: true, Repairs: 1}}}).Steps[0]
	want := []string{"Read.md:7: p.png: its name alone", "Input.md:1: own.png: its name alone", "asked.png: its text alone"}
	if diff := cmp.Diff(want, step.Omitted); diff != "" {
		t.Error(diff)
	}
}
