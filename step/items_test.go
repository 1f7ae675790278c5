package step

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/workflow"
)

func names(batches [][]engine.Item) [][]string {
	var all [][]string
	for _, batch := range batches {
		var list []string
		for _, it := range batch {
			list = append(list, it.Name)
		}
		all = append(all, list)
	}
	return all
}

func TestExpand_files(t *testing.T) {
	t.Parallel()
	each := &directives.ForEach{Target: fileTarget("in/*.md"), Batch: 3, Selection: directives.Selection{Pending: true}}
	w := newWorld(t, map[string]string{"in/p1.md": "1", "in/p2.md": "2", "in/p10.md": "10", "in/p3.md": "3", "out.md": ""}, workflow.Step{Prompt: "x", Set: directives.Set{ForEach: each}})
	ref := w.ref()
	got, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: ref})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"in/p1.md", "in/p2.md", "in/p3.md"}, {"in/p10.md"}}, names(got.Batches)); diff != "" {
		t.Error(diff)
	}
	if it := got.Batches[1][0]; it.SHA256 != sha([]byte("10")) || !it.Pending || it.Value {
		t.Errorf("item %+v: want its digest, and pending", it)
	}
	// What was marked in this content is no item any more; a new content is.
	mark := engine.Mark{Directive: directives.ForEachIndex, Name: "in/p1.md", SHA256: sha([]byte("1"))}
	if err := w.Committed(t.Context(), ref, []engine.Mark{mark}, nil); err != nil {
		t.Fatal(err)
	}
	got, err = w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: ref})
	if diff := cmp.Diff([][]string{{"in/p2.md", "in/p3.md", "in/p10.md"}}, names(got.Batches)); diff != "" || err != nil {
		t.Error(err, diff)
	}
	w.vault.Put("in/p1.md", "new")
	got, err = w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: ref})
	if err != nil || len(got.Batches) != 2 || got.Batches[0][0].Name != "in/p1.md" {
		t.Errorf("after an edit: %v, %v", names(got.Batches), err)
	}
}

func TestExpand_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{ForEach: &directives.ForEach{Target: fileTarget("in/*.md")}}})
	got, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: w.ref()})
	if err != nil || len(got.Batches) != 0 || len(got.Warnings) != 1 {
		t.Errorf("got %+v, %v, want no batch and a warning", got, err)
	}
}

func TestExpand_permission(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"secret/a.md": "1"}, workflow.Step{Prompt: "x", Set: directives.Set{ForEach: &directives.ForEach{Target: fileTarget("secret/*.md")}}})
	w.plan.Meta.Permissions.Read = []string{"open/**"}
	if _, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: w.ref()}); code(err) != failure.Permission {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestExpand_variable(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 100)
	tests := []struct {
		name, value string
		want        [][]string
		code        failure.Code
	}{
		{"texts and objects", `["a b", {"z": 1, "a": [2]}, 3, null]`, [][]string{{"a b", `{"z":1,"a":[2]}`}, {"3", "null"}}, ""},
		{"in a fence", "Here:\n```json\n[\"x\"]\n```", [][]string{{"x"}}, ""},
		{"long entries are clipped in the record", `["` + long + `"]`, [][]string{{strings.TrimSpace(long)[:maxItemLine-1] + "…"}}, ""},
		{"empty list", "[]", nil, ""},
		{"no list", `{"a": 1}`, nil, failure.Input},
		{"no JSON", "words", nil, failure.Input},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{ForEach: &directives.ForEach{Target: variableTarget("list"), Batch: 2}}})
			got, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: w.ref(), Vars: []engine.Var{{Name: "list", Digest: w.put(tt.value)}}})
			if code(err) != tt.code {
				t.Fatalf("got %v, want code %q", err, tt.code)
			}
			if diff := cmp.Diff(tt.want, names(got.Batches)); diff != "" {
				t.Error(diff)
			}
			for _, batch := range got.Batches {
				for _, it := range batch {
					if !it.Value || it.Name != long && !strings.HasSuffix(it.Name, "…") && w.text(it.SHA256) != it.Name {
						t.Errorf("item %+v holds %q", it, w.text(it.SHA256))
					}
				}
			}
		})
	}
	w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{ForEach: &directives.ForEach{Target: variableTarget("list")}}})
	if got, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: w.ref()}); err != nil || len(got.Batches) != 0 {
		t.Errorf("a variable that is not set: %+v, %v", got, err)
	}
}

