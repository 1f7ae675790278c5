package enginetest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

const plain = `"outputs":[{},{}]`

func toolRounds(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Talk["a"] = []engine.GenerateOut{w.calling("look at c2"), w.calling("look at c3"), w.says("seen")}
	w.Omitted["a"] = []string{"c2 x.png (deferred): over budget", "c20 y.png (deferred)"}
	w.Shown["a"] = []string{"c2"}
	r := start(t, factory, w, Setup{})
	got := r.run(planOf(plain))
	s := got.Steps[0]
	wantStatus(t, got, engine.DoneWithOmissions)
	if diff := cmp.Diff([]string{"c20 y.png (deferred)"}, s.Omitted); diff != "" {
		t.Errorf("omitted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"raw look at c2, after 0 others", "raw look at c3, after 1 others"}, s.Origins); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
	if w.File("w.md") != "seen\n" || s.Usage.InputTokens != 30 || s.Calls != 3 || len(s.Turns) != 2 || w.blob(s.Turns[0].Reply) != "results of raw look at c2" {
		t.Errorf("wrote %q, %d tokens, %d calls, turns %v", w.File("w.md"), s.Usage.InputTokens, s.Calls, s.Turns)
	}
	w.Talk["a"] = []engine.GenerateOut{w.calling("again")}
	got = r.run(planOf(plain))
	if got.Status != engine.Failed || got.Failure.Code != failure.ToolRounds || got.Steps[0].Calls != 21 {
		t.Errorf("endless calls: got %s %+v after %d calls; want tool_rounds after 21", got.Status, got.Failure, got.Steps[0].Calls)
	}
	w.Talk["a"] = nil
	if err := r.x.Retry(r.ctx, got.ID, engine.RetryFrom{}); err != nil {
		t.Fatal(err)
	}
	if got = r.wait(got.ID); got.Status != engine.DoneWithOmissions || got.Steps[0].Calls != 1 {
		t.Errorf("retry: got %s (%s) after %d calls; want done after one from the prompt on", got.Status, got.Reason, got.Steps[0].Calls)
	}
}

func repairs(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Talk["a"] = []engine.GenerateOut{w.says("sorry"), w.says("hm"), w.says("{} ")}
	r := start(t, factory, w, Setup{})
	schema := `"outputs":[{},{}],"schema":{"inline":{},"retries":%d}`
	got := r.run(planOf(fmt.Sprintf(schema, 2)))
	wantStatus(t, got, engine.Done)
	if s := got.Steps[0]; w.File("w.md") != "{}\n" || s.Calls != 3 || w.blob(s.Turns[1].Reply) != "mend hm" || w.blob(s.Answer) != "{} " {
		t.Errorf("wrote %q after %d calls, turns %v", w.File("w.md"), s.Calls, s.Turns)
	}
	got = r.run(planOf(fmt.Sprintf(schema, 1)))
	if got.Status != engine.Invalid || got.Failure.Code != failure.InvalidAnswer || w.File("w.md") != "{}\n" ||
		got.Failure.Message != "the answer is not valid after 1 repair: no object" || w.blob(got.Steps[0].Answer) != "hm" {
		t.Errorf("got %s %+v, wrote %q; want invalid_answer, nothing written, the answer kept", got.Status, got.Failure, w.File("w.md"))
	}
	w.Talk["a"][1] = w.says("{1}")
	if err := r.x.Retry(r.ctx, got.ID, engine.RetryFrom{}); err != nil {
		t.Fatal(err)
	}
	paid := w.Paid()
	if got = r.wait(got.ID); got.Status != engine.Done || w.Paid() != paid+1 {
		t.Errorf("retry: got %s (%s) with %d calls, want done with one", got.Status, got.Reason, w.Paid()-paid)
	}
	w.Talk["a"] = []engine.GenerateOut{w.says("no JSON"), w.says("{2}")}
	wantStatus(t, r.run(planOf(`"outputs":[{"format":"json"},{}]`)), engine.Done)
}

func cached(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	q := planOf(plain + `,"cache":{"until":"forever"}`)
	wantStatus(t, r.run(q), engine.Done)
	got := r.run(q)
	if s := got.Steps[0]; got.Status != engine.Done || !s.Cached || s.Usage != (cost.Usage{}) || w.Paid() != 1 {
		t.Errorf("second run: got %s, cached %v, usage %+v, %d calls paid; want done from the cache", got.Status, s.Cached, s.Usage, w.Paid())
	}
	if want := "answer to prompt of a\nanswer to prompt of a\n"; w.File("w.md") != want {
		t.Errorf("w.md: %q, want %q", w.File("w.md"), want)
	}
	r.run(planOf(plain))
	if w.Paid() != 2 {
		t.Errorf("%d calls paid after a run without @cache, want 2", w.Paid())
	}
	for name, talk := range map[string][]engine.GenerateOut{
		"tools were used":    {w.calling("look"), w.says("seen")},
		"something was lost": {{Answer: w.put("x"), Stop: engine.StopEnd, Omitted: []string{"x.png: gone"}}},
		"a fallback":         {{Answer: w.put("x"), Stop: engine.StopEnd, Alias: "other"}},
	} {
		w := NewWorld()
		w.Talk["a"] = talk
		r := start(t, factory, w, Setup{})
		r.run(q)
		if len(w.Cache()) != 0 {
			t.Errorf("%s: the answer was kept", name)
		}
		r.stop()
	}
}
