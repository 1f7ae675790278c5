package step

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/workflow"
)

// deliver stages and commits an answer as the body of a run does: again when there are conflicts, and from the recorded stage on
// when the process died, at the thing of the first commit that dies counts.
func (d *world) deliver(ref engine.StepRef, answer string, dies int) (engine.CommitOut, error) {
	d.t.Helper()
	var written []engine.StagedFile
	for attempt := 1; attempt < 5; attempt++ {
		staged, err := d.steps().Stager.Stage(d.t.Context(), engine.StageIn{StepRef: ref, Answer: answer, Attempt: attempt, Committed: written})
		if err != nil {
			d.t.Fatal(err)
		}
		if attempt == 1 {
			d.fuse.Dies = d.fuse.Steps + dies
		}
		out, err := d.steps().Committer.Commit(d.t.Context(), engine.CommitIn{StepRef: ref, Files: staged.Files})
		if d.fuse.Dead {
			d.fuse.Dead, d.fuse.Dies = false, 0
			out, err = d.steps().Committer.Commit(d.t.Context(), engine.CommitIn{StepRef: ref, Files: staged.Files})
		}
		written = append(written, out.Written...)
		if err != nil || len(out.Conflicts) == 0 {
			return out, err
		}
	}
	return engine.CommitOut{}, errors.New("conflicts without end")
}

func appending(t *testing.T, mode string) *world {
	t.Helper()
	d := newDesk(t, map[string]string{"Log.md": "# Log\n\nbefore\n"}, "read_file")
	target := fileTarget("Log")
	d.plan.Steps[0] = workflow.Step{Name: "Step 1", Prompt: "work", Set: directives.Set{Outputs: []directives.Output{{Target: target}}, WriteMode: directives.WriteMode{Mode: mode}}}
	return d
}

// Wherever the process dies in a commit, and whether or not somebody edits the file before the restart: the step's text is
// in the file once, so is the edit, and the record has one change that is known to be made.
func TestCommit_killedAndEdited(t *testing.T) {
	t.Parallel()
	edit := func(d *world) func() {
		return func() {
			text := string(d.files["Log.md"].Data)
			d.files["Log.md"] = &fstest.MapFile{Data: []byte(strings.Replace(text, "before", "mine", 1)), ModTime: noon}
		}
	}
	for _, edited := range []bool{false, true} {
		for n := 1; ; n++ {
			d := appending(t, directives.ModeAppend)
			if edited {
				d.fuse.Between = edit(d)
			}
			d.fuse.After = n%2 == 0
			ref := d.ref()
			out, err := d.deliver(ref, d.put("the answer\n\nsecond paragraph"), (n+1)/2)
			name := fmt.Sprintf("killed at %d, after: %v, edited: %v", (n+1)/2, n%2 == 0, edited)
			if err != nil || len(out.Written) != 1 {
				t.Fatalf("%s: %+v, %v", name, out, err)
			}
			text := string(d.files["Log.md"].Data)
			if strings.Count(text, "the answer") != 1 {
				t.Errorf("%s: the file holds\n%s", name, text)
			}
			change, made, err := d.Latest(t.Context(), ref, "output:Log.md")
			if err != nil || !made || change.Kind != engine.ChangeWrite || d.text(change.Before) == "" || d.text(change.After) == "" {
				t.Errorf("%s: recorded %+v, made: %v, %v; want a write with both contents kept", name, change, made, err)
			}
			if d.fuse.Dies > 0 { // it did not die any more
				if n < 12 {
					t.Errorf("a commit has %d things to die at", n/2)
				}
				break
			}
			if edited && strings.Count(text, "mine") != 1 {
				t.Errorf("%s: the edit is lost:\n%s", name, text)
			}
		}
	}
}

func TestCommit_editedAfterTheWriteSaysSo(t *testing.T) {
	t.Parallel()
	d := appending(t, directives.ModeAppend)
	ref := d.ref()
	file := engine.StagedFile{Name: "Log.md", Base: d.vault.DigestOf("Log.md"), New: d.put("# Log\n\nbefore\n\nthe answer\n\nsecond paragraph\n"), Targets: []string{"output:0"}}
	d.put("# Log\n\nbefore\n")
	if err := d.Intend(t.Context(), ref, "output:Log.md", change.Of(file), "", noon); err != nil {
		t.Fatal(err)
	}
	d.files["Log.md"] = &fstest.MapFile{Data: []byte("# Log\n\nbefore, mine\n\nthe answer\n\n2nd paragraph\n"), ModTime: noon}
	out, err := d.steps().Committer.Commit(t.Context(), engine.CommitIn{StepRef: ref, Files: []engine.StagedFile{file}})
	want := "Log.md was edited while vaultflow was not running; it contains the step's text, so the step counts as written"
	if diff := cmp.Diff([]string{want}, out.Warnings); diff != "" || err != nil || len(out.Written) != 1 || len(out.Conflicts) != 0 {
		t.Errorf("got %+v, %v\n%s", out, err, diff)
	}
}

func TestHoldsHalf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, staged, now string
		want              bool
	}{
		{"a\n", "a\nb\n", "a\n", false},
		{"a\n", "a\nb\n", "c\nb\n", true},
		{"a\n", "a\nb\n", " b\t\n", true},
		{"a\n", "a\nb\nc\nd\n", "b\n", false},
		{"a\n", "a\nb\nc\n", "b\n", true},
		{"b\n", "b\nb\n", "b\nmine\n", false}, // the one that was there before
		{"b\n", "b\nb\n", "b\nb\nmine\n", true},
		{"a\nb\n", "a\n", "a\n", false}, // nothing added
		{"", "", "", false},
	} {
		if got := holdsHalf([]byte(c.base), []byte(c.staged), []byte(c.now)); got != c.want {
			t.Errorf("base %q, staged %q, now %q: %v, want %v", c.base, c.staged, c.now, got, c.want)
		}
	}
}

// TestCommit_sameTextOfTwoRuns: two runs that append the same text to the same note have each staged it on the note as it was.
// Both texts are in it in the end, and the second one is told that it was only late.
func TestCommit_sameTextOfTwoRuns(t *testing.T) {
	t.Parallel()
	d := appending(t, directives.ModeAppend)
	d.one = d.steps()
	first, second := d.ref(), d.ref()
	second.Run, second.Workflow = "r-2", "other"
	answer := d.put("the answer")
	staged, err := d.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: second, Answer: answer, Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := d.deliver(first, answer, 100); err != nil || len(out.Written) != 1 {
		t.Fatalf("first: %+v, %v", out, err)
	}
	if out, err := d.steps().Committer.Commit(t.Context(), engine.CommitIn{StepRef: second, Files: staged.Files}); err != nil || len(out.Written) != 0 || !out.Raced {
		t.Errorf("second: %+v, %v; want a race", out, err)
	}
	if out, err := d.deliver(second, answer, 100); err != nil || len(out.Written) != 1 {
		t.Fatalf("second: %+v, %v", out, err)
	}
	if text := string(d.files["Log.md"].Data); strings.Count(text, "the answer") != 2 {
		t.Errorf("the file holds\n%s", text)
	}
	staged, err = d.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: second, Answer: answer, Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	d.files["Log.md"] = &fstest.MapFile{Data: []byte("a person's"), ModTime: noon}
	if out, err := d.steps().Committer.Commit(t.Context(), engine.CommitIn{StepRef: second, Files: staged.Files}); err != nil || len(out.Conflicts) != 1 || out.Raced {
		t.Errorf("edited: %+v, %v; want a conflict with a person", out, err)
	}
}
