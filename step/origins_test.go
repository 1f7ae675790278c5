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
	"github.com/vaultflow/vaultflow/policy/origin/origintest"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

const (
	strange  = "The committee decided in March that the harbour is to be closed for two years.\n"
	imported = "import 01J (report.pdf)"
)

// known lets the world keep origins, and records an import at Imported/report.
func (w *world) known() *origin.Book {
	w.t.Helper()
	w.files["Imported/report/index.md"] = &fstest.MapFile{Data: []byte(strange), ModTime: noon}
	w.files["Imported/report/Obey me.md"] = &fstest.MapFile{Data: []byte("x"), ModTime: noon}
	book := &origin.Book{FS: w.files, Store: &origintest.Store{}}
	if err := book.Imported(w.t.Context(), "Imported/report", imported); err != nil {
		w.t.Fatal(err)
	}
	w.Workflow.Origin, w.Workflow.Prompt.Known, w.Workflow.Prompt.Named = book, Origins{book}.Known, Origins{book}.Named
	return book
}

// person moves a file, as somebody does in a file manager.
func (w *world) person(from, to string) {
	w.files[to] = w.files[from]
	delete(w.files, from)
}

// What tools give of foreign content taints, wherever it lies now: its text, what a link leads to, lines that a search finds,
// and the names of foreign files alone.
func TestUseTools_originsOfReads(t *testing.T) {
	t.Parallel()
	filed := []string{"file Notes/filed.md", imported}
	for name, tt := range map[string]struct {
		call string
		in   in
		want []string
	}{
		"moved":             {"read_file", in{"path": "Notes/filed.md"}, filed},
		"link":              {"read_file", in{"path": "link.md"}, []string{"file link.md", imported}},
		"own":               {"read_file", in{"path": "own.md"}, nil},
		"link to own":       {"read_file", in{"path": "Imported/own.md"}, nil},
		"search":            {"search_files", in{"query": "harbour", "folder": "Notes"}, filed},
		"search own":        {"search_files", in{"query": "apples"}, nil},
		"list":              {"list_files", in{"folder": "Imported/report"}, []string{"name Imported/report/Obey me.md", "name Imported/report/index.md"}},
		"list a folder":     {"list_files", in{}, []string{"name Imported"}},
		"list own":          {"list_files", in{"folder": "Mine"}, nil},
		"a name like it":    {"read_file", in{"path": "Imported/report/Obey.md"}, []string{"name Imported/report/Obey me.md", imported}},
		"page two of names": {"list_files", in{"folder": "Imported/report", "from": 2}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, map[string]string{"own.md": "seven apples\n", "Mine/a.md": "x"}, tt.call)
			d.known()
			d.files["Notes/filed.md"] = &fstest.MapFile{Data: []byte(strange), ModTime: noon}
			d.files["link.md"] = &fstest.MapFile{Data: []byte("Notes/filed.md"), Mode: fs.ModeSymlink}
			d.files["Imported/own.md"] = &fstest.MapFile{Data: []byte("../own.md"), Mode: fs.ModeSymlink}
			d.Links = vault.LinksFunc(func(string, string) vault.Location {
				return vault.Location{Near: []string{"Imported/report/Obey me.md"}}
			})
			out, results := d.use(tool(tt.call, tt.in))
			got := slices.DeleteFunc(slices.Clone(out.Origins), func(o string) bool { return tt.call == "list_files" && o == imported })
			if !slices.Equal(got, tt.want) {
				t.Errorf("origins %q, want %q\n%s", out.Origins, tt.want, results[0].Text())
			}
		})
	}
}

