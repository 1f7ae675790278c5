package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/workflow"
)

// script is a Flow whose activities answer from a table, by "activity" or "activity step".
type script struct {
	answers map[string]any // an error, or what is returned
	asked   []string
	notes   []engine.Event
}

func (s *script) Do(activity string, in, out any) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	var ref struct{ Step string }
	if err := json.Unmarshal(raw, &ref); err != nil {
		return err
	}
	s.asked = append(s.asked, activity+" "+ref.Step)
	answer, ok := s.answers[activity+" "+ref.Step]
	if !ok {
		answer = s.answers[activity]
	}
	if err, bad := answer.(error); bad {
		return err
	}
	if answer == nil {
		return nil
	}
	raw, err = json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

func (s *script) Note(e engine.Event) { s.notes = append(s.notes, e) }

// Fork does the work of a branch at once.
func (s *script) Fork(work func(engine.Flow)) func() engine.Flow {
	work(s)
	return func() engine.Flow { return s }
}

var saturday = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func TestRunWorkflow_runOn(t *testing.T) {
	t.Parallel()
	steps := []engine.PinnedStep{
		{Name: "weekday", NoModel: true, Limited: true, Days: []time.Weekday{time.Monday, time.Friday}},
		{Name: "saturday", NoModel: true, Limited: true, Days: []time.Weekday{time.Saturday}},
		{Name: "never", NoModel: true, Limited: true},
		{Name: "always", NoModel: true},
	}
	for _, c := range []struct {
		kind engine.TriggerKind
		want []string
	}{
		{engine.TriggerCron, []string{"saturday", "always"}},
		{engine.TriggerWatch, []string{"saturday", "always"}},
		{engine.TriggerManual, []string{"weekday", "saturday", "never", "always"}},
	} {
		s := &script{}
		out := engine.RunWorkflow(s, engine.Pinned{Workflow: "w", At: saturday, Trigger: engine.Trigger{Kind: c.kind}, Steps: steps})
		var ran []string
		for _, step := range out.Steps {
			if step.Status == engine.Done {
				ran = append(ran, step.Step)
			} else if step.Reason == "" {
				t.Errorf("%s: step %s is %s without a reason", c.kind, step.Step, step.Status)
			}
		}
		if diff := cmp.Diff(c.want, ran); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.kind, diff)
		}
	}
}

func TestRunWorkflow_nothingToDo(t *testing.T) {
	t.Parallel()
	out := engine.RunWorkflow(&script{}, engine.Pinned{Workflow: "w"})
	if out.Status != engine.Failed || out.Failure.Code != failure.InvalidWorkflow {
		t.Errorf("no steps: got %+v", out)
	}
	s := &script{}
	out = engine.RunWorkflow(s, engine.Pinned{Workflow: "w", Steps: []engine.PinnedStep{{Name: "a", NoModel: true, Outputs: 1}}})
	if out.Status != engine.Skipped || slices.Contains(s.asked, "stage a") {
		t.Errorf("no text to route: got %s (%s), asked %v; want skipped, nothing staged", out.Status, out.Reason, s.asked)
	}
}

func TestRunWorkflow_forgottenOutput(t *testing.T) {
	t.Parallel()
	s := &script{answers: map[string]any{
		engine.ActivityAssemble: engine.AssembleOut{Text: "d"},
		engine.ActivityStage:    engine.StageOut{Files: []engine.StagedFile{{Name: "a.md", New: "n", Targets: []string{"output:0"}}}},
	}}
	out := engine.RunWorkflow(s, engine.Pinned{Workflow: "w", Steps: []engine.PinnedStep{{Name: "a", NoModel: true, Outputs: 2}}})
	if out.Status != engine.Failed || out.Failure.Code != failure.Output || slices.Contains(s.asked, "commit a") {
		t.Errorf("got %s (%s), asked %v; want failed before the commit", out.Status, out.Reason, s.asked)
	}
}

