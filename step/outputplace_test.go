package step

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/workflow"
)

// wholeVault has everything that a stranger would like to write over.
func wholeVault(t *testing.T, step workflow.Step) *world {
	t.Helper()
	d := newWorld(t, map[string]string{
		"settings.yaml": "web: {}\n", "Workflows/Flow.md": "## A\n", "Workflows/Other.md": "## B\n", ".obsidian/app.json": "{}",
		"Imported/W/manifest.json": `{"version":1,"source":{"name":"W.pdf","sha256":"00"}}`, "Imported/W/index.md": "w", "Imported/W/text/page_0001.md": "p",
		"Summaries/Diary.md": "mine\n", "Import/x.md": "x",
	}, step)
	d.Record = d.Journal
	d.files["Notes/config"] = &fstest.MapFile{Data: []byte("../.obsidian"), Mode: fs.ModeSymlink | 0o777}
	d.files["Notes/dangling.md"] = &fstest.MapFile{Data: []byte("nowhere.md"), Mode: fs.ModeSymlink | 0o777}
	return d
}

// item makes an item of a list, with the variable that it comes from.
func (d *world) item(text string, origins ...string) (engine.StepRef, []engine.Var) {
	d.t.Helper()
	list, err := json.Marshal([]string{text})
	if err != nil {
		d.t.Fatal(err)
	}
	ref := d.ref()
	ref.Batch, ref.Items = 1, []engine.Item{{Name: oneLine(text), Value: true, SHA256: d.put(text)}}
	return ref, []engine.Var{{Name: "list", Digest: d.put(string(list)), Origins: origins}}
}

// writeOut stages an answer and commits what was staged.
func (d *world) writeOut(ref engine.StepRef, vars []engine.Var, answer string) (engine.StageOut, error) {
	d.t.Helper()
	staged, err := d.steps().Stager.Stage(d.t.Context(), engine.StageIn{StepRef: ref, Answer: d.put(answer), Vars: vars})
	if err != nil {
		return staged, err
	}
	out, err := d.steps().Committer.Commit(d.t.Context(), engine.CommitIn{StepRef: ref, Files: staged.Files})
	if err == nil && len(out.Conflicts) > 0 {
		d.t.Errorf("conflicts: %v", out.Conflicts)
	}
	return staged, err
}

var fromImport = "file Imported/W/index.md"

func listStep(path, mode string) workflow.Step {
	return workflow.Step{Prompt: "x", Set: directives.Set{ForEach: &directives.ForEach{Target: variableTarget("list")}, Outputs: []directives.Output{{Target: fileTarget(path)}}, WriteMode: directives.WriteMode{Mode: mode}}}
}

// Entries of a list that was made from an import named any file of the vault: settings, the running workflow and others, an
// import's manifest, and what a link leads to.
func TestStage_entriesFromOutsideNameNoPlace(t *testing.T) {
	t.Parallel()
	targets := []string{
		"settings.yaml", "Settings.YAML", "Workflows/Flow.md", "Workflows/Other.md", "Workflows/New.md", "Imported/W/manifest.json",
		"Imported/W/text/page_0001.md", "Notes/config/app.json", "Notes/dangling.md", ".obsidian/app.json", ".env", "Import/x.md",
		"Workflows/_approvals/r1.md", "Summaries/Diary.md", "settings.yaml.", "settings.yaml::$DATA", "Anywhere/new.md",
	}
	for _, mode := range []string{"", directives.ModeReplace, directives.ModeAppend, directives.ModeNew, directives.ModeFrontmatter} {
		for _, target := range targets {
			for _, pattern := range []string{"{item}", "{item-name}", "[[{item}]]"} {
				step := listStep(pattern, mode)
				if strings.HasPrefix(pattern, "[[") {
					step.Outputs[0].Target = directives.Target{Scheme: directives.SchemeFile, Path: "{item}", Link: true}
				}
				d := wholeVault(t, step)
				before := d.vault.Texts()
				ref, vars := d.item(target, fromImport)
				if _, err := d.writeOut(ref, vars, `{"a": 1}`); err == nil {
					t.Errorf("%s, %s: %q was written", mode, pattern, target)
				}
				sameFiles(t, before, d.vault.Texts(), target)
			}
		}
	}
}

// With the author's grant, or a person who is asked, the place may be the entry's; what is protected stays so.
func TestStage_grantedPlacesAreNoneOfTheProtected(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		for target, allowed := range map[string]bool{
			"Anywhere/new": true, "Summaries/Diary": true, "settings.yaml": false, "SETTINGS.yaml": false, "Workflows/Flow.md": false, "Workflows/New.md": false,
			"Workflows/_approvals/r1": false, "Imported/W/manifest.json": false, "Imported/W/text/page_0001": false, "Imported/W/index": true,
			"Notes/config/app.json": false, "Notes/dangling.md": false, ".obsidian/app.json": false, "Import/new": false, "sett\u200bings.yaml": false,
			"ſettings.yaml": false, "Imported/new": false,
		} {
			step := listStep("{item}", directives.ModeReplace)
			if asked {
				step.Approve = &directives.Approve{Outputs: true}
			} else {
				step.Outputs[0].Untrusted = true
			}
			d := wholeVault(t, step)
			before := d.vault.Texts()
			ref, vars := d.item(target, fromImport)
			_, err := d.writeOut(ref, vars, "x")
			if allowed != (err == nil) {
				t.Errorf("asked %v, %q: %v", asked, target, err)
			}
			if !allowed {
				sameFiles(t, before, d.vault.Texts(), target)
			}
		}
	}
}

