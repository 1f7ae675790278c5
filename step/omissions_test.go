package step

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// A picture that needs the worker is not sent without one, and the run reports what to do about it.
func TestGenerate_whyMediaAreOmitted(t *testing.T) {
	t.Parallel()
	const name = "Imported/scan/p.png"
	image := directives.Input{Target: fileTarget(name)}
	w := newWorld(t, map[string]string{name: grey(t, 80, 60)}, workflow.Step{Prompt: "See", Set: directives.Set{Inputs: []directives.Input{image}, Model: &directives.Model{Alias: "seer"}}})
	w.Config.Media = media.Source{FS: w.files, ImportedDir: "Imported"}
	w.Reply = func(r llm.Request) (*llm.Response, error) {
		answer, err := steptest.Says("seen")(r)
		for _, b := range r.Messages[0].Blocks {
			if _, _, bad := r.Media.Load(t.Context(), b); bad != nil && b.Type() == "image" {
				answer.Omitted = append(answer.Omitted, name)
			}
		}
		return answer, err
	}
	got, err := w.ask(w.ref())
	if err != nil || len(got.Lost) != 1 {
		t.Fatalf("%+v, %v", got.Lost, err)
	}
	if why := got.Lost[0].Reason; !strings.Contains(why, "worker") || !strings.Contains(why, "vaultflow doctor") || strings.Contains(why, name) {
		t.Errorf("the reason is %q", why)
	}
}