// A conflict after a part of the files was written must not stage that part again.
func TestRunWorkflow_partlyCommitted(t *testing.T) {
	t.Parallel()
	f := &partial{}
	out := engine.RunWorkflow(f, engine.Pinned{Workflow: "w", Steps: []engine.PinnedStep{{Name: "a", NoModel: true, Outputs: 2}}})
	if out.Status != engine.Done || len(out.Steps[0].Outputs) != 2 {
		t.Errorf("got %s (%s), outputs %v; want both", out.Status, out.Reason, out.Steps[0].Outputs)
	}
	if diff := cmp.Diff([]string{"a.md", "b.md", "b.md"}, f.staged); diff != "" {
		t.Errorf("staged (-want +got):\n%s", diff)
	}
}

// partial is a Flow in which b.md is in conflict once.
type partial struct {
	staged []string
	tries  int
}

func (p *partial) Note(engine.Event) {}

func (p *partial) Fork(func(engine.Flow)) func() engine.Flow { panic("no step has items") }

func (p *partial) Do(_ string, in, out any) error {
	switch in := in.(type) {
	case engine.AssembleIn:
		out.(*engine.AssembleOut).Text = "d"
	case engine.StageIn:
		for i, name := range []string{"a.md", "b.md"} {
			if slices.ContainsFunc(in.Committed, func(f engine.StagedFile) bool { return f.Name == name }) {
				continue
			}
			p.staged = append(p.staged, name)
			out := out.(*engine.StageOut)
			out.Files = append(out.Files, engine.StagedFile{Name: name, New: "n", Targets: []string{fmt.Sprintf("output:%d", i)}})
		}
	case engine.CommitIn:
		out := out.(*engine.CommitOut)
		if p.tries++; p.tries == 1 {
			out.Written, out.Conflicts = in.Files[:1], []string{"b.md"}
			return nil
		}
		out.Written = in.Files
	}
	return nil
}

// Pages that the file lacks are no pages that failed, and another attempt does not help.
func TestRunImport_tellsWhatTheFileLacks(t *testing.T) {
	t.Parallel()
	const lacking = "2 of 4 pages are missing in the file, or part of them: ask for the file again"
	for _, c := range []struct {
		out    engine.ExtractOut
		reason string
		final  bool
	}{
		{engine.ExtractOut{Pages: 4, FailedPages: []int{3}, Lost: []int{2, 3}}, lacking, true},
		{engine.ExtractOut{Pages: 4, Damaged: true}, "the file is damaged or cut off: ask for the file again", true},
		{engine.ExtractOut{Pages: 4, FailedPages: []int{3, 4}, Lost: []int{2, 3}}, "1 of 4 pages failed; " + lacking, false},
		{engine.ExtractOut{Pages: 4, Lost: []int{2, 3}, Unread: []int{1}}, lacking + "; 1 of 4 pages have text that could not be recognised", false},
		{engine.ExtractOut{Pages: 4, FailedPages: []int{1}}, "1 of 4 pages failed", false},
	} {
		got := engine.RunImport(&script{answers: map[string]any{"extract": c.out}}, engine.ImportPlan{Run: "r", Source: "Import/a.pdf"}).Import
		if got.Reason != c.reason || got.Final != c.final {
			t.Errorf("%+v: %q, final: %v", c.out, got.Reason, got.Final)
		}
	}
}