func TestItem_name(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a/b/Note one.md": "Note one", "a/.hidden": ".hidden", "noext": "noext", "v1.2.md": "v1.2",
	} {
		if got := (item{engine.Item{Name: text}, text}).name(); got != want {
			t.Errorf("file %q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"../../etc/passwd": "etc passwd", "a: b?": "a b", "": "item", "[[X|y]]": "X y", "two\nlines": "two lines", "...": "item",
		strings.Repeat("é", 200): strings.Repeat("é", maxItemName),
	} {
		if got := (item{engine.Item{Value: true}, text}).name(); got != want {
			t.Errorf("entry %q: %q, want %q", text, got, want)
		}
	}
}

// eachStep is a step over files with all the ways to name its items.
func eachStep() workflow.Step {
	return workflow.Step{Prompt: "Look at {{pages}} now.", Set: directives.Set{ForEach: &directives.ForEach{Target: fileTarget("in/*.md"), Batch: 2, As: "pages"}, Inputs: []directives.Input{{Target: fileTarget("side/{item-name}-{batch}.txt")}}, Outputs: []directives.Output{{Target: fileTarget("out/{item-name} of {batch}")}}}}
}

func TestBatch_itemsInPromptAndNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"in/a.md": "Alpha text", "in/b.md": "Beta text", "in/c.md": "Gamma text", "side/a-1.txt": "beside a", "side/b-1.txt": "beside b", "side/c-2.txt": "beside c",
	}, eachStep())
	ref := w.ref()
	expanded, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: ref})
	if err != nil {
		t.Fatal(err)
	}
	ref.Batch, ref.Items = 1, expanded.Batches[0]
	text := w.promptText(w.assembled(ref))
	inOrder(t, text, "Look at", `path="in/a.md"`, "Alpha text", `path="in/b.md"`, "Beta text", "now.", "beside a", "beside b")
	if strings.Contains(text, "Gamma") || strings.Contains(text, "beside c") {
		t.Errorf("the first batch shows the second:\n%s", text)
	}
	staged, err := w.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: ref, Answer: w.put("Answer"), Attempt: 1})
	if err != nil || len(staged.Files) != 1 || staged.Files[0].Name != "out/a of 1.md" {
		t.Errorf("staged %+v, %v", staged.Files, err)
	}
	ref.Batch, ref.Items = 2, expanded.Batches[1]
	inOrder(t, w.promptText(w.assembled(ref)), "Gamma text", "now.", "beside c")
}

func TestBatch_entriesInPrompt(t *testing.T) {
	t.Parallel()
	step := workflow.Step{Prompt: "Do {{task}}.", Set: directives.Set{ForEach: &directives.ForEach{Target: variableTarget("list"), As: "task"}}}
	w := newWorld(t, nil, step)
	ref, vars := w.ref(), []engine.Var{{Name: "list", Digest: w.put(`["first thing", {"b": 1, "a": 2}]`)}}
	expanded, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: ref, Vars: vars})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"first thing", `{"b":1,"a":2}`} {
		ref.Batch, ref.Items = i+1, expanded.Batches[i]
		inOrder(t, w.promptText(w.assembled(ref, vars...)), "Do ", want)
	}
}

func TestBatch_withoutModel(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"": "Alpha\n\nBeta", "Pages:": "Pages:\n\nAlpha\n\nBeta", "<{{pages}}> and {{other}}": "<Alpha\n\nBeta> and {{other}}",
		"{{ pages }}{{pages}}": "Alpha\n\nBetaAlpha\n\nBeta", "{{pages": "{{pages\n\nAlpha\n\nBeta",
	} {
		step := eachStep()
		step.Prompt, step.Model, step.Inputs = prompt, &directives.Model{None: true}, nil
		w := newWorld(t, map[string]string{"in/a.md": "Alpha\n", "in/b.md": "Beta\n"}, step)
		ref := w.ref()
		ref.Batch, ref.Items = 1, []engine.Item{{Name: "in/a.md"}, {Name: "in/b.md"}}
		if got := w.text(w.assembled(ref).Text); got != want {
			t.Errorf("prompt %q: got %q, want %q", prompt, got, want)
		}
	}
}

func TestPassThrough_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.md": "\n \n"}, workflow.Step{Set: directives.Set{Model: &directives.Model{None: true}, Inputs: []directives.Input{{Target: fileTarget("a")}}}})
	if got := w.assembled(w.ref()); got.Text != "" {
		t.Errorf("blank inputs give the text %q", w.text(got.Text))
	}
}

// inOrder fails unless the parts stand in the text, one behind the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q does not follow in\n%s", part, text)
		}
		rest = after
	}
}
