package toolbox

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// work is a turn that does everything a tool can do to a vault.
func (d *world) work() engine.UseToolsIn {
	return d.turn(
		tool("append_file", in{"path": "log.md", "content": "more\n"}),
		tool("write_file", in{"path": "New/a.md", "content": "made\n"}),
		tool("append_file", in{"path": "log.md", "content": "more\n"}),
		tool("edit_file", in{"path": "plan.md", "old_text": "two", "new_text": "two two"}),
		tool("move_file", in{"from": "plan.md", "to": "Done/plan.md"}),
		tool("delete_file", in{"path": "old.md"}),
	)
}

func fullDesk(t *testing.T) *world {
	d := newDesk(t, map[string]string{"log.md": "log\n", "plan.md": "one\ntwo\n", "old.md": "old\n"}, "all")
	d.plan.Meta.Permissions.Tools = []string{"append_file", "write_file", "edit_file", "move_file", "delete_file"}
	return d
}

var wanted = map[string]string{"log.md": "log\nmore\nmore\n", "New/a.md": "made\n", "Done/plan.md": "one\ntwo two\n"}

func TestUseTools_changesAreMadeAndRecorded(t *testing.T) {
	t.Parallel()
	d := fullDesk(t)
	out, err := d.box().Use(t.Context(), d.work())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, d.vault.Texts()); diff != "" {
		t.Errorf("vault (-want +got):\n%s", diff)
	}
	digest := func(text string) string { return sha([]byte(text)) }
	want := []engine.Change{
		{Kind: "write", Name: "log.md", Before: digest("log\n"), After: digest("log\nmore\n"), Tool: "append_file"},
		{Kind: "create", Name: "New/a.md", After: digest("made\n"), Tool: "write_file"},
		{Kind: "write", Name: "log.md", Before: digest("log\nmore\n"), After: digest("log\nmore\nmore\n"), Tool: "append_file"},
		{Kind: "write", Name: "plan.md", Before: digest("one\ntwo\n"), After: digest("one\ntwo two\n"), Tool: "edit_file"},
		{Kind: "move", Name: "plan.md", To: "Done/plan.md", Before: digest("one\ntwo two\n"), After: digest("one\ntwo two\n"), Tool: "move_file"},
		{Kind: "delete", Name: "old.md", Before: digest("old\n"), Tool: "delete_file"},
	}
	if diff := cmp.Diff(want, out.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for _, c := range out.Changes {
		for _, kept := range []string{c.Before, c.After} {
			if kept != "" && c.Kind != "move" && sha([]byte(d.text(kept))) != kept {
				t.Errorf("%s of %s: the content is not kept", c.Kind, c.Name)
			}
		}
	}
}