func TestRunImport_endings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers map[string]any
		status  engine.Status
		state   engine.ImportState
		asked   []string
	}{
		{"done", nil, engine.Done, engine.ImportDone, []string{"classify ", "extract ", "publish ", "file "}},
		{"some pages", map[string]any{"extract": engine.ExtractOut{Pages: 3, FailedPages: []int{2}}}, engine.DoneWithOmissions, engine.ImportPartial, []string{"classify ", "extract ", "publish ", "file "}},
		{"duplicate", map[string]any{"classify": engine.ClassifyOut{Duplicate: "r1"}}, engine.Done, engine.ImportDuplicate, []string{"classify ", "file "}},
		{"gone", map[string]any{"classify": engine.ClassifyOut{Gone: true}}, engine.Skipped, engine.ImportCancelled, []string{"classify "}},
		{"password", map[string]any{"extract": failure.New(failure.NeedsPassword, "h", "m")}, engine.Failed, engine.ImportNeedsPassword, []string{"classify ", "extract ", "file "}},
		{"corrupt", map[string]any{"extract": failure.New(failure.Corrupt, "h", "m")}, engine.Failed, engine.ImportFailed, []string{"classify ", "extract ", "file "}},
		{"cancelled", map[string]any{"extract": failure.New(failure.Cancelled, "", "m")}, engine.Cancelled, engine.ImportCancelled, []string{"classify ", "extract "}},
		{"not filed", map[string]any{"file": failure.New(failure.Vault, "", "m")}, engine.DoneWithOmissions, engine.ImportDone, []string{"classify ", "extract ", "publish ", "file "}},
	} {
		s := &script{answers: c.answers}
		out := engine.RunImport(s, engine.ImportPlan{Run: "r", Source: "Import/a.pdf"})
		last := s.notes[len(s.notes)-1]
		if out.Status != c.status || last.State != c.state || last.Import.State != c.state {
			t.Errorf("%s: got %s, %s; want %s, %s", c.name, out.Status, last.State, c.status, c.state)
		}
		if diff := cmp.Diff(c.asked, s.asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	full := map[string]any{"extract": &failure.Error{Code: failure.Vault, Message: "write a: no space", Class: failure.ClassDiskFull, Retryable: true}}
	for where, want := range map[string]engine.ImportState{"": engine.ImportWaiting, "Import/a.pdf": engine.ImportWaiting, "Import/Failed/a.pdf": engine.ImportFailed} {
		out := engine.RunImport(&script{answers: full}, engine.ImportPlan{Source: "Import/a.pdf", Where: where})
		if out.Import.State != want || out.Import.Reason != "the disk is full" {
			t.Errorf("%q: got %s, %q; want %s", where, out.Import.State, out.Import.Reason, want)
		}
	}
	s := &script{answers: map[string]any{"extract": engine.ErrStopped}}
	if out := engine.RunImport(s, engine.ImportPlan{}); out.Status.Finished() || len(s.asked) != 2 {
		t.Errorf("stopped: got %s, asked %v; want an unfinished outcome and nothing more", out.Status, s.asked)
	}
}

func TestViews_beginWithTheirType(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		"run": engine.RunRecord{}, "step": engine.StepRecord{}, "import": engine.ImportRecord{}, "slot": engine.SlotRecord{},
		"workflow": engine.WorkflowStatus{}, "event": engine.Event{}, "diagnostic": diag.Diagnostic{},
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if prefix := `{"type":"` + want + `",`; len(raw) < len(prefix) || string(raw[:len(prefix)]) != prefix {
			t.Errorf("%s: got %s", want, raw)
		}
	}
	in := engine.RunRecord{ID: "r", Workflow: "w", Outputs: []engine.Output{{Kind: "file", Name: "a.md"}}, Steps: []engine.StepRecord{{Step: "s"}}}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out engine.RunRecord
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Errorf("round trip (-want +got):\n%s", diff)
	}
}

func TestPinSteps(t *testing.T) {
	t.Parallel()
	src := "## One\n@run_on monday\n@model none\n@output file: a\n\nx\n\n## Two\n@run_on never\n\nx\n\n## Three\n@run_on daily\n\nx\n"
	p, faults := workflow.Parse("w", "w.md", []byte(src))
	if len(p.Steps) != 3 {
		t.Fatalf("%d steps, %v", len(p.Steps), faults)
	}
	want := []engine.PinnedStep{
		{Name: "One", NoModel: true, Outputs: 1, Limited: true, Days: []time.Weekday{time.Monday}}, {Name: "Two", Limited: true}, {Name: "Three"},
	}
	if diff := cmp.Diff(want, engine.PinSteps(p)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := engine.ReadPlan(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, engine.PinSteps(again)); diff != "" {
		t.Errorf("steps of the pinned plan (-want +got):\n%s", diff)
	}
}
