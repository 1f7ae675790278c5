package step

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

// aboutWorld is a vault with files of one name, and a step about the file that started the run, or about an item.
func aboutWorld(t *testing.T, path string, mode directives.WriteMode) *world {
	t.Helper()
	d := newWorld(t, map[string]string{
		"Inbox/a/Meeting.md": "---\ntitle: Talk\n---\na", "Inbox/b/Meeting.md": "b", "Pics/Trip.jpg": "j", "Pics/Trip.png": "p", "Out/Mine.md": "mine\n",
		"Imported/W/manifest.json": `{"version":1,"note":"W.md","source":{"name":"W.pdf","sha256":"00"}}`, "Imported/W/W.md": "w",
		"Imported/Old/manifest.json": `{"version":1,"source":{"name":"Old.pdf","sha256":"00"}}`, "Imported/Old/index.md": "o",
	}, workflow.Step{Prompt: "x", Set: directives.Set{Outputs: []directives.Output{{Target: fileTarget(path)}}, WriteMode: mode}})
	d.Record = d.Journal
	return d
}

// about writes an answer about a file, in a run of its own, and returns where it went.
func (d *world) about(file, answer string) (name, warning string) {
	d.t.Helper()
	ref := d.ref()
	ref.Run = answer
	if strings.Contains(d.plan.Steps[0].Outputs[0].Target.Path, "{item") {
		d.plan.Steps[0].ForEach = &directives.ForEach{Target: fileTarget("**")}
		ref = d.ref()
		ref.Run, ref.Batch, ref.Items = answer, 1, []engine.Item{{Name: file}}
	} else {
		ref.Subject = []string{file}
	}
	staged, err := d.writeOut(ref, nil, answer)
	if err != nil {
		d.t.Fatal(err)
	}
	return staged.Files[0].Name, strings.Join(staged.Warnings, "; ")
}

var wholly = directives.WriteMode{Mode: directives.ModeReplace}

// Two files of one name have two notes: each keeps its own, run after run, whichever comes first.
func TestStage_twoFilesOfOneName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, a, b, note string
	}{
		{"Out/{trigger-name}", "Inbox/a/Meeting.md", "Inbox/b/Meeting.md", "Out/Meeting"},
		{"Out/{item-name}", "Pics/Trip.jpg", "Pics/Trip.png", "Out/Trip"},
		{"Out/x {item-label}", "Pics/Trip.jpg", "Pics/Trip.png", "Out/x Trip"},
		{"{trigger-folder}/{trigger-name}", "Pics/Trip.jpg", "Pics/Trip.png", "Pics/Trip"},
	} {
		for _, mode := range []directives.WriteMode{wholly, {Mode: directives.ModeSection, Heading: "Sum"}} {
			d := aboutWorld(t, tt.path, mode)
			for _, step := range []struct{ file, answer, name string }{
				{tt.a, "a1", tt.note + ".md"}, {tt.b, "b1", tt.note + " (2).md"}, {tt.a, "a2", tt.note + ".md"}, {tt.b, "b2", tt.note + " (2).md"},
			} {
				name, warning := d.about(step.file, step.answer)
				if name != step.name || (name != tt.note+".md") != strings.Contains(warning, tt.note+".md is about "+tt.a+": written to "+name+" instead") {
					t.Errorf("%s %s: %s to %s, %q", tt.path, mode.Mode, step.answer, name, warning)
				}
			}
			if a, b := string(d.files[tt.note+".md"].Data), string(d.files[tt.note+" (2).md"].Data); !strings.Contains(a, "a2") || !strings.Contains(b, "b2") || strings.Contains(a+b, "1") {
				t.Errorf("%s: %q and %q", tt.path, a, b)
			}
			delete(d.files, tt.note+".md") // the second keeps its name
			if name, _ := d.about(tt.b, "b3"); name != tt.note+" (2).md" {
				t.Errorf("%s: b3 to %s", tt.path, name)
			}
		}
	}
}

// A note that somebody wrote at a numbered name stays.
func TestStage_numberedNamesOfOthers(t *testing.T) {
	t.Parallel()
	d := aboutWorld(t, "Out/{trigger-name}", wholly)
	d.vault.Put("Out/Meeting (2).md", "of a person\n")
	d.about("Inbox/a/Meeting.md", "a")
	if name, _ := d.about("Inbox/b/Meeting.md", "b"); name != "Out/Meeting (3).md" || string(d.files["Out/Meeting (2).md"].Data) != "of a person\n" {
		t.Errorf("to %s", name)
	}
}

