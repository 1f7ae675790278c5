package step

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

// changing is a world whose step reads the changes of notes.
func changing(t *testing.T, files map[string]string, path string) *world {
	t.Helper()
	return newWorld(t, files, workflow.Step{Prompt: "Work.", Set: directives.Set{Inputs: []directives.Input{{Target: fileTarget(path), Changes: true, Required: true}}}})
}

// finish commits the step with what it found, as the engine does.
func (w *world) finish(ref engine.StepRef) engine.ResolveOut {
	w.t.Helper()
	found, err := w.steps().Resolve(w.t.Context(), engine.ResolveIn{StepRef: ref})
	if err != nil {
		w.t.Fatal(err)
	}
	in := engine.CommitIn{StepRef: ref}
	for _, file := range found.Inputs[0].Files {
		in.Marks = append(in.Marks, engine.Mark{Name: file.Name, SHA256: file.SHA256})
	}
	if _, err := w.steps().Committer.Commit(w.t.Context(), in); err != nil {
		w.t.Fatal(err)
	}
	return found
}

func TestChanges(t *testing.T) {
	t.Parallel()
	w := changing(t, map[string]string{"Log.md": "one\ntwo\nthree\n"}, "Log")
	ref := w.ref()
	holds := func(what string, wants ...string) {
		t.Helper()
		text := w.promptText(w.assembled(ref))
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the prompt does not hold %q:\n%s", what, want, text)
			}
		}
	}
	holds("the first time", `[shown: the whole of Log.md; the step has not finished with it before`, "one\ntwo\nthree\n")
	holds("when it did not finish", "has not finished with it before")
	w.finish(ref)

	w.vault.Put("Log.md", "one\nTWO\nthree\nfour  ")
	holds("after a change", "[shown: the changes of this file since the step last finished", "@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n three\n+four  \n\\ No newline at end of file\n", `path="Log.md"`)
	before := w.finish(ref).Inputs[0].Files[0].Since

	found, err := w.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: ref})
	if err != nil || strings.Join(found.Missing, "|") != "file: Log (no changes)" {
		t.Errorf("without a change the input is found: %+v, %v", found, err)
	}
	holds("without a change", "[unchanged since the step last finished, and not shown: 1 file of ")

	w.plan.Fresh = true
	usual := ref
	ref = w.ref()
	holds("--fresh", "[shown: the whole of")
	ref = usual

	w.vault.Put("Log.md", "five\n")
	w.Forget(sha([]byte("one\nTWO\nthree\nfour  ")))
	holds("past retention", "its content of the last time is no longer kept", "\nfive\n")
	if before != sha([]byte("one\ntwo\nthree\n")) {
		t.Errorf("the second time it was compared with %s", before)
	}
}

func TestChanges_ofSeveral(t *testing.T) {
	t.Parallel()
	w := changing(t, map[string]string{"N/a.md": "a\n", "N/b.md": "b\n", "N/c.png": "\x89PNG\x00"}, "N/*.{md,png}")
	ref := w.ref()
	w.finish(ref)
	if _, err := w.Get(t.Context(), sha([]byte("\x89PNG\x00"))); err == nil {
		t.Error("a picture is kept in the journal")
	}
	w.vault.Put("N/b.md", "B\n")
	w.vault.Put("N/c.png", "\x89PNG\x00\x01")
	w.vault.Put("N/d.md", "d\n")
	text := w.promptText(w.assembled(ref))
	for _, want := range []string{
		"-b\n+B\n", `[shown: the whole of N/c.png; its content of the last time is no longer kept`, `[shown: the whole of N/d.md; the step has not`,
		`not shown: 1 file of N/*.{md,png}]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt does not hold %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, `path="N/a.md"`) {
		t.Errorf("the prompt shows an unchanged file:\n%s", text)
	}
}

// A step without a model passes on the changes alone.
func TestChanges_passedOn(t *testing.T) {
	t.Parallel()
	w := changing(t, map[string]string{"Log.md": "one\n"}, "Log")
	w.plan.Steps[0].Model = &directives.Model{None: true}
	w.plan.Steps[0].Prompt = ""
	ref := w.ref()
	if out := w.assembled(ref); w.text(out.Text) != "one" {
		t.Errorf("the first time it passes on %q", w.text(out.Text))
	}
	w.finish(ref)
	if out := w.assembled(ref); out.Text != "" {
		t.Errorf("without a change it passes on %q", w.text(out.Text))
	}
	w.vault.Put("Log.md", "one\ntwo\n")
	if out := w.assembled(ref); !strings.Contains(w.text(out.Text), " one\n+two\n") {
		t.Errorf("it passes on %q", w.text(out.Text))
	}
}