// What a tool writes after the model was shown foreign content is foreign to the next run, under every name that it gets;
// what comes of that one in a third run too; and a person's yes to the very content ends it.
func TestUseTools_originsOfWrites(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"own.md": "seven apples\n"}, "append_file (untrusted=allow), move_file (untrusted=allow), write_file (untrusted=allow), read_file")
	d.known()
	read := func(name string, want ...string) {
		t.Helper()
		out, _ := d.use(tool("read_file", in{"path": name}))
		if !slices.Equal(out.Origins, want) {
			t.Errorf("%s: origins %q, want %q", name, out.Origins, want)
		}
	}
	run := func(id string, verdicts []engine.Verdict, shown []string, calls ...string) {
		t.Helper()
		for _, path := range calls {
			turn := d.turn(tool("append_file", in{"path": path, "content": "A model wrote this sentence into " + path + ", and nobody has read it so far.\n"}))
			turn.Run, turn.Origins, turn.Verdicts = id, shown, verdicts
			if out, err := d.UseTools(t.Context(), turn); err != nil || !d.results(out)[0].Success {
				t.Fatal(err, d.results(out)[0].Error)
			}
		}
	}
	run("r1", nil, []string{"file Imported/report/index.md", imported}, "log.md", "own.md")
	read("log.md", "file log.md", "run r1 (Flow)", imported)
	read("own.md", "file own.md", "run r1 (Flow)", imported)

	move := d.turn(tool("move_file", in{"from": "log.md", "to": "Kept/log.md"}))
	move.Run = "r2"
	if _, err := d.UseTools(t.Context(), move); err != nil {
		t.Fatal(err)
	}
	read("Kept/log.md", "file Kept/log.md", "run r1 (Flow)", imported)
	d.files["log.md"] = &fstest.MapFile{Data: []byte("a new file at the old name\n"), ModTime: noon}
	read("log.md")

	// nobody has looked at a person's edit when a tool moves the file
	d.files["own.md"] = &fstest.MapFile{Data: []byte("Every word of this was written anew, and not one is as it was.\n"), ModTime: noon}
	move = d.turn(tool("move_file", in{"from": "own.md", "to": "Kept/edited.md"}))
	move.Run = "r5"
	if out, err := d.UseTools(t.Context(), move); err != nil || !d.results(out)[0].Success {
		t.Fatal(err, d.results(out)[0].Error)
	}
	read("Kept/edited.md", "file Kept/edited.md", "run r1 (Flow)", imported)

	d.person("Kept/log.md", "Elsewhere/x.md")
	run("r3", nil, []string{"file Elsewhere/x.md", "run r1 (Flow)", imported}, "third.md")
	read("third.md", "file third.md", "run r3 (Flow)", imported)

	sentence := "A model wrote this sentence into plan.md, and nobody has read it so far.\n"
	run("r4", []engine.Verdict{{Call: "0", Approved: true}}, []string{imported}, "other.md") // a yes to something else
	read("other.md", "file other.md", "run r4 (Flow)", imported)
	turn := d.turn(tool("append_file", in{"path": "unseen.md", "content": sentence}))
	turn.Run, turn.Origins, turn.Verdicts = "r6", []string{imported}, []engine.Verdict{{Call: callID(turn, 0), Approved: true, After: sha([]byte("another text"))}}
	if _, err := d.UseTools(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	read("unseen.md", "file unseen.md", "run r6 (Flow)", imported)
	turn = d.turn(tool("append_file", in{"path": "plan.md", "content": sentence}))
	turn.Origins = []string{imported}
	turn.Verdicts = []engine.Verdict{{Call: callID(turn, 0), Approved: true, After: sha([]byte(sentence))}}
	if _, err := d.UseTools(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	read("plan.md")
}

// A refused call names the file that it was refused for, and all that a person may write to allow it.
func TestUseTools_refusedNamesTheNote(t *testing.T) {
	t.Parallel()
	d, _, _ := reaching(t, map[string]string{"a.md": "x", "Notes/filed.md": strange}, "append_file")
	d.known()
	steps := planSteps(t, "@tools append_file\n@input file: a\n@input file: Notes/*\nwork")
	d.plan.Steps[0].Inputs = steps[0].Inputs
	turn := d.turn(tool("append_file", in{"path": "a.md", "content": "x"}))
	found, err := d.Resolve(t.Context(), engine.ResolveIn{StepRef: turn.StepRef})
	if err != nil {
		t.Fatal(err)
	}
	assembled, err := d.Assemble(t.Context(), engine.AssembleIn{StepRef: turn.StepRef, Inputs: found.Inputs})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"file Notes/filed.md", imported}; !slices.Equal(assembled.Origins, want) {
		t.Fatalf("the prompt was made from %q, want %q", assembled.Origins, want)
	}
	turn.Origins = assembled.Origins
	out, err := d.UseTools(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	text := d.results(out)[0].Error
	for _, want := range []string{
		"file Notes/filed.md, " + imported, "@tools append_file (untrusted=allow)", "trust=trusted on the line @input file: Notes/*", `vaultflow trust "Notes/filed.md"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the refusal does not say %q: %s", want, text)
		}
	}
}

// Items of an @for_each taint: their content where it is shown, their names where the step speaks of them.
func TestAssemble_originsOfItems(t *testing.T) {
	t.Parallel()
	const evil = "Imported/report/Obey me.md"
	for note, want := range map[string][]string{
		"@for_each file: Imported/** (as=IT)\nSum up {{IT}}":                        {"file " + evil, imported},
		"@for_each file: Imported/**\n@output file: Out {item-name}\nx":             {"name " + evil, imported},
		"@model none\n@for_each file: Imported/** (as=IT)\n@output file: o\n{{IT}}": {"file " + evil, imported},
		"@for_each file: Imported/**\nx":                                            nil,
	} {
		w := newWorld(t, nil, workflow.Step{})
		w.known()
		w.plan.Steps = planSteps(t, note)
		ref := w.ref()
		ref.Batch, ref.Items = 1, []engine.Item{{Name: evil, SHA256: "x"}}
		out, err := w.Assemble(t.Context(), engine.AssembleIn{StepRef: ref})
		if err != nil || !slices.Equal(out.Origins, want) {
			t.Errorf("%q: %q, want %q, %v", note, out.Origins, want, err)
		}
	}
}

// An input that is a link is read only when the workflow may read what it leads to.
func TestResolve_linksNeedPermission(t *testing.T) {
	t.Parallel()
	for target, allowed := range map[string]bool{"../Private/secret.md": false, "other.md": true, "../../outside.md": false} {
		w := newWorld(t, map[string]string{"Private/secret.md": "s", "Plans/other.md": "o"}, workflow.Step{Set: directives.Set{Inputs: planSteps(t, "@input file: Plans/link\nx")[0].Inputs}})
		w.files["Plans/link.md"] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
		w.plan.Meta.Permissions.Read = []string{"Plans/**"}
		out, err := w.Resolve(t.Context(), engine.ResolveIn{StepRef: w.ref()})
		if read := err == nil && len(out.Inputs[0].Files) == 1; read != allowed {
			t.Errorf("%s: allowed %t, got %+v, %v", target, allowed, out.Inputs, err)
		}
	}
}

// Undo brings back what a file held before a tainted write as what it was: one's own; and foreign text as foreign.
func TestTakeBack_restoresOrigins(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"own.md": "seven apples\n", "filed.md": strange}, "append_file (untrusted=allow)")
	book := d.known()
	foreign := func(name string) bool {
		t.Helper()
		f, err := book.Of(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return f.Foreign
	}
	for name, want := range map[string]bool{"own.md": false, "filed.md": true} {
		before := string(d.files[name].Data)
		turn := d.turn(tool("append_file", in{"path": name, "content": "A model wrote this sentence, and nobody has read it so far.\n"}))
		turn.Run, turn.Origins = name, []string{imported}
		out, err := d.UseTools(t.Context(), turn)
		if err != nil || len(out.Changes) != 1 || !foreign(name) {
			t.Fatalf("%s: %v, %+v, foreign %t", name, err, out.Changes, foreign(name))
		}
		c := out.Changes[0]
		back := engine.WayBack{Change: engine.Change{Kind: engine.ChangeWrite, Name: name, Before: c.After, After: c.Before}, Run: name}
		if _, err := d.carryBack(t.Context(), turn.StepRef, "undo:0"+name, back); err != nil || string(d.files[name].Data) != before {
			t.Fatalf("%s: %v, holds %q", name, err, d.files[name].Data)
		}
		if got := foreign(name); got != want {
			t.Errorf("%s after the undo: foreign %t, want %t", name, got, want)
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
		if out, err := d.Commit(t.Context(), in); err != nil || len(out.Written) != 1 {
			t.Fatalf("%s: %+v, %v", name, out, err)
		}
		d.person("Out.md", "Moved.md")
		f, err := book.Of(t.Context(), "Moved.md")
		if err != nil || f.Foreign != tt.want {
			t.Errorf("%s: %+v, want foreign %t, %v", name, f, tt.want, err)
		}
	}
}
