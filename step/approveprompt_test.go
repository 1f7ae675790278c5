package step

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// asker is a world whose step asks for its prompt.
type asker struct {
	*world
	*steptest.People
}

func newAsker(t *testing.T, files map[string]string, note string) asker {
	t.Helper()
	w := newWorld(t, files, workflow.Step{})
	w.plan.Steps = steptest.Steps(t, note)
	a := asker{w, &steptest.People{Says: map[string]string{}, By: engine.DecidedCommand}}
	w.Approvals = a.People
	return a
}

// ask asks for the prompt as it was assembled, a second later than before.
func (a asker) ask(ref engine.StepRef, out engine.AssembleOut) (engine.ApproveOut, error) {
	a.t.Helper()
	a.Clock = a.Clock.Add(time.Second)
	in := engine.ApproveIn{StepRef: ref, Prompt: &engine.AskedPrompt{Prompt: out.Prompt, Sketch: out.Sketch}}
	return a.steps().Approver.Approve(a.t.Context(), in)
}

const sends = "send the prompt to seer (lab, seer-1)"

func TestApprove_prompt(t *testing.T) {
	t.Parallel()
	w := newAsker(t, map[string]string{"a.md": "One.\n"}, "@approve prompt (timeout=2d)\n@input file: a\nWhat is it?")
	ref := w.ref()
	first := w.assembled(ref)
	for range 2 { // also after a restart
		if _, err := w.ask(ref, first); !errors.Is(err, engine.ErrParked) || err.Error() != "waits for approval: "+sends {
			t.Fatalf("none was approved: %v", err)
		}
	}
	p := w.Asked[0]
	shown, err := p.Show(t.Context(), w.Get)
	if err != nil || !shown.Whole || !strings.Contains(shown.Text, "none for these files was approved yet\n") || !strings.Contains(shown.Text, "One.\n") || !strings.Contains(shown.Text, "What is it?") {
		t.Errorf("shown %+v, %v", shown, err)
	}
	if nonce := w.stored(first).Nonce; nonce == "" || strings.Contains(shown.Text, nonce) || p.Deadline.IsZero() || p.Fits() == nil {
		t.Errorf("shown with the code %q, until %v: %s", nonce, p.Deadline, shown.Text)
	}
	yes := func(ref engine.StepRef, out engine.AssembleOut) {
		t.Helper()
		if got, err := w.ask(ref, out); err != nil || len(got.Verdicts) != 1 || !got.Verdicts[0].Approved {
			t.Errorf("%+v, %v; want a yes", got, err)
		}
	}
	w.Decide(engine.ProposalApproved, sends)
	yes(ref, first)
	w.Decide("", sends)

	next := ref
	next.Run, next.At = "r2", ref.At.AddDate(0, 0, 1) // another day
	if yes(next, w.assembled(next)); len(w.Asked) != 0 {
		t.Errorf("asked %v for the same prompt", w.Asked)
	}
	about := next
	about.Subject = []string{"b.md"}
	if _, err := w.ask(about, w.assembled(about)); !errors.Is(err, engine.ErrParked) || len(w.Asked[0].Differences) != 0 || w.Asked[0].String() != sends+", about b.md" {
		t.Errorf("about another file: %v, %+v", err, w.Asked)
	}

	w.vault.Put("a.md", "Two.\n")
	changed := w.assembled(next)
	if _, err := w.ask(next, changed); !errors.Is(err, engine.ErrParked) || !slices.Equal(w.Asked[0].Differences, []string{"note changed: a.md"}) {
		t.Errorf("changed: %v, %+v", err, w.Asked)
	}
	w.vault.Put("a.md", "Three.\n")
	w.Decide(engine.ProposalApproved, sends)
	if got, err := w.ask(next, changed); err != nil || len(got.Verdicts) != 0 || !slices.Equal(got.Outdated, []string{"note changed: a.md"}) {
		t.Errorf("approved what it is not any more: %+v, %v", got, err)
	}
	w.Decide(engine.ProposalRejected, sends)
	if got, err := w.ask(next, changed); err != nil || len(got.Outdated) != 0 || got.Verdicts[0].Approved {
		t.Errorf("rejected: %+v, %v", got, err)
	}
	w.vault.Put("a.md", "One.\n")
	if yes(next, w.assembled(next)); len(w.Asked) != 0 {
		t.Errorf("an outdated prompt counts as approved: asked %v", w.Asked)
	}
}

// What the fallback would be sent is part of what is approved.
func TestApprove_promptOfFallback(t *testing.T) {
	t.Parallel()
	w := newAsker(t, map[string]string{"a.md": "One.\n"}, "@approve prompt\n@model seer (fallback=other)\n@input file: a\nx")
	other := w.models["seer"]
	other.Alias, other.ID = "other", "other-1"
	w.models["other"] = other
	ref := w.ref()
	w.Decide(engine.ProposalApproved, sends)
	first := w.assembled(ref)
	if got, err := w.ask(ref, first); err != nil || !got.Verdicts[0].Approved {
		t.Fatalf("%+v, %v", got, err)
	}
	if shown, err := w.Asked[0].Show(t.Context(), w.Get); err != nil || strings.Count(shown.Text, "One.\n") != 2 {
		t.Errorf("shown %+v, %v", shown, err)
	}
	w.Decide("", sends)
	other.ID = "other-2"
	w.models["other"] = other
	want := []string{"text added: the prompt for the fallback other (lab, other-2)", "text removed: the prompt for the fallback other (lab, other-1)"}
	if _, err := w.ask(ref, w.assembled(ref)); !errors.Is(err, engine.ErrParked) || !slices.Equal(w.Asked[0].Differences, want) {
		t.Errorf("%v, %q", err, w.Asked[0].Differences)
	}
}

// A prompt that was approved is sent as it was, or not at all.
func TestGenerate_approved(t *testing.T) {
	t.Parallel()
	var drawing bytes.Buffer
	if err := png.Encode(&drawing, image.NewGray(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	for _, directive := range []string{"", "@approve prompt\n"} {
		w := newAsker(t, map[string]string{"p.png": drawing.String()}, directive+"@input file: p.png\nSee")
		approved := directive != ""
		out := w.assembled(w.ref())
		w.Reply = func(r llm.Request) (*llm.Response, error) {
			if len(w.Requests) == 1 {
				return nil, &llm.Error{Class: llm.ClassUnsupportedMedia, Message: "no image input"}
			}
			return steptest.Says("Good")(r)
		}
		generate := func() error {
			_, err := w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: w.ref(), Prompt: out.Prompt, Model: out.Model})
			return err
		}
		if err := generate(); (err != nil) != approved || len(w.Requests) == 1 != approved {
			t.Errorf("approved %t: refused by the service: %v, %d requests", approved, err, len(w.Requests))
		}
		w.vault.Put("p.png", "another")
		w.Reply = func(r llm.Request) (*llm.Response, error) {
			for _, b := range r.Messages[0].Blocks {
				if content.IsMedia(b) {
					_, _, _ = r.Media.Load(t.Context(), b) // what an adapter does with the error is its own matter
				}
			}
			return steptest.Says("Good")(r)
		}
		if err := generate(); (code(err) == failure.Conflict) != approved || !approved && err != nil {
			t.Errorf("approved %t: the picture changed: %v", approved, err)
		}
	}
}