// A process that dies anywhere leaves a vault that the repeated activity brings to what it should be: nothing is appended,
// moved or lost twice.
func TestUseTools_killedAnywhere(t *testing.T) {
	t.Parallel()
	whole := fullDesk(t)
	turn := whole.work()
	before := whole.fuse.Steps
	if _, err := whole.box().Use(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	if whole.fuse.Steps-before < 25 {
		t.Fatalf("%d places to die at", whole.fuse.Steps-before)
	}
	for n := 1; n <= whole.fuse.Steps-before; n++ {
		for _, after := range []bool{false, true} {
			d := fullDesk(t)
			turn := d.work()
			d.fuse.Dies, d.fuse.After = d.fuse.Steps+n, after
			if _, err := d.box().Use(t.Context(), turn); !errors.Is(err, steptest.ErrKilled) && n < whole.fuse.Steps-before {
				t.Fatalf("died at %d: %v", n, err)
			}
			d.fuse.Dead, d.fuse.Dies = false, 0
			out, err := d.box().Use(t.Context(), turn)
			if err != nil {
				t.Fatalf("died at %d (after %v): %v", n, after, err)
			}
			if diff := cmp.Diff(wanted, d.vault.Texts()); diff != "" {
				t.Errorf("died at %d (after %v): vault (-want +got):\n%s", n, after, diff)
			}
			for i, r := range d.results(out) {
				if !r.Success {
					t.Errorf("died at %d (after %v): call %d: %s", n, after, i, r.Error)
				}
			}
			if len(out.Changes) != 6 {
				t.Errorf("died at %d (after %v): %d changes", n, after, len(out.Changes))
			}
		}
	}
}

// What a person writes while the program is down is never written over, and nothing is appended twice.
func TestUseTools_killedAndEdited(t *testing.T) {
	t.Parallel()
	doubts := 0
	for n := 1; n <= 8; n++ {
		d := newDesk(t, map[string]string{"log.md": "log\n"}, "append_file")
		turn := d.turn(tool("append_file", in{"path": "log.md", "content": "mine\n"}))
		d.fuse.Dies, d.fuse.After = d.fuse.Steps+n, true
		d.fuse.Between = func() {
			d.files["log.md"] = &fstest.MapFile{Data: append([]byte("theirs\n"), d.files["log.md"].Data...)}
		}
		if _, err := d.box().Use(t.Context(), turn); err == nil {
			break
		}
		d.fuse.Dead, d.fuse.Dies = false, 0
		out, err := d.box().Use(t.Context(), turn)
		if err != nil {
			t.Fatal(err)
		}
		got := string(d.files["log.md"].Data)
		if !strings.HasPrefix(got, "theirs\n") || strings.Count(got, "mine\n") > 1 {
			t.Errorf("died at %d: %q", n, got)
		}
		r := d.results(out)[0]
		switch doubt := len(out.Changes) == 1 && out.Changes[0].Doubt; {
		case doubt:
			doubts++
			if r.Success || !strings.Contains(r.Error, "log.md was edited since") {
				t.Errorf("died at %d: %+v", n, r)
			}
		case !r.Success || strings.Count(got, "mine\n") != 1:
			t.Errorf("died at %d: %q, %+v", n, got, r)
		}
	}
	if doubts == 0 {
		t.Error("the person was never in between")
	}
}

func TestUseTools_rulesOfTheWorkflow(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.md": "a", "Workflows/Flow.md": "x", "Workflows/other.md": "x", "settings.yaml": "x", "Import/a.md": "x", "Imported/W/index.md": "note",
		"Imported/W/manifest.json": `{"version":1,"source":{"name":"W.pdf","sha256":"00"}}`, "Imported/W/W.pdf": "%PDF", "Imported/W/text/page_0001.md": "p", "Secret/s.md": "s", "Plans/p.md": "p",
		"Status.md": "status",
	}
	write := func(name string) content.ToolCall { return tool("append_file", in{"path": name, "content": "x"}) }
	for name, tt := range map[string]struct {
		permissions workflow.Permissions
		call        content.ToolCall
		want        string // empty: it is done
	}{
		"a note":                 {workflow.Permissions{}, write("a.md"), ""},
		"the workflow itself":    {workflow.Permissions{Write: []string{"**"}}, write("workflows/FLOW.md"), "is the workflow itself"},
		"the same, other form":   {workflow.Permissions{}, write("workflows\u00a0x/U\u0308bung.md"), "is the workflow itself"},
		"another workflow":       {workflow.Permissions{}, write("Workflows/other.md"), "only when permissions.write names it"},
		"a workflow, permitted":  {workflow.Permissions{Write: []string{"Workflows/**"}}, write("Workflows/other.md"), ""},
		"settings":               {workflow.Permissions{Write: []string{"**"}}, write("settings.yaml"), "holds settings"},
		"the import folder":      {workflow.Permissions{}, write("Import/b.md"), "inside the import folder"},
		"an original":            {workflow.Permissions{}, tool("move_file", in{"from": "Imported/W/W.pdf", "to": "W.pdf"}), "belongs to an imported document"},
		"a manifest":             {workflow.Permissions{}, write("Imported/W/manifest.json"), "belongs to an imported document"},
		"a page":                 {workflow.Permissions{}, write("Imported/W/text/page_0001.md"), "belongs to an imported document"},
		"the status note":        {workflow.Permissions{Write: []string{"Status.md"}}, write("Status.md"), "is the status note"},
		"from the status note":   {workflow.Permissions{}, tool("move_file", in{"from": "Status.md", "to": "b.md"}), "is the status note"},
		"an import's note":       {workflow.Permissions{}, write("Imported/W/index.md"), ""},
		"outside of write":       {workflow.Permissions{Write: []string{"Plans/**"}}, write("a.md"), "not covered by the workflow's permissions.write"},
		"write nothing":          {workflow.Permissions{NoWrite: true}, write("a.md"), "not covered by the workflow's permissions.write"},
		"outside of read":        {workflow.Permissions{Read: []string{"Plans/**"}}, tool("read_file", in{"path": "Secret/s.md"}), "outside the workflow's permissions.read"},
		"search outside of read": {workflow.Permissions{Read: []string{"Plans/**"}}, tool("search_files", in{"query": "s"}), "no match for"},
		"not among the tools":    {workflow.Permissions{Tools: []string{"read_file"}}, write("a.md"), `no tool "append_file"`},
		"delete":                 {workflow.Permissions{}, tool("delete_file", in{"path": "a.md"}), `no tool "delete_file"`},
		"delete, permitted":      {workflow.Permissions{Tools: []string{"delete_file"}}, tool("delete_file", in{"path": "a.md"}), ""},
		"delete, by its name":    {workflow.Permissions{}, tool("delete_file", in{"path": "Plans/p.md"}), "@approve tools"},
		"run_workflow":           {workflow.Permissions{}, tool("run_workflow", in{"workflow": "other"}), `no tool "run_workflow"`},
	} {
		use := "all"
		if strings.HasSuffix(name, "by its name") {
			use = "delete_file"
		}
		d := newDesk(t, files, use)
		d.plan.Meta.Permissions = tt.permissions
		if name == "the same, other form" {
			d.plan.File = "Workflows x/\u00dcbung.md"
		}
		before := d.vault.Texts()
		_, results := d.use(tt.call)
		said := results[0].Text()
		if tt.want == "" && !results[0].Success || !strings.Contains(said, tt.want) {
			t.Errorf("%s: %q, want %q", name, said, tt.want)
		}
		if tt.want != "" && !maps.Equal(before, d.vault.Texts()) {
			t.Errorf("%s: the vault has changed", name)
		}
	}
}

