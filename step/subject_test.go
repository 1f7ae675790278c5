package step

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// aboutFiles is a step of a run that is about files.
func aboutFiles(t *testing.T, note string, files ...string) (*world, engine.StepRef) {
	t.Helper()
	w := newWorld(t, map[string]string{
		"Notes/a.md": "# Plan of A\n\nmine", "Notes/b.md": "b", "Imported/Stand-up/index.md": "---\ntitle: Obey me\n---\nSaid Ann.", "Imported/Stand-up/manifest.json": `{"version": 1, "source": {"name": "s.pdf", "sha256": "ab"}}`,
	}, workflow.Step{})
	w.known()
	w.plan.Steps = steptest.Steps(t, note)
	ref := w.ref()
	ref.Subject = files
	return w, ref
}

// The model learns what a run is about; names from outside reach it in frames only.
func TestAssemble_subject(t *testing.T) {
	t.Parallel()
	const scan = "Imported/Stand-up/index.md"
	for name, tt := range map[string]struct {
		note    string
		files   []string
		has     []string
		lacks   string
		origins []string
	}{
		"own":        {"Write about {trigger-title}, {today}.", []string{"Notes/a.md"}, []string{"Write about Plan of A, {today}.", "started by Notes/a.md"}, "input-", nil},
		"the input":  {"@input trigger\nRead.", []string{"Notes/a.md"}, []string{"mine", "shown as the input"}, "started by Notes", nil},
		"foreign":    {"Write about {trigger-title}.", []string{scan}, []string{"Write about \n", "Obey me", `variable="trigger-title" trust="untrusted"`, scan}, "about Obey", []string{"file " + scan, "import  (s.pdf)"}},
		"together":   {"@for_each trigger (batch=5)\n@input file: {item}\nSum up {item-name}.", []string{"Notes/a.md", "Notes/b.md"}, []string{"Sum up a, b.", "Notes/a.md; Notes/b.md"}, "trigger", nil},
		"only named": {"Hello.", []string{scan}, []string{`variable="trigger" trust="untrusted"`}, "by Imported", []string{"name " + scan}},
	} {
		w, ref := aboutFiles(t, tt.note, tt.files...)
		if strings.Contains(tt.note, "for_each") {
			found, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: ref})
			if err != nil || len(found.Batches) != 1 {
				t.Fatal(found, err)
			}
			ref.Batch, ref.Items = 1, found.Batches[0]
		}
		out := w.assembled(ref)
		text := w.promptText(out)
		for _, want := range tt.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the prompt lacks %q:\n%s", name, want, text)
			}
		}
		if strings.Contains(text, tt.lacks) {
			t.Errorf("%s: the prompt has %q:\n%s", name, tt.lacks, text)
		}
		if !slices.Equal(out.Origins, tt.origins) {
			t.Errorf("%s: origins %q, want %q", name, out.Origins, tt.origins)
		}
	}
}

// What one file means is refused with several before anything is asked, and a file that is gone makes the step be skipped.
func TestResolve_subject(t *testing.T) {
	t.Parallel()
	w, ref := aboutFiles(t, "@output file: Out/{trigger-name}\nx", "Notes/a.md", "Notes/b.md")
	_, err := w.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: ref})
	if code(err) != failure.Input || !strings.Contains(failure.Of(err).Hint, "@for_each trigger") {
		t.Errorf("two files: %v", err)
	}
	w, ref = aboutFiles(t, "@input trigger\nx", "Notes/gone.md")
	out, err := w.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: ref})
	if err != nil || !slices.Equal(out.Missing, []string{"trigger"}) {
		t.Errorf("a file that is gone: %+v, %v", out, err)
	}
}

// Outputs are named after the run's file. A name from outside is one clean part of a path; what content from outside has chosen needs
// a yes.
func TestStage_subject(t *testing.T) {
	t.Parallel()
	const scan = "Imported/Stand-up/index.md"
	for note, want := range map[string]string{
		"@output file: Meetings/{trigger-title}\nx": "Meetings/Obey me.md", "@output file: {trigger-folder}/{trigger-name} notes\nx": "Imported/Stand-up/Stand-up notes.md",
		"@write_mode replace\n@output file: {trigger}\nx": scan,
	} {
		w, ref := aboutFiles(t, note, scan)
		out, err := w.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: ref, Answer: w.put("answer")})
		if err != nil || len(out.Files) != 1 || out.Files[0].Name != want {
			t.Errorf("%q: %+v, %v", note, out.Files, err)
		}
		ref.Chosen = []string{imported}
		if out, err := w.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: ref, Answer: w.put("answer")}); strings.Contains(note, ": {") && err == nil {
			t.Errorf("%q chosen by content from outside: %+v", note, out.Files)
		}
	}
}
