package step

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

const strange, imported = steptest.Strange, steptest.Imported

// known lets the world keep origins, and records an import at Imported/report.
func (w *world) known() *origin.Book {
	book := steptest.Report(w.t, w.files)
	w.Origin, w.Prompt.Known, w.Prompt.Named = book, Origins{book}.Known, Origins{book}.Named
	return book
}

// person moves a file, as somebody does in a file manager.
func (w *world) person(from, to string) {
	w.files[to] = w.files[from]
	delete(w.files, from)
}

// An output that may not have the name that it gets is refused with the prompt, so that no model is paid for it.
func TestAssemble_refusesOutputs(t *testing.T) {
	t.Parallel()
	const evil = "Imported/report/Obey me.md"
	for note, want := range map[string]string{
		"@for_each file: Imported/**\n@output file: Out/{item-name}/Sum\nx":      "chosen by content from outside",
		"@for_each file: Imported/**\n@output file: Out/{item-name}\nx":          "",
		"@model none\n@for_each file: Imported/**\n@output file: {item-name}\nx": "", // nothing is paid, and staging refuses it
	} {
		w := newWorld(t, nil, workflow.Step{})
		w.known()
		w.plan.Steps = steptest.Steps(t, note)
		ref := w.ref()
		if w.plan.Steps[0].ForEach != nil {
			ref.Batch, ref.Items = 1, []engine.Item{{Name: evil, SHA256: "x"}}
		}
		_, err := w.steps().Assembler.Assemble(t.Context(), engine.AssembleIn{StepRef: ref})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", note, err, want)
		}
	}
}

// Items of an @for_each taint: their content where it is shown, their names where the step speaks of them.
func TestAssemble_originsOfItems(t *testing.T) {
	t.Parallel()
	const evil = "Imported/report/Obey me.md"
	for note, want := range map[string][]string{
		"@for_each file: Imported/** (as=IT)\nSum up {{IT}}":                        {"file " + evil, imported},
		"@for_each file: Imported/**\n@output file: Out/{item-name}\nx":             {"name " + evil, imported},
		"@model none\n@for_each file: Imported/** (as=IT)\n@output file: o\n{{IT}}": {"file " + evil, imported},
		"@for_each file: Imported/**\nx":                                            nil,
	} {
		w := newWorld(t, nil, workflow.Step{})
		w.known()
		w.plan.Steps = steptest.Steps(t, note)
		ref := w.ref()
		ref.Batch, ref.Items = 1, []engine.Item{{Name: evil, SHA256: "x"}}
		out, err := w.steps().Assembler.Assemble(t.Context(), engine.AssembleIn{StepRef: ref})
		if err != nil || !slices.Equal(out.Origins, want) {
			t.Errorf("%q: %q, want %q, %v", note, out.Origins, want, err)
		}
	}
}

// An input that is a link is read only when the workflow may read what it leads to.
func TestResolve_linksNeedPermission(t *testing.T) {
	t.Parallel()
	for target, allowed := range map[string]bool{"../Private/secret.md": false, "other.md": true, "../../outside.md": false} {
		w := newWorld(t, map[string]string{"Private/secret.md": "s", "Plans/other.md": "o"}, workflow.Step{Set: directives.Set{Inputs: steptest.Steps(t, "@input file: Plans/link\nx")[0].Inputs}})
		w.files["Plans/link.md"] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
		w.plan.Meta.Permissions.Read = []string{"Plans/**"}
		out, err := w.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: w.ref()})
		if read := err == nil && len(out.Inputs[0].Files) == 1; read != allowed {
			t.Errorf("%s: allowed %t, got %+v, %v", target, allowed, out.Inputs, err)
		}
	}
}

// What a step's outputs hold is foreign after foreign content, for whoever reads it next, unless a person has seen the text.
func TestCommit_origins(t *testing.T) {
	t.Parallel()
	text := "A model wrote this sentence, and nobody has read it so far.\n"
	for name, tt := range map[string]struct {
		shown []string
		seen  bool
		want  bool
	}{
		"own": {nil, false, false}, "foreign": {[]string{imported}, false, true}, "foreign and seen": {[]string{imported}, true, false},
	} {
		d := newDesk(t, nil, "none")
		book := d.known()
		in := engine.CommitIn{StepRef: d.ref(), Files: []engine.StagedFile{{Name: "Out.md", New: d.put(text), Targets: []string{"output:0"}, Seen: tt.seen}}, Origins: tt.shown}
		if out, err := d.steps().Committer.Commit(t.Context(), in); err != nil || len(out.Written) != 1 {
			t.Fatalf("%s: %+v, %v", name, out, err)
		}
		d.person("Out.md", "Moved.md")
		f, err := book.Of(t.Context(), "Moved.md")
		if err != nil || f.Foreign != tt.want {
			t.Errorf("%s: %+v, want foreign %t, %v", name, f, tt.want, err)
		}
	}
}

// What a prompt was made from is told, routed inputs and inputs without a model too.
func TestAssemble_origins(t *testing.T) {
	t.Parallel()
	for note, want := range map[string][]string{
		"@input file: a\nx":                                                   nil,
		"@input file: Imported/b\nx":                                          {"file Imported/b.md"},
		"@input file: Imported/b (trust=trusted)\nx":                          nil,
		"@input file: Imported/b (output=variable: v)\nx":                     {"file Imported/b.md"},
		"@model none\n@input file: Imported/b\n@output file: Out\nx":          {"file Imported/b.md"},
		"@input variable: v\nx":                                               {"web w"},
		"@for_each variable: list (as=ONE)\nwith {{ONE}}":                     {"web l"},
		"@input file: a\n@input variable: v (trust=trusted)\nx":               nil,
		"@input file: a (trust=untrusted)\n@input variable: v\nx":             {"file a.md", "web w"},
		"@for_each variable: list\nno place for the item in this step's text": nil,
	} {
		d := newDesk(t, map[string]string{"a.md": "mine\n", "Imported/b.md": "theirs\n"}, "none")
		d.plan.Steps = steptest.Steps(t, note)
		ref := d.ref()
		vars := []engine.Var{{Name: "list", Digest: d.put(`["one"]`), Origins: []string{"web l"}}, {Name: "v", Digest: d.put("value"), Origins: []string{"web w"}}}
		if d.plan.Steps[0].ForEach != nil {
			ref.Batch, ref.Items = 1, []engine.Item{{Name: "one", SHA256: d.put(`"one"`), Value: true}}
		}
		found, err := d.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: ref, Vars: vars})
		if err != nil {
			t.Fatal(err)
		}
		for i := range found.Inputs {
			if found.Inputs[i].Variable == "v" && !slices.Equal(found.Inputs[i].Origins, []string{"web w"}) {
				t.Errorf("%q: the variable comes from %q", note, found.Inputs[i].Origins)
			}
		}
		out, err := d.steps().Assembler.Assemble(t.Context(), engine.AssembleIn{StepRef: ref, Inputs: found.Inputs, Vars: vars})
		if err != nil || !slices.Equal(out.Origins, want) {
			t.Errorf("%q: %q, want %q, %v", note, out.Origins, want, err)
		}
	}
}