// What has one name on purpose goes on: fixed names, folders, notes that are added to, files that are written back to, notes of
// versions that did not know what they were about.
func TestStage_oneNameOnPurpose(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path, a, b, to string
		mode           directives.WriteMode
	}{
		"a fixed name":            {"Out/Latest", "Inbox/a/Meeting.md", "Inbox/b/Meeting.md", "Out/Latest.md", wholly},
		"the folder":              {"Out/{trigger-folder}", "Pics/Trip.jpg", "Pics/Trip.png", "Out/Pics.md", wholly},
		"added to":                {"Out/{trigger-name}", "Inbox/a/Meeting.md", "Inbox/b/Meeting.md", "Out/Meeting.md", directives.WriteMode{}},
		"added below a heading":   {"Out/{item-name}", "Pics/Trip.jpg", "Pics/Trip.png", "Out/Trip.md", directives.WriteMode{Mode: directives.ModeSection, Heading: "A", Merge: directives.MergeAppend}},
		"a document by two names": {"Out/{trigger-folder} {trigger-title}", "Imported/W/W.md", "Imported/W/index.md", "", wholly},
	} {
		d := aboutWorld(t, tt.path, tt.mode)
		first, _ := d.about(tt.a, "a")
		if second, warning := d.about(tt.b, "b"); second != first || tt.to != "" && first != tt.to || warning != "" {
			t.Errorf("%s: to %s, then %s, %q", name, first, second, warning)
		}
	}
	for _, file := range []string{"Inbox/a/Meeting.md", "Imported/W/W.md", "Imported/Old/index.md"} {
		d := aboutWorld(t, "{trigger}", wholly)
		if name, warning := d.about(file, "text"); name != file || warning != "" {
			t.Errorf("writes back to %s, %q", name, warning)
		}
	}
	d := aboutWorld(t, "Out/{trigger-name}", wholly)
	d.vault.Put("Out/Meeting.md", "of an earlier version\n")
	if name, _ := d.about("Inbox/b/Meeting.md", "b"); name != "Out/Meeting.md" {
		t.Errorf("to %s", name)
	}
}

// A later step of the run finds the note of its file again, also when it only adds to it.
func TestStage_laterStepsAddToTheNote(t *testing.T) {
	t.Parallel()
	d := aboutWorld(t, "Out/{trigger-name}", wholly)
	d.about("Inbox/a/Meeting.md", "a")
	d.about("Inbox/b/Meeting.md", "b")
	d.plan.Steps[0].WriteMode = directives.WriteMode{}
	if name, _ := d.about("Inbox/b/Meeting.md", "more"); name != "Out/Meeting (2).md" {
		t.Errorf("to %s", name)
	}
	if got := string(d.files["Out/Meeting (2).md"].Data); got != "b\n\nmore\n" {
		t.Errorf("%q", got)
	}
	for file, want := range map[string]string{"Inbox/a/Meeting.md": "Out/Meeting.md", "Inbox/b/Meeting.md": "Out/Meeting (2).md"} {
		d.plan.Steps[0].Inputs = []directives.Input{{Target: fileTarget("Out/{trigger-name}")}}
		ref := d.ref()
		ref.Subject = []string{file}
		found, err := d.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: ref})
		if err != nil || len(found.Inputs[0].Files) != 1 || found.Inputs[0].Files[0].Name != want {
			t.Errorf("the note about %s is read from %+v, %v", file, found.Inputs, err)
		}
	}
}

// Of a document's notes the run names the one that a person edited.
func TestStage_editedNumberedName(t *testing.T) {
	t.Parallel()
	d := newWorld(t, map[string]string{"Imported/a/M/M.md": "a", "Imported/b/M/M.md": "b"},
		workflow.Step{Prompt: "x", Set: directives.Set{Outputs: []directives.Output{{Target: fileTarget("Out/{trigger-name}")}}, WriteMode: wholly}})
	d.Record = d.Journal
	d.about("Imported/a/M/M.md", "a")
	d.about("Imported/b/M/M.md", "b")
	d.vault.Put("Out/M (2).md", "b, and more\n")
	for _, answer := range []string{"b2", "b3"} {
		name, warning := d.about("Imported/b/M/M.md", answer)
		if name != "Out/M (3).md" || !strings.HasPrefix(warning, "Out/M (2).md was edited after this workflow wrote it") {
			t.Errorf("%s: to %s, %q", answer, name, warning)
		}
	}
}

// The author's replace replaces. Of a note that was edited since, the run says so.
func TestStage_replacesAnEditedNote(t *testing.T) {
	t.Parallel()
	for path, warns := range map[string]bool{"Out/Latest": true, "Out/{trigger-name}": true, "{trigger}": false} {
		d := aboutWorld(t, path, wholly)
		first, warning := d.about("Inbox/b/Meeting.md", "one")
		if _, second := d.about("Inbox/b/Meeting.md", "two"); warning != "" || second != "" {
			t.Errorf("%s: %q, %q", path, warning, second)
		}
		d.vault.Put(first, "two, and mine\n")
		name, warning := d.about("Inbox/b/Meeting.md", "three")
		if name != first || (warning == first+" was edited after this workflow wrote it, and is replaced: vaultflow undo three brings it back") != warns {
			t.Errorf("%s: to %s, %q", path, name, warning)
		}
	}
}