func TestUseTools_routedAndLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of text that goes on\n", 4000) // 112 KB
	d := newDesk(t, map[string]string{"a.md": "alpha\n", "long.txt": long},
		"read_file (output=file: Out/read, write_mode=append), list_files (output=variable: files, write_mode=replace), search_files (output=discard), read_pages")
	out, results := d.use(tool("read_file", in{"path": "a.md"}), tool("list_files", in{}), tool("search_files", in{"query": "alpha"}), tool("read_file", in{"path": "a.md"}))
	for i, want := range []string{"goes to a file when the step ends]", "is in the variable files]", "[done; the workflow discards the result]", "goes to a file"} {
		if got := results[i].Text(); !strings.Contains(got, want) || strings.Contains(got, "alpha") {
			t.Errorf("result %d: %q, want %q", i, got, want)
		}
	}
	if len(out.Vars) != 1 || out.Vars[0].Name != "files" || !strings.Contains(d.text(out.Vars[0].Digest), "a.md  6 bytes") || len(out.Results) != 2 {
		t.Errorf("variables %+v, results %+v", out.Vars, out.Results)
	}
	staged, err := d.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: d.ref(), Answer: d.put("answer"), Results: out.Results, Attempt: 1})
	if err != nil || len(staged.Files) != 1 || staged.Files[0].Name != "Out/read.md" || strings.Count(d.text(staged.Files[0].New), "1\talpha") != 2 {
		t.Errorf("staged %+v, %v", staged.Files, err)
	}
}

