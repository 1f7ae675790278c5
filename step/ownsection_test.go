package step

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

func sectionStep(note, heading string) workflow.Step {
	return workflow.Step{Prompt: "x", Set: directives.Set{
		Outputs:   []directives.Output{{Target: fileTarget(note)}},
		WriteMode: directives.WriteMode{Mode: directives.ModeSection, Heading: heading},
	}}
}

// A section holds words of two: the workflow replaces its own, run after run, and each line of the other one stays.
func TestStage_sectionKeepsWhatOthersWrote(t *testing.T) {
	t.Parallel()
	d := newWorld(t, map[string]string{"Week.md": "# Week\n\n## Review\n\nMy question: what of May?\n\n## Rest\nr\n"}, sectionStep("Week", "## Review"))
	d.Record = d.Journal
	write := func(run, answer, want string, warns ...string) {
		t.Helper()
		ref := d.ref()
		ref.Run = run
		staged, err := d.writeOut(ref, nil, answer)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(d.files["Week.md"].Data); got != "# Week\n\n## Review\n\n"+want+"\n\n## Rest\nr\n" {
			t.Errorf("%s: %q", run, got)
		}
		if got := strings.Join(staged.Warnings, "\n"); len(staged.Warnings) != len(warns) || len(warns) > 0 && !strings.Contains(got, warns[0]) {
			t.Errorf("%s warns %q, want %q", run, got, warns)
		}
	}
	edit := func(old, text string) {
		t.Helper()
		before := string(d.files["Week.md"].Data)
		if !strings.Contains(before, old) {
			t.Fatalf("%q has no %q", before, old)
		}
		d.vault.Put("Week.md", strings.Replace(before, old, text, 1))
	}
	const mine = `text that this workflow did not write was kept: "My question: what of May?"`
	write("r1", "- one\n- two", "My question: what of May?\n\n- one\n- two", mine)
	write("r2", "- one\n- three", "My question: what of May?\n\n- one\n- three", mine)
	edit("- three\n", "- three (with Anna)\nAnd MORE.\n")
	edit("My question: what of May?\n\n", "")
	write("r3", "- one\n- four", "- one\n- four\n- three (with Anna)\nAnd MORE.", `"- three (with Anna)" and 1 more`)
	edit("- three (with Anna)\nAnd MORE.\n", "")
	write("r4", "Nothing.", "Nothing.")
}

// What an earlier version of the program wrote is known from its changes, what other outputs of the workflow added too.
func TestStage_sectionOfEarlierVersions(t *testing.T) {
	t.Parallel()
	d := newWorld(t, map[string]string{"Week.md": "## Review\n\nmine\n"}, sectionStep("Week", "Review"))
	d.Record = d.Journal
	for i, next := range []string{"## Review\n\nmine\n\nfirst\n", "## Review\n\nmine\n\nsecond\n\n## Log\n\nx\n"} {
		file := engine.StagedFile{Name: "Week.md", Base: d.vault.DigestOf("Week.md"), New: d.put(next), Targets: []string{"output:0"}}
		ref := d.ref()
		ref.Run = []string{"old1", "old2"}[i]
		if _, err := d.steps().Committer.Commit(t.Context(), engine.CommitIn{StepRef: ref, Files: []engine.StagedFile{file}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.writeOut(d.ref(), nil, "third"); err != nil {
		t.Fatal(err)
	}
	if got := string(d.files["Week.md"].Data); got != "## Review\n\nmine\n\nthird\n\n## Log\n\nx\n" {
		t.Errorf("%q", got)
	}
}

// Once the earlier text is no longer kept, nobody knows whose it is: it stays.
func TestStage_sectionPastRetention(t *testing.T) {
	t.Parallel()
	d := newWorld(t, nil, sectionStep("Week", "Review"))
	d.Record = d.Journal
	if _, err := d.writeOut(d.ref(), nil, "first"); err != nil {
		t.Fatal(err)
	}
	d.Journal.Forget(sha([]byte("first")))
	ref := d.ref()
	ref.Run = "r2"
	if _, err := d.writeOut(ref, nil, "second"); err != nil {
		t.Fatal(err)
	}
	if got := string(d.files["Week.md"].Data); got != "## Review\n\nfirst\n\nsecond\n" {
		t.Errorf("%q", got)
	}
}

// Variables are the workflow's alone.
func TestStage_sectionOfAVariable(t *testing.T) {
	t.Parallel()
	if text, err := Joined("## Review\n\nfirst\n", "second", directives.WriteMode{Mode: directives.ModeSection, Heading: "Review"}); err != nil || text != "## Review\n\nsecond\n" {
		t.Errorf("%q, %v", text, err)
	}
}
