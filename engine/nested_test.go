package engine_test

import (
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

// asking is a stranger whose tools start runs: each of the two rounds of its first step one for half a dollar, which writes
// Other.md.
type asking struct {
	stranger
	generated []engine.GenerateIn
}

func (f *asking) Do(activity string, in, out any) error {
	if in, ok := in.(engine.GenerateIn); ok {
		f.generated = append(f.generated, in)
	}
	err := f.stranger.Do(activity, in, out)
	if used, ok := out.(*engine.UseToolsOut); ok {
		used.NestedUSD, used.NestedFiles = 0.5, []string{"Other.md"}
	}
	return err
}

// What nested runs cost counts for the step and the run, and what they wrote is as untrusted as the step that asked; all
// steps of a run that was asked for by such a step begin as untrusted.
func TestRunWorkflow_nested(t *testing.T) {
	t.Parallel()
	f := &asking{}
	handed := []string{"mcp srv.say"}
	out := engine.RunWorkflow(f, engine.Pinned{
		Body: engine.BodyVersion, Origins: handed, Steps: []engine.PinnedStep{{Name: "first", Outputs: 3}, {Name: "second"}},
	})
	if out.Status != engine.Done || out.Steps[0].NestedUSD != 1 || out.Steps[0].Usage.CostUSD != 0 {
		t.Fatalf("got %s (%s), $%v nested, $%v own", out.Status, out.Reason, out.Steps[0].NestedUSD, out.Steps[0].Usage.CostUSD)
	}
	var spent, before []float64
	for _, in := range f.generated {
		spent, before = append(spent, in.SpentUSD), append(before, in.RunUSD)
	}
	if !slices.Equal(spent, []float64{0, 0.5, 1, 0}) || !slices.Equal(before, []float64{0, 0, 0, 1}) {
		t.Errorf("calls were told that the step has spent %v, and the run before it %v", spent, before)
	}
	all := []string{"mcp srv.say", "file Imported/a.md", "web https://example.org/"}
	if got := f.assembled[1].Inputs[3].Origins; !slices.Equal(got, all) {
		t.Errorf("the file of a nested run comes from %q, want %q", got, all)
	}
	if !slices.Equal(f.used[0].Origins, all[:2]) || !slices.Equal(out.Steps[1].Origins[:1], handed) {
		t.Errorf("what was handed on: tools knew of %q, the second step of %q", f.used[0].Origins, out.Steps[1].Origins)
	}
}