// A name from outside never reaches a file that the workflow did not make. Its own it goes on with.
func TestStage_nextFreeName(t *testing.T) {
	t.Parallel()
	d := wholeVault(t, listStep("Summaries/{item}", directives.ModeAppend))
	ref, vars := d.item("../Summaries/Diary.md", fromImport)
	_, err := d.writeOut(ref, vars, "one")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.files["Summaries/Summaries Diary.md"]; got == nil || string(got.Data) != "one\n" {
		t.Fatalf("a cleaned name: %v", d.vault.Texts())
	}
	ref, vars = d.item("Diary", fromImport)
	staged, err := d.writeOut(ref, vars, "one")
	if err != nil {
		t.Fatal(err)
	}
	f := staged.Files[0]
	if f.Name != "Summaries/Diary (2).md" || f.Named != directives.NamedInSegment || len(f.NameFrom) != 1 || len(staged.Warnings) != 1 ||
		!strings.Contains(staged.Warnings[0], "Summaries/Diary (2).md") {
		t.Errorf("staged %+v, %q", f, staged.Warnings)
	}
	ref.Run = "r2"
	if _, err := d.writeOut(ref, vars, "two"); err != nil {
		t.Fatal(err)
	}
	if got := string(d.files["Summaries/Diary (2).md"].Data); got != "one\n\ntwo\n" {
		t.Errorf("its own file: %q", got)
	}
	d.vault.Put("Summaries/Diary (2).md", "a person wrote this\n")
	ref.Run = "r3"
	if _, err := d.writeOut(ref, vars, "three"); err != nil {
		t.Fatal(err)
	}
	if got := d.vault.Texts(); got["Summaries/Diary (2).md"] != "a person wrote this\n" || got["Summaries/Diary (3).md"] != "three\n" || got["Summaries/Diary.md"] != "mine\n" {
		t.Errorf("after an edit: %v", got)
	}
}

// What somebody edited after the workflow wrote it stays, and the reason is the true one.
func TestStage_nextFreeNameAfterAnEdit(t *testing.T) {
	t.Parallel()
	d := wholeVault(t, listStep("Notes/{item}", directives.ModeReplace))
	ref, vars := d.item("Paper", fromImport)
	if _, err := d.writeOut(ref, vars, "one"); err != nil {
		t.Fatal(err)
	}
	d.vault.Put("Notes/Paper.md", "one, and what I think\n")
	ref.Run = "r2"
	staged, err := d.writeOut(ref, vars, "two")
	if err != nil {
		t.Fatal(err)
	}
	want := "Notes/Paper.md was edited after this workflow wrote it, and stays as it is: written to Notes/Paper (2).md instead"
	if len(staged.Warnings) != 1 || staged.Warnings[0] != want {
		t.Errorf("warned %q, want %q", staged.Warnings, want)
	}
	if got := d.vault.Texts(); got["Notes/Paper.md"] != "one, and what I think\n" || got["Notes/Paper (2).md"] != "two\n" {
		t.Errorf("files %v", got)
	}
}

// The owner's own lists name places as before, below the rules for all outputs.
func TestStage_entriesOfTheOwner(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"Summaries/Diary": "Summaries/Diary.md", "Anywhere/new": "Anywhere/new.md", "settings.yaml": "", "Workflows/Flow": "", "Workflows/New": "",
		"Imported/W/manifest.json": "", "Notes/config/app.json": "", "Notes/dangling": "",
	} {
		d := wholeVault(t, listStep("{item}", directives.ModeReplace))
		before := d.vault.Texts()
		ref, vars := d.item(target)
		_, err := d.writeOut(ref, vars, "x")
		if (want != "") != (err == nil) || want != "" && string(d.files[want].Data) != "x\n" {
			t.Errorf("%q: %v", target, err)
		}
		if want == "" {
			sameFiles(t, before, d.vault.Texts(), target)
		}
	}
}

// The status note belongs to serve: no workflow writes there, whatever its permissions say.
func TestStage_statusNote(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Status", "Status.md", "status.MD"} {
		for _, mode := range []string{directives.ModeAppend, directives.ModeReplace, directives.ModeFrontmatter} {
			d := wholeVault(t, workflow.Step{Prompt: "x", Set: directives.Set{Outputs: []directives.Output{{Target: fileTarget(name)}}, WriteMode: directives.WriteMode{Mode: mode}}})
			d.plan.Meta.Permissions.Write = []string{"**", "Status.md"}
			before := d.vault.Texts()
			if _, err := d.writeOut(d.ref(), nil, "{}"); code(err) != failure.Permission {
				t.Errorf("%s, %s: %v", name, mode, err)
			}
			sameFiles(t, before, d.vault.Texts(), name)
		}
	}
}

