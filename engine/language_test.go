package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

func TestPinSteps_wholeLanguage(t *testing.T) {
	t.Parallel()
	variable := directives.Target{Scheme: directives.SchemeVariable, Path: "v"}
	for _, c := range []struct {
		name string
		step workflow.Step
		want engine.PinnedStep
	}{
		{"nothing", workflow.Step{}, engine.PinnedStep{}},
		{"conditions", workflow.Step{Set: directives.Set{When: []directives.When{{Test: directives.WhenExists}}}}, engine.PinnedStep{When: true}},
		{"items", workflow.Step{Set: directives.Set{ForEach: &directives.ForEach{Parallel: 3, OnError: "skip"}}}, engine.PinnedStep{ForEach: &engine.PinnedForEach{Parallel: 3, Skip: true}}},
		{"items, stop", workflow.Step{Set: directives.Set{ForEach: &directives.ForEach{OnError: "stop"}}}, engine.PinnedStep{ForEach: &engine.PinnedForEach{}}},
		{"schema", workflow.Step{Set: directives.Set{Schema: &directives.Schema{Retries: 1}}}, engine.PinnedStep{JSON: true, Repairs: 1}},
		{"schema without repair", workflow.Step{Set: directives.Set{Schema: &directives.Schema{}}}, engine.PinnedStep{JSON: true}},
		{
			"JSON output",
			workflow.Step{Set: directives.Set{Outputs: []directives.Output{{}, {Format: directives.FormatJSON}}}},
			engine.PinnedStep{Outputs: 2, JSON: true, Repairs: directives.DefaultSchemaRetries},
		},
		{"YAML output", workflow.Step{Set: directives.Set{Outputs: []directives.Output{{Format: directives.FormatYAML}}}}, engine.PinnedStep{Outputs: 1}},
		{
			"no model",
			workflow.Step{Set: directives.Set{Model: &directives.Model{None: true}, Outputs: []directives.Output{{Format: directives.FormatJSON}}, Cache: &directives.Cache{}}},
			engine.PinnedStep{NoModel: true, Outputs: 1},
		},
		{"cache", workflow.Step{Set: directives.Set{Cache: &directives.Cache{Until: directives.CacheDaily}}}, engine.PinnedStep{Cache: true}},
		{"timeout", workflow.Step{Set: directives.Set{Timeout: &directives.Timeout{For: time.Minute}}}, engine.PinnedStep{Timeout: time.Minute}},
		{"variable", workflow.Step{Set: directives.Set{Outputs: []directives.Output{{Target: variable}}}}, engine.PinnedStep{Outputs: 1, Sets: true}},
		{"routed variable", workflow.Step{Set: directives.Set{Inputs: []directives.Input{{Route: &directives.Route{Target: &variable}}}}}, engine.PinnedStep{Sets: true}},
	} {
		got := engine.PinSteps(&workflow.Plan{Steps: []workflow.Step{c.step}})
		if diff := cmp.Diff([]engine.PinnedStep{c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// The order of a step, as the language's page has it.
func TestRunWorkflow_orderOfAStep(t *testing.T) {
	t.Parallel()
	s := &script{answers: map[string]any{
		engine.ActivityWhen:     engine.WhenOut{Marks: []engine.Mark{{Directive: -2, Name: "m"}}},
		engine.ActivityExpand:   engine.ExpandOut{Batches: [][]engine.Item{{{Name: "x"}}}, Warnings: []string{"w"}},
		engine.ActivityAssemble: engine.AssembleOut{Prompt: "p", Model: "m"},
		engine.ActivityGenerate: engine.GenerateOut{Answer: "a", Stop: engine.StopEnd},
		engine.ActivityStage:    engine.StageOut{Files: []engine.StagedFile{{Name: "a.md", New: "n", Targets: []string{"output:0"}}}},
	}}
	out := engine.RunWorkflow(s, engine.Pinned{Workflow: "w", At: saturday, Steps: []engine.PinnedStep{{
		Name: "a", Outputs: 1, Limited: true, Days: []time.Weekday{time.Saturday}, When: true, ForEach: &engine.PinnedForEach{}, JSON: true, Cache: true,
	}}})
	want := []string{"when a", "expand a", "resolve a", "assemble a", "generate a", "validate a", "stage a", "commit a", "commit a"}
	if diff := cmp.Diff(want, s.asked); diff != "" || out.Status != engine.Done {
		t.Errorf("%s (%s) (-want +got):\n%s", out.Status, out.Reason, diff)
	}
	if got := out.Steps[0].Warnings; !slices.Equal(got, []string{"w"}) {
		t.Errorf("warnings %v", got)
	}
}

// A run that an older version accepted is not told what it has spent: its records know nothing of that.
func TestRunWorkflow_spentSoFar(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]float64{0: 0, engine.BodyVersion: 0.5} {
		f := &spender{}
		engine.RunWorkflow(f, engine.Pinned{Body: version, Steps: []engine.PinnedStep{{Name: "a"}, {Name: "b"}}})
		if len(f.calls) != 2 || f.calls[0].RunUSD != 0 || f.calls[1].RunUSD != want || f.calls[1].SpentUSD != 0 {
			t.Errorf("version %d: got %+v, want %v told to the second step", version, f.calls, want)
		}
	}
	f := &spender{batches: 3}
	engine.RunWorkflow(f, engine.Pinned{Body: 1, Steps: []engine.PinnedStep{{Name: "a", ForEach: &engine.PinnedForEach{}}}})
	var told []float64
	for _, c := range f.calls {
		told = append(told, c.SpentUSD)
	}
	if diff := cmp.Diff([]float64{0, 0.5, 1}, told); diff != "" {
		t.Errorf("told to the batches (-want +got):\n%s", diff)
	}
}

// spender is a Flow in which every answer costs half a dollar.
type spender struct {
	batches int
	calls   []engine.GenerateIn
}

func (s *spender) Note(engine.Event) {}

func (s *spender) Fork(work func(engine.Flow)) func() engine.Flow {
	work(s)
	return func() engine.Flow { return s }
}

func (s *spender) Do(_ string, in, out any) error {
	switch in := in.(type) {
	case engine.StepIn:
		for i := range s.batches {
			o := out.(*engine.ExpandOut)
			o.Batches = append(o.Batches, []engine.Item{{Name: fmt.Sprint(i)}})
		}
	case engine.GenerateIn:
		s.calls = append(s.calls, in)
		*out.(*engine.GenerateOut) = engine.GenerateOut{Answer: "a", Stop: engine.StopEnd, Usage: cost.Usage{CostUSD: 0.5}}
	}
	return nil
}

func TestStepRecord_put(t *testing.T) {
	t.Parallel()
	var r engine.StepRecord
	file := func(name, before, after string) engine.Output {
		return engine.Output{Kind: "file", Name: name, Before: before, After: after}
	}
	r.Put(engine.BatchRecord{Batch: 2, WorkRecord: engine.WorkRecord{Usage: cost.Usage{InputTokens: 2}, Outputs: []engine.Output{file("a.md", "1", "2"), {Kind: "variable", Name: "v", After: "y"}}}})
	r.Put(engine.BatchRecord{Batch: 1, WorkRecord: engine.WorkRecord{Usage: cost.Usage{InputTokens: 1}, Omitted: []string{"c1 x"}}})
	r.Put(engine.BatchRecord{Batch: 1, WorkRecord: engine.WorkRecord{Usage: cost.Usage{InputTokens: 5}, Omitted: []string{"c1 x"}, Outputs: []engine.Output{file("a.md", "", "1"), {Kind: "variable", Name: "v", After: "x"}}}})
	r.Put(engine.BatchRecord{Batch: 3, WorkRecord: engine.WorkRecord{Outputs: []engine.Output{file("a.md", "person", "3"), file("b.md", "", "4")}}})
	want := []engine.Output{file("a.md", "", "2"), {Kind: "variable", Name: "v", After: "y"}, file("a.md", "person", "3"), file("b.md", "", "4")}
	if diff := cmp.Diff(want, r.Outputs); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	if len(r.Batches) != 3 || r.Batches[0].Batch != 1 || r.Usage.InputTokens != 7 || len(r.Omitted) != 1 {
		t.Errorf("got %d batches, %d tokens, omitted %v; want 3, 7, one line", len(r.Batches), r.Usage.InputTokens, r.Omitted)
	}
	if works := r.Works(); len(works) != 3 {
		t.Errorf("works: %d, want the batches", len(works))
	}
	single := engine.StepRecord{WorkRecord: engine.WorkRecord{Answer: "a", Prompt: "p", Usage: cost.Usage{InputTokens: 1}}}
	if works := single.Works(); len(works) != 1 || works[0].Batch != 0 || works[0].Answer != "a" || works[0].Prompt != "p" {
		t.Errorf("works of a step without items: %+v", works)
	}
}

func TestBatchRecord_itemsText(t *testing.T) {
	t.Parallel()
	for want, items := range map[string][]string{"": nil, "a": {"a"}, "a, b, c": {"a", "b", "c"}, "a, b, c and 2 more": {"a", "b", "c", "d", "e"}} {
		if got := (engine.BatchRecord{Items: items}).ItemsText(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Every field of a batch's record either reaches the step's record or belongs to the batch alone: a new field has to be
// named here or summed.
func TestStepRecord_sumsEachFieldOfItsBatches(t *testing.T) {
	t.Parallel()
	own := []string{"Status", "Reason", "Started", "Finished", "Cached", "Prompt", "Receipt", "Turns", "Answer", "Raw", "Warnings", "Failure", "Sent"}
	var b engine.BatchRecord
	fill(reflect.ValueOf(&b.WorkRecord).Elem())
	var step engine.StepRecord
	step.Put(b)
	got, want := reflect.ValueOf(step.WorkRecord), reflect.ValueOf(b.WorkRecord)
	for i := range want.NumField() {
		name := want.Type().Field(i).Name
		switch {
		case slices.Contains(own, name):
			if !got.Field(i).IsZero() {
				t.Errorf("%s of a batch reached the step: %v", name, got.Field(i))
			}
		case !reflect.DeepEqual(got.Field(i).Interface(), want.Field(i).Interface()):
			t.Errorf("%s of the step: got %v, want %v", name, got.Field(i), want.Field(i))
		}
	}
}

// fill sets every field to something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	default:
		v.SetInt(1)
	}
}
