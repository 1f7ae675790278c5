package toolbox

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/vault"
)

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
			if out, err := d.box().Use(t.Context(), turn); err != nil || !d.results(out)[0].Success {
				t.Fatal(err, d.results(out)[0].Error)
			}
		}
	}
	run("r1", nil, []string{"file Imported/report/index.md", imported}, "log.md", "own.md")
	read("log.md", "file log.md", "run r1 (Flow)", imported)
	read("own.md", "file own.md", "run r1 (Flow)", imported)

	move := d.turn(tool("move_file", in{"from": "log.md", "to": "Kept/log.md"}))
	move.Run = "r2"
	if _, err := d.box().Use(t.Context(), move); err != nil {
		t.Fatal(err)
	}
	read("Kept/log.md", "file Kept/log.md", "run r1 (Flow)", imported)
	d.files["log.md"] = &fstest.MapFile{Data: []byte("a new file at the old name\n"), ModTime: noon}
	read("log.md")

	// nobody has looked at a person's edit when a tool moves the file
	d.files["own.md"] = &fstest.MapFile{Data: []byte("Every word of this was written anew, and not one is as it was.\n"), ModTime: noon}
	move = d.turn(tool("move_file", in{"from": "own.md", "to": "Kept/edited.md"}))
	move.Run = "r5"
	if out, err := d.box().Use(t.Context(), move); err != nil || !d.results(out)[0].Success {
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
	if _, err := d.box().Use(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	read("unseen.md", "file unseen.md", "run r6 (Flow)", imported)
	turn = d.turn(tool("append_file", in{"path": "plan.md", "content": sentence}))
	turn.Origins = []string{imported}
	turn.Verdicts = []engine.Verdict{{Call: callID(turn, 0), Approved: true, After: sha([]byte(sentence))}}
	if _, err := d.box().Use(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	read("plan.md")
}

// A refused call names the file that it was refused for, and all that a person may write to allow it.
func TestUseTools_refusedNamesTheNote(t *testing.T) {
	t.Parallel()
	d, _, _ := reaching(t, map[string]string{"a.md": "x", "Notes/filed.md": strange}, "append_file")
	d.known()
	steps := steptest.Steps(t, "@tools append_file\n@input file: a\n@input file: Notes/*\nwork")
	d.plan.Steps[0].Inputs = steps[0].Inputs
	turn := d.turn(tool("append_file", in{"path": "a.md", "content": "x"}))
	found, err := d.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: turn.StepRef})
	if err != nil {
		t.Fatal(err)
	}
	assembled, err := d.steps().Assembler.Assemble(t.Context(), engine.AssembleIn{StepRef: turn.StepRef, Inputs: found.Inputs})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"file Notes/filed.md", imported}; !slices.Equal(assembled.Origins, want) {
		t.Fatalf("the prompt was made from %q, want %q", assembled.Origins, want)
	}
	turn.Origins = assembled.Origins
	out, err := d.box().Use(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	text := d.results(out)[0].Error
	for _, want := range []string{
		"file Notes/filed.md, " + imported, "@tools append_file (untrusted=allow)", "trust=trusted to the line @input file: Notes/*", `vaultflow trust "Notes/filed.md"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the refusal does not say %q: %s", want, text)
		}
	}
}