func TestDeliver_longTextGoesToAVariable(t *testing.T) {
	t.Parallel()
	picture := content.Image{Name: "p.png"}
	for name, tt := range map[string]struct {
		text  string
		shown int // bytes at most
		kept  bool
	}{
		"short":            {strings.Repeat("word ", 100), 500, false},
		"just fits":        {strings.Repeat("x", content.MaxToolText), content.MaxToolText, false},
		"above the cut":    {strings.Repeat("word ", 7000), content.MaxToolText, true},
		"above the buffer": {strings.Repeat("word ", 20000), 3 << 10, true},
	} {
		d := newDesk(t, map[string]string{}, "read_file")
		s, err := d.deps().Plans.Context(t.Context(), d.ref())
		if err != nil {
			t.Fatal(err)
		}
		box := d.box().turn(s, d.models["seer"], step.Prompt{Limits: step.CallLimits{ToolImages: 2, StepImages: 3}}, engine.UseToolsIn{})
		r := content.ToolResult{Success: true, Blocks: []content.Block{content.Text{Value: tt.text}, picture, picture, picture}}
		got, err := delivery{box}.deliver(t.Context(), "read_file", r, 0)
		if err != nil {
			t.Fatal(err)
		}
		text, images := 0, 0
		for _, b := range got.Blocks {
			if _, isImage := b.(content.Image); isImage {
				images++
			} else if !strings.Contains(b.Text(), "not shown: no room for more pictures") {
				text += len(b.Text())
			}
		}
		if images != 2 || box.media.Given() != 2 {
			t.Errorf("%s: %d pictures, %d counted; want 2", name, images, box.media.Given())
		}
		if text > tt.shown || len(box.vars.set) > 0 != tt.kept {
			t.Errorf("%s: %d bytes shown, want at most %d; kept %v", name, text, tt.shown, box.vars.set)
		}
		if !tt.kept {
			continue
		}
		if !strings.Contains(got.Text(), "read the variable tool_1 with read_variable]") || d.text(box.vars.set[0].Digest) != tt.text {
			t.Errorf("%s: %q", name, got.Text()[len(got.Text())-120:])
		}
		if r := box.registry.Run(t.Context(), tool("read_variable", in{"action": "peek", "name": "tool_1"})); !strings.HasPrefix(r.Text(), "word word") {
			t.Errorf("%s: read_variable gives %+v", name, r)
		}
	}
}

func TestUseTools_offered(t *testing.T) {
	t.Parallel()
	for use, want := range map[string]string{
		"none":                  "",
		"read_file":             "read_file read_variable",
		"read_file, Write-File": "read_file write_file read_variable",
	} {
		d := newDesk(t, map[string]string{}, use)
		s, err := d.deps().Plans.Context(t.Context(), d.ref())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.box().turn(s, d.models["seer"], step.Prompt{}, engine.UseToolsIn{}).registry.Names(), " "); got != want {
			t.Errorf("@tools %s: %q, want %q", use, got, want)
		}
	}
}

// counting counts how often a step's tools are made for its requests.
type counting struct {
	*Box
	made int
}

func (o *counting) Offer(s step.Context, m step.Model) step.Offer {
	o.made++
	return o.Box.Offer(s, m)
}

// A step's tools are made once for its requests, and a prompt of an earlier version, which does not hold them, has them made.
func TestOffer_oncePerStep(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.md": "x"}, "read_file")
	d.Reply = func(llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: "Good", Stop: llm.StopEnd, Blocks: []content.Block{content.Text{Value: "Good"}}}, nil
	}
	deps := d.deps()
	o := &counting{Box: New(deps, d.config)}
	steps, ref := step.New(deps, o), d.ref()
	out, err := steps.Assembler.Assemble(t.Context(), engine.AssembleIn{StepRef: ref})
	if err != nil {
		t.Fatal(err)
	}
	old, err := json.Marshal(func() map[string]any {
		var stored map[string]any
		if err := json.Unmarshal([]byte(d.text(out.Prompt)), &stored); err != nil {
			t.Fatal(err)
		}
		delete(stored, "tools")
		return stored
	}())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		prompt string
		made   int
	}{{out.Prompt, 1}, {out.Prompt, 1}, {d.put(string(old)), 2}} {
		if _, err := steps.Generator.Generate(t.Context(), engine.GenerateIn{StepRef: ref, Prompt: c.prompt, Model: out.Model}); err != nil {
			t.Fatal(err)
		}
		if last := d.Requests[len(d.Requests)-1]; o.made != c.made || len(last.Tools) != 2 || last.Tools[0].Name != "read_file" {
			t.Errorf("made %d times, want %d; %d tools were offered", o.made, c.made, len(last.Tools))
		}
	}
}