// Routed inputs and results ask the same gate.
func TestStage_routesAskTheGate(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"settings.yaml", "Workflows/Flow", "Workflows/New", "Imported/W/manifest.json", "Notes/config/x", "{item}"} {
		step := workflow.Step{Prompt: "x", Set: directives.Set{ForEach: &directives.ForEach{Target: variableTarget("list")}, Inputs: []directives.Input{{Target: fileTarget("Import/x.md"), Route: &directives.Route{To: directives.RouteFile, Target: new(fileTarget(target))}}}}}
		d := wholeVault(t, step)
		before := d.vault.Texts()
		ref, vars := d.item("a", fromImport)
		in := engine.StageIn{StepRef: ref, Vars: vars, Inputs: []engine.ResolvedInput{{Files: []engine.ResolvedFile{{Name: "Import/x.md"}}}}}
		if out, err := d.steps().Stager.Stage(t.Context(), in); code(err) != failure.Permission {
			t.Errorf("%s: staged %+v, %v", target, out.Files, err)
		}
		sameFiles(t, before, d.vault.Texts(), target)
	}
}

// What was staged before something changed, or by a version without a gate, is looked at again before it is written.
func TestCommit_asksTheGateAgain(t *testing.T) {
	t.Parallel()
	for name, allowed := range map[string]bool{"settings.yaml": false, "Workflows/New.md": false, "Notes/config/x.md": false, "Plan.md": true} {
		d := wholeVault(t, listStep("Plan", directives.ModeReplace))
		before := d.vault.Texts()
		file := engine.StagedFile{Name: name, Base: d.vault.DigestOf(name), New: d.put("x"), Targets: []string{"output:0"}}
		_, err := d.steps().Committer.Commit(t.Context(), engine.CommitIn{StepRef: d.ref(), Files: []engine.StagedFile{file}})
		if allowed != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if !allowed {
			sameFiles(t, before, d.vault.Texts(), name)
		}
	}
}

// A workflow is written where permissions.write names the folder. A glob for everything does not.
func TestStage_workflowsNeedAGrant(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		write   []string
		file    string
		allowed bool
	}{
		{nil, "Workflows/New", false},
		{[]string{"**"}, "Workflows/New", false},
		{[]string{"*/New.md"}, "Workflows/New", false},
		{[]string{"Workflows/*"}, "Workflows/New", true},
		{[]string{"Workflows/*"}, "Workflows/Flow", false},
		{[]string{"Workflows/**"}, "Workflows/_approvals/x", false},
	} {
		d := wholeVault(t, listStep(tt.file, directives.ModeReplace))
		d.plan.Meta.Permissions.Write = tt.write
		ref, vars := d.item("a")
		if _, err := d.writeOut(ref, vars, "x"); tt.allowed != (err == nil) {
			t.Errorf("%v, %s: %v", tt.write, tt.file, err)
		}
	}
}

func sameFiles(t *testing.T, before, after map[string]string, what string) {
	t.Helper()
	for name, text := range after {
		if old, there := before[name]; !there || old != text {
			t.Errorf("%q: %s holds %q now", what, name, text)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%q: %d files, had %d", what, len(after), len(before))
	}
}

// A person who is asked about a file sees that its name came from outside.
func TestApprove_showsWhereTheNameComesFrom(t *testing.T) {
	t.Parallel()
	step := listStep("{item}", directives.ModeReplace)
	step.Approve = &directives.Approve{Outputs: true}
	d := wholeVault(t, step)
	ref, vars := d.item("Anywhere", fromImport)
	staged, err := d.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: ref, Answer: d.put("x"), Vars: vars})
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := d.steps().Approver.proposedFiles(t.Context(), engine.ApproveIn{StepRef: ref, Files: staged.Files})
	if err != nil || len(list) != 1 || len(list[0].NameFrom) != 1 || list[0].NameFrom[0] != fromImport {
		t.Errorf("%+v, %v", list, err)
	}
}

// Properties are written in the forms that the vault declares. One that does not convert stays as answered, with a warning.
func TestStage_declaredTypes(t *testing.T) {
	t.Parallel()
	d := wholeVault(t, listStep("Notes/{item}", directives.ModeFrontmatter))
	d.vault.Put(".obsidian/types.json", `{"types":{"topics":"multitext","rating":"number","isbn":"text"}}`)
	ref, vars := d.item("Book")
	staged, err := d.writeOut(ref, vars, `{"topics": "sea", "rating": "five", "isbn": 9780}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.vault.Texts()["Notes/Book.md"]; got != "---\ntopics:\n  - sea\nrating: five\nisbn: \"9780\"\n---\n" {
		t.Errorf("the note is\n%s", got)
	}
	if want := "Notes/Book.md: not of the type that .obsidian/types.json declares, so written as answered: rating"; len(staged.Warnings) != 1 || staged.Warnings[0] != want {
		t.Errorf("warnings %q, want %q", staged.Warnings, want)
	}
}
