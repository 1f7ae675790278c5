package engine_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

// stranger is a Flow whose first step is shown something untrusted, uses tools twice, and writes a file and variables. The
// further steps read those.
type stranger struct {
	script
	used      []engine.UseToolsIn
	assembled []engine.AssembleIn
	shared    []engine.Var
	commits   []engine.CommitIn
}

func (f *stranger) Do(activity string, in, out any) error {
	switch in := in.(type) {
	case engine.ResolveIn:
		if in.Step == "first" {
			return nil
		}
		*out.(*engine.ResolveOut) = engine.ResolveOut{Inputs: []engine.ResolvedInput{
			{Directive: 0, Variable: "v", Digest: "d1"},
			{Directive: 1, Variable: "v", Digest: "set since"},
			{Directive: 2, Files: []engine.ResolvedFile{{Name: "out.md"}}},
			{Directive: 3, Files: []engine.ResolvedFile{{Name: "Other.md"}}},
		}}
	case engine.AssembleIn:
		f.assembled = append(f.assembled, in)
		a := engine.AssembleOut{Prompt: "p", Model: "m"}
		if in.Step == "first" {
			a.Origins = []string{"file Imported/a.md"}
		}
		for _, input := range in.Inputs {
			a.Origins = append(a.Origins, input.Origins...)
		}
		*out.(*engine.AssembleOut) = a
	case engine.GenerateIn:
		g := engine.GenerateOut{Raw: "r", Stop: engine.StopToolUse}
		if len(in.Turns) == 2 || in.Step != "first" {
			g = engine.GenerateOut{Raw: "r", Stop: engine.StopEnd, Answer: "a"}
		}
		*out.(*engine.GenerateOut) = g
	case engine.UseToolsIn:
		f.used = append(f.used, in)
		*out.(*engine.UseToolsOut) = engine.UseToolsOut{Reply: "x", Origins: []string{"web https://example.org/"}}
	case engine.StageIn:
		if in.Step == "first" {
			*out.(*engine.StageOut) = engine.StageOut{
				Files: []engine.StagedFile{{Name: "Out.md", New: "n", Targets: []string{"output:0"}}},
				Vars:  []engine.StagedVar{{Name: "v", Digest: "d1", Target: "output:1"}, {Name: "w", Digest: "d2", Shared: true, Target: "output:2"}},
			}
		}
	case engine.CommitIn:
		f.shared, f.commits = append(f.shared, in.Shared...), append(f.commits, in)
		*out.(*engine.CommitOut) = engine.CommitOut{Written: in.Files}
	case engine.ApproveIn:
		var verdicts []engine.Verdict
		for _, file := range in.Files {
			verdicts = append(verdicts, engine.Verdict{Name: file.Name, Before: file.Base, After: file.New, Approved: true, By: engine.DecidedCommand})
		}
		*out.(*engine.ApproveOut) = engine.ApproveOut{Verdicts: verdicts}
	default:
		return f.script.Do(activity, in, out)
	}
	return nil
}

func (f *stranger) Fork(func(engine.Flow)) func() engine.Flow { panic("no step has items") }

// What a step was shown of strangers goes on to its tools, its record, its variables and its files, and from these to the
// steps that read them.
func TestRunWorkflow_origins(t *testing.T) {
	t.Parallel()
	f := &stranger{}
	out := engine.RunWorkflow(f, engine.Pinned{Steps: []engine.PinnedStep{{Name: "first", Outputs: 3}, {Name: "second"}, {Name: "third"}}})
	if out.Status != engine.Done {
		t.Fatalf("got %s (%s)", out.Status, out.Reason)
	}
	all := []string{"file Imported/a.md", "web https://example.org/"}
	if len(f.used) != 2 || !slices.Equal(f.used[0].Origins, all[:1]) || !slices.Equal(f.used[1].Origins, all) {
		t.Errorf("tools knew of %+v", f.used)
	}
	for i, s := range out.Steps {
		if !slices.Equal(s.Origins, all) {
			t.Errorf("step %d: record has %q", i, s.Origins)
		}
	}
	if diff := cmp.Diff([]engine.Var{{Name: "w", Digest: "d2", Origins: all}}, f.shared); diff != "" {
		t.Errorf("kept for later runs (-want +got):\n%s", diff)
	}
	for _, in := range f.assembled[1:] {
		for i, want := range [][]string{all, nil, all, nil} {
			if got := in.Inputs[i].Origins; !slices.Equal(got, want) {
				t.Errorf("%s: input %d comes from %q, want %q", in.Step, i, got, want)
			}
		}
		if !slices.ContainsFunc(in.Vars, func(v engine.Var) bool { return v.Name == "v" && slices.Equal(v.Origins, all) }) {
			t.Errorf("%s: variables %+v", in.Step, in.Vars)
		}
	}
}

// A commit is told where its text comes from, so that other runs know it. What a person approved is theirs, for the steps that
// follow too; a run of an earlier version asks for what it asked for then.
func TestRunWorkflow_originsOfWrites(t *testing.T) {
	t.Parallel()
	all := []string{"file Imported/a.md", "web https://example.org/"}
	for name, tt := range map[string]struct {
		body     int
		approves bool
		told     []string
		next     []string
	}{
		"not approved": {engine.BodyVersion, false, all, all},
		"approved":     {engine.BodyVersion, true, all, nil},
		"older":        {3, false, nil, all},
	} {
		f := &stranger{}
		out := engine.RunWorkflow(f, engine.Pinned{Body: tt.body, Steps: []engine.PinnedStep{{Name: "first", Outputs: 3, ApproveOutputs: tt.approves}, {Name: "second"}}})
		if out.Status != engine.Done {
			t.Fatalf("%s: got %s (%s)", name, out.Status, out.Reason)
		}
		if c := f.commits[0]; !slices.Equal(c.Origins, tt.told) || c.Files[0].Seen != tt.approves {
			t.Errorf("%s: the commit knew of %q, seen %t", name, c.Origins, c.Files[0].Seen)
		}
		if got := f.assembled[1].Inputs[2].Origins; !slices.Equal(got, tt.next) {
			t.Errorf("%s: the file comes from %q, want %q", name, got, tt.next)
		}
	}
}
